"""Routes of signing in and out, and of the secret provider in Kafka Connect."""

from chalicelib.api.authentication import clearing_cookie, cookie_of, sent_cookie, session_cookie
from chalicelib.api.contract.access import LoginBody, LoginOutput, SecretsOutput, SessionOutput
from chalicelib.api.http import HttpRequest, JsonResponse
from chalicelib.api.router import Router
from chalicelib.domain.access import Permission, RequestContext
from chalicelib.kit.masking import Secret
from chalicelib.wiring import services

routes = Router(tag="Access")
internal_routes = Router(tag="Internal")


@routes.post("/auth/login", needs=Permission.PUBLIC)
def login(context: RequestContext, request: HttpRequest, body: LoginBody) -> JsonResponse[LoginOutput]:
    """Sign in. The session's token is in the cookie. The session of a cookie that the request carries ends."""
    password = Secret(body.password.get_secret_value())
    signed_in = services().sessions.login(context, body.email, password, replaces=sent_cookie(request.headers))
    cookie = session_cookie(request, signed_in)
    return JsonResponse(body=LoginOutput.of(signed_in), status=200, cookies=(cookie,))


@routes.post("/auth/logout", needs=Permission.SIGNED_IN)
def logout(context: RequestContext, request: HttpRequest) -> JsonResponse[None]:
    """End the session."""
    services().sessions.logout(context, cookie_of(request.headers))
    return JsonResponse(body=None, status=204, cookies=(clearing_cookie(request),))


@routes.get("/auth/session", needs=Permission.SIGNED_IN)
def get_auth_session(request: HttpRequest) -> SessionOutput:
    """Show the current session."""
    return SessionOutput.of(services().sessions.signed_in(cookie_of(request.headers)))


@routes.get("/session", needs=Permission.SIGNED_IN)
def get_session(request: HttpRequest) -> SessionOutput:
    """Show the current session."""
    return SessionOutput.of(services().sessions.signed_in(cookie_of(request.headers)))


@internal_routes.get("/internal/secrets/{uuid}", needs=Permission.SERVICE, hidden=True)
def read_secrets(context: RequestContext, uuid: str) -> SecretsOutput:
    """The secrets behind a reference, for Connect's secret provider. Each read is audited."""
    secrets = services().secret_provider.read(context, uuid)
    return SecretsOutput(data={name: secret.reveal() for name, secret in secrets.items()})
