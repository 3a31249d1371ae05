"""Routes of signing in and out, of tokens for programs, and of the secret provider in Kafka Connect."""

from collections.abc import Sequence

from pydantic import SecretStr

from chalicelib.api.contract.access import (
    ApiTokenBody,
    ApiTokenOutput,
    CodeBody,
    LoginBody,
    LoginOutput,
    MadeTokenOutput,
    NewSecondFactorOutput,
    OwnSessionOutput,
    PasswordBody,
    RecoveryCodesOutput,
    RemoveSecondFactorBody,
    SecretsOutput,
    SessionOutput,
)
from chalicelib.api.contract.lists import ListQuery
from chalicelib.api.framework.authentication import clearing_cookie, session_cookie
from chalicelib.api.framework.http import HttpRequest, JsonResponse
from chalicelib.api.framework.route import UuidPath
from chalicelib.api.framework.router import Router
from chalicelib.api.framework.sent_credentials import SIGN_ON_COOKIE, sent_cookie, set_cookie
from chalicelib.api.framework.unknown_paths import nothing_here
from chalicelib.domain.access import Permission, RequestContext
from chalicelib.domain.accounts.sign_on import TICKET_LIFETIME
from chalicelib.kit.masking import Secret
from chalicelib.kit.pages import Page
from chalicelib.services.accounts.single_sign_on import SignOnCallback, SingleSignOn
from chalicelib.wiring import services

routes = Router(tag="Sign-in")
internal_routes = Router(tag="Internal")


@routes.post("/auth/login", needs=Permission.PUBLIC)
def login(context: RequestContext, request: HttpRequest, body: LoginBody) -> JsonResponse[LoginOutput]:
    """Sign in. The session's token is in the cookie. The session of a cookie that the request carries ends.

    Who has a second factor and sends no right `code` gets 401 `SECOND_FACTOR_REQUIRED`, after the right password only.
    """
    password, code = Secret(body.password.get_secret_value()), _code(body.code)
    signed_in = services().sessions.login(context, body.email, password, code, replaces=sent_cookie(request.headers))
    cookie = session_cookie(request, signed_in)
    return JsonResponse(body=LoginOutput.of(signed_in), status=200, cookies=(cookie,))


def _code(code: SecretStr | None) -> Secret | None:
    return Secret(code.get_secret_value()) if code else None


@routes.post("/auth/logout", needs=Permission.SIGNED_IN, before_second_factor=True)
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
    """Where the identity provider leads a browser back, with `state` and `code`. Leads on to the console.

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
        raise nothing_here()
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


@routes.get("/auth/session", needs=Permission.SIGNED_IN, before_second_factor=True)
def get_auth_session(context: RequestContext) -> SessionOutput:
    """Show the current session, or token."""
    return SessionOutput.of(context.actor)


@routes.get("/session", needs=Permission.SIGNED_IN, before_second_factor=True)
def get_session(context: RequestContext) -> SessionOutput:
    """Show the current session, or token."""
    return SessionOutput.of(context.actor)


@routes.get("/auth/sessions", needs=Permission.SIGNED_IN)
def list_own_sessions(context: RequestContext, query: ListQuery) -> Page[OwnSessionOutput]:
    """List where you are signed in, newest first. A token shows the sessions of its owner, and none is the current."""
    page = services().own_sessions.list(context, limit=query.limit, after=query.after)
    return page.map(lambda session: OwnSessionOutput.seen_by(context.actor, session))


@routes.delete("/auth/sessions/{uuid}", needs=Permission.SIGNED_IN, status=204, has_dry_run=True)
def end_own_session(context: RequestContext, uuid: UuidPath) -> None:
    """End a session of yours at once, also the current one. A token ends none."""
    services().own_sessions.end(context, uuid)


@routes.post("/auth/sessions/end-others", needs=Permission.SIGNED_IN)
def end_other_sessions(context: RequestContext) -> None:
    """End all of your sessions but the current one. A token ends none."""
    services().own_sessions.end_others(context)


@routes.post("/auth/totp", needs=Permission.SIGNED_IN, shows_secret=True, before_second_factor=True)
def start_second_factor(context: RequestContext) -> NewSecondFactorOutput:
    """Begin to set up an authenticator app (TOTP) as your second factor. It counts once it is confirmed."""
    return NewSecondFactorOutput.of(services().second_factor.start(context))


@routes.post("/auth/totp/confirm", needs=Permission.SIGNED_IN, shows_secret=True, before_second_factor=True)
def confirm_second_factor(context: RequestContext, body: CodeBody) -> RecoveryCodesOutput:
    """Confirm the authenticator app with its first code. Your other sessions end, and each login needs a code."""
    codes = services().second_factor.confirm(context, Secret(body.code.get_secret_value()))
    return RecoveryCodesOutput(recovery_codes=[code.reveal() for code in codes])


@routes.delete("/auth/totp", needs=Permission.SIGNED_IN, status=204, before_second_factor=True)
def remove_second_factor(context: RequestContext, body: RemoveSecondFactorBody) -> None:
    """Remove your second factor. Your other sessions end."""
    password, code = Secret(body.password.get_secret_value()), Secret(body.code.get_secret_value())
    services().second_factor.remove(context, password, code)


@routes.post("/auth/tokens", needs=Permission.SIGNED_IN, status=201, shows_secret=True, has_dry_run=True)
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


@routes.delete("/auth/tokens/{uuid}", needs=Permission.SIGNED_IN, status=204, has_dry_run=True)
def delete_api_token(context: RequestContext, uuid: UuidPath) -> None:
    """End a token at once; Admins can end everybody's."""
    services().api_tokens.delete(context, uuid)


@internal_routes.get("/internal/secrets/{uuid}", needs=Permission.SERVICE, hidden=True)
def read_secrets(context: RequestContext, uuid: str) -> SecretsOutput:
    """The secrets behind a reference, for Connect's secret provider. Each read is audited."""
    secrets = services().secret_provider.read(context, uuid)
    return SecretsOutput(data={name: secret.reveal() for name, secret in secrets.items()})
