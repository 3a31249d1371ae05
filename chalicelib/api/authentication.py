"""Authentication: session cookies, the CSRF rule, API tokens, the service credential (wire contract, section 2)."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from chalicelib.api.http import HttpRequest
from chalicelib.domain.access import Actor
from chalicelib.errors import NotPermitted, Unauthenticated
from chalicelib.kit.clock import utc_now
from chalicelib.kit.masking import Secret
from chalicelib.secrets.tokens import has_hash, token_hash
from chalicelib.services.accounts.api_tokens import ApiTokenService
from chalicelib.services.accounts.sessions import SessionService, SignedIn, actor_of

COOKIE = "headgate_session"
SIGN_ON_COOKIE = "headgate_sign_on"
"""The ticket of a sign-in that began here, until the browser is back from the provider."""
_HOST_ONLY = "__Host-"
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_SAFE = ("GET", "HEAD", "OPTIONS")


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionAuthenticator:
    """Identifies people by their session cookie, programs by their token, Kafka Connect by the service credential."""

    sessions: Callable[[], SessionService]
    api_tokens: Callable[[], ApiTokenService]
    service_credential_hash: Collection[str]

    def authenticate(self, headers: Mapping[str, str], source_address: str, method: str) -> Actor:
        """The signed-in user, or the owner of a token. Raises Unauthenticated, NotPermitted CSRF_REJECTED.

        A request with a bearer token is the token's alone: its cookies do not count, and browsers send no such token by
        themselves, so the CSRF rule is for cookies.
        """
        if (token := bearer_token(headers)) is not None:
            return self.api_tokens().authenticate(token)
        signed_in = self.sessions().signed_in(cookie_of(headers))
        actor = actor_of(signed_in.user, signed_in.session)
        if method not in _SAFE:
            _refuse_cross_site(headers, actor)
        return actor

    def authenticate_service(self, headers: Mapping[str, str]) -> None:
        """Returns for the service credential. Raises NotPermitted for everything else, sessions included."""
        if not has_hash(bearer_token(headers) or "", self.service_credential_hash):
            raise NotPermitted("This address is for Kafka Connect's secret provider and needs the service credential.")


def require_token(headers: Mapping[str, str], token: Secret | None) -> None:
    """Returns when the request carries this bearer token, or none is set. Raises Unauthenticated."""
    if token is None or has_hash(bearer_token(headers) or "", [token_hash(token.reveal().strip())]):
        return
    raise Unauthenticated("This address needs the token that the installation was given for it.")


def bearer_token(headers: Mapping[str, str]) -> str | None:
    """The token of an `Authorization: Bearer` header; None without one."""
    scheme, _, token = headers.get("authorization", "").strip().partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def cookie_of(headers: Mapping[str, str]) -> str:
    """The value of `sent_cookie`. Raises Unauthenticated when there is none."""
    found = sent_cookie(headers)
    if found is None:
        raise Unauthenticated("Sign in first: POST /api/v1/auth/login.")
    return found


def sent_cookie(headers: Mapping[str, str], cookie: str = COOKIE) -> str | None:
    """The cookie's value, by default that of the session; None when there is none.

    The plain name counts on plain-http loopback only: elsewhere another host of the same domain could have set it.

    Not by the parser of the standard library: it stops at the first malformed cookie, so a cookie of another
    application on the same host could sign our users out. When a name is sent twice the first one counts, which has the
    longer path or is older (RFC 6265, section 5.4). Only space and tab are stripped: with other white space a name
    could appear to begin with `__Host-`.
    """
    cookies: dict[str, str] = {}
    for pair in headers.get("cookie", "").split(";"):
        name, _, value = pair.strip(" \t").partition("=")
        cookies.setdefault(name, value)
    return cookies.get(_HOST_ONLY + cookie, cookies.get(cookie) if _on_plain_loopback(headers) else None)


def session_cookie(request: HttpRequest, session: SignedIn) -> str:
    """The `Set-Cookie` of a new session."""
    seconds = int((session.session.ends_at - utc_now()).total_seconds())
    return set_cookie(request, COOKIE, session.token.reveal() if session.token else "", seconds)


def clearing_cookie(request: HttpRequest) -> str:
    """The `Set-Cookie` that makes a browser forget its session."""
    return set_cookie(request, COOKIE, "", 0)


def set_cookie(request: HttpRequest, cookie: str, value: str, seconds: int) -> str:
    """The `Set-Cookie` of a cookie that no script reads and no other site's form sends."""
    plain = _on_plain_loopback(request.headers)
    name, secure = (cookie, "") if plain else (_HOST_ONLY + cookie, "; Secure")
    return f"{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}"


def _on_plain_loopback(headers: Mapping[str, str]) -> bool:
    host = headers.get("host", "").lower()
    name = host if host.endswith("]") else host.rpartition(":")[0] or host
    return name in _LOOPBACK and headers.get("x-forwarded-proto", "http").lower() == "http"


def _refuse_cross_site(headers: Mapping[str, str], actor: Actor) -> None:
    """A request that changes something must have a correlation id, which no form can send, and our own origin."""
    if "x-correlation-id" not in headers:
        raise _rejected("Send the header X-Correlation-ID with every request that changes something.", actor)
    site, origin = headers.get("sec-fetch-site", "same-origin"), headers.get("origin")
    if site not in ("same-origin", "none") or (origin is not None and origin.lower() not in _own_origins(headers)):
        raise _rejected("The request comes from another site.", actor)


def _own_origins(headers: Mapping[str, str]) -> Collection[str]:
    """The origins of our own pages. Behind a proxy that does not report the scheme, both schemes."""
    forwarded, host = headers.get("x-forwarded-proto"), headers.get("host", "").lower()
    schemes = (forwarded.lower(),) if forwarded else ("http",) if _on_plain_loopback(headers) else ("http", "https")
    return [f"{scheme}://{host}" for scheme in schemes]


def _rejected(message: str, actor: Actor) -> NotPermitted:
    return NotPermitted(message, code="CSRF_REJECTED", actor=actor)
