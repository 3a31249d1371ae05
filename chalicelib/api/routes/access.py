"""Routes of signing in and out, of tokens for programs, and of the secret provider in Kafka Connect."""

from collections.abc import Sequence

from chalicelib.api.contract.access import (
    ApiTokenBody,
    ApiTokenOutput,
    LoginBody,
    LoginOutput,
    MadeTokenOutput,
    PasswordBody,
    SecretsOutput,
    SessionOutput,
)
from chalicelib.api.contract.lists import ListQuery
from chalicelib.api.framework.authentication import clearing_cookie, session_cookie
from chalicelib.api.framework.http import HttpRequest, JsonResponse
from chalicelib.api.framework.route import UuidPath
from chalicelib.api.framework.router import Router
from chalicelib.api.framework.sent_credentials import SIGN_ON_COOKIE, sent_cookie, set_cookie
from chalicelib.domain.access import Permission, RequestContext
from chalicelib.domain.accounts.sign_on import TICKET_LIFETIME
from chalicelib.errors import NotFound
from chalicelib.kit.masking import Secret
from chalicelib.kit.pages import Page
from chalicelib.services.accounts.single_sign_on import SignOnCallback, SingleSignOn
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
    services().sessions.logout(context)
    return JsonResponse(body=None, status=204, cookies=(clearing_cookie(request),))


# Hidden, because most installations have nothing at these two addresses, which are for browsers only.
@routes.get("/auth/oidc/login", needs=Permission.PUBLIC, hidden=True)
def start_single_sign_on(context: RequestContext, request: HttpRequest) -> JsonResponse[None]:
    """Sign in at the identity provider: leads a browser there. Not found unless single sign-on is configured."""
    started = _single_sign_on().start(context)
    cookie = set_cookie(request, SIGN_ON_COOKIE, started.ticket, int(TICKET_LIFETIME.total_seconds()))
    # own-rule redirect: to the endpoint of the provider that the settings name
    return JsonResponse(body=None, status=302, headers={"Location": started.url}, cookies=(cookie,))


@routes.get("/auth/oidc/callback", needs=Permission.PUBLIC, any_query=True, hidden=True)
def finish_single_sign_on(context: RequestContext, request: HttpRequest) -> JsonResponse[None]:
    """Where the identity provider leads a browser back, with `state` and `code`. Leads on to the documentation.

    Begins a session like a login does: the session of a cookie that the request carries ends. A refusal says why in
    `details.reason`. Not found unless single sign-on is configured.
    """
    service = _single_sign_on()
    state, code, issuer, error = (_single(request.query.get(name, ())) for name in ("state", "code", "iss", "error"))
    callback = SignOnCallback(state=state, code=code, issuer=issuer, error=error)
    ticket, replaces = sent_cookie(request.headers, SIGN_ON_COOKIE), sent_cookie(request.headers)
    signed_in = service.finish(context, callback, ticket, replaces=replaces)
    cookies = (session_cookie(request, signed_in), set_cookie(request, SIGN_ON_COOKIE, "", 0))
    # own-rule redirect: to a page of our own, always the same
    return JsonResponse(body=None, status=302, headers={"Location": service.after_url}, cookies=cookies)


def _single_sign_on() -> SingleSignOn:
    """Raises NotFound, as for an unknown path, when it is not configured."""
    if (single_sign_on := services().single_sign_on) is None:
        raise NotFound("There is nothing at this address.")
    return single_sign_on


def _single(values: Sequence[str]) -> str | None:
    # A field that was sent twice is empty: nobody knows which of them the provider meant.
    return None if not values else values[0] if len(values) == 1 else ""


@routes.post("/auth/password", needs=Permission.SIGNED_IN, shows_secret=True)
def change_password(context: RequestContext, request: HttpRequest, body: PasswordBody) -> JsonResponse[LoginOutput]:
    """Change your password. All of your sessions end, and the cookie of a new one is in the answer.

    With `end_tokens` all of your tokens for programs end too.
    """
    current, new = Secret(body.current_password.get_secret_value()), Secret(body.new_password.get_secret_value())
    signed_in = services().sessions.change_password(context, current, new, end_tokens=body.end_tokens)
    cookie = session_cookie(request, signed_in)
    return JsonResponse(body=LoginOutput.of(signed_in), status=200, cookies=(cookie,))


@routes.get("/auth/session", needs=Permission.SIGNED_IN)
def get_auth_session(context: RequestContext) -> SessionOutput:
    """Show the current session, or token."""
    return SessionOutput.of(context.actor)


@routes.get("/session", needs=Permission.SIGNED_IN)
def get_session(context: RequestContext) -> SessionOutput:
    """Show the current session, or token."""
    return SessionOutput.of(context.actor)


@routes.post("/auth/tokens", needs=Permission.SIGNED_IN, status=201, shows_secret=True)
def create_api_token(context: RequestContext, body: ApiTokenBody) -> MadeTokenOutput:
    """Make a token for a program, which sends it as `Authorization: Bearer`. It acts as you, with this role at most.

    It never manages users, makes other tokens or ends those of others.
    """
    made = services().api_tokens.create(context, body.name, body.role, body.expires_at, body.permissions)
    return MadeTokenOutput.of(made)


@routes.get("/auth/tokens", needs=Permission.SIGNED_IN)
def list_api_tokens(context: RequestContext, query: ListQuery) -> Page[ApiTokenOutput]:
    """List your tokens, newest first; for Admins those of all users."""
    page = services().api_tokens.list(context, limit=query.limit, after=query.after)
    return page.map(ApiTokenOutput.of)


@routes.get("/auth/tokens/{uuid}", needs=Permission.SIGNED_IN)
def get_api_token(context: RequestContext, uuid: UuidPath) -> ApiTokenOutput:
    """Show a token of yours; Admins see all."""
    return ApiTokenOutput.of(services().api_tokens.get(context, uuid))


@routes.delete("/auth/tokens/{uuid}", needs=Permission.SIGNED_IN, status=204)
def delete_api_token(context: RequestContext, uuid: UuidPath) -> None:
    """End a token at once; Admins can end everybody's."""
    services().api_tokens.delete(context, uuid)


@internal_routes.get("/internal/secrets/{uuid}", needs=Permission.SERVICE, hidden=True)
def read_secrets(context: RequestContext, uuid: str) -> SecretsOutput:
    """The secrets behind a reference, for Connect's secret provider. Each read is audited."""
    secrets = services().secret_provider.read(context, uuid)
    return SecretsOutput(data={name: secret.reveal() for name, secret in secrets.items()})
