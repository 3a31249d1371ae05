"""Authentication: session cookies, the CSRF rule, API tokens, the service credential (wire contract, section 2)."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

from chalicelib.api.framework.http import HttpRequest, forwarded_scheme
from chalicelib.api.framework.sent_credentials import COOKIE, bearer_token, on_plain_loopback, sent_cookie, set_cookie
from chalicelib.domain.access import SIGN_IN, Actor
from chalicelib.errors import NotPermitted, Unauthenticated
from chalicelib.kit.clock import utc_now
from chalicelib.kit.masking import Secret
from chalicelib.secrets.tokens import has_hash, token_hash
from chalicelib.services.accounts.api_tokens import ApiTokenService
from chalicelib.services.accounts.sessions import SessionService, UserSession, actor_of

BACKGROUND = "X-Headgate-Background"
"""The header of a request that a page makes by itself, with the value 1: it does not keep the session alive."""
_SAFE = ("GET", "HEAD", "OPTIONS")


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionAuthenticator:
    """Identifies people by their session cookie, programs by their token, Kafka Connect by the service credential."""

    sessions: Callable[[], SessionService]
    api_tokens: Callable[[], ApiTokenService]
    service_credential_hash: Mapping[str, str | None]

    def authenticate(self, headers: Mapping[str, str], method: str) -> Actor:
        """The signed-in user, or the owner of a token. Raises Unauthenticated, NotPermitted CSRF_REJECTED."""
        # Browsers send no bearer token by themselves: the CSRF rule is for cookies, which do not count beside a token.
        if (token := bearer_token(headers)) is not None:
            return self.api_tokens().authenticate(token)
        signed_in = self.sessions().signed_in(cookie_of(headers), counts_as_use=headers.get(BACKGROUND.lower()) != "1")
        actor = actor_of(signed_in.user, signed_in.session)
        if signed_in.lacks_second_factor:
            actor = replace(actor, lacks_second_factor=True)
        if method not in _SAFE:
            _refuse_cross_site(headers, actor)
        return actor

    def authenticate_service(self, headers: Mapping[str, str]) -> str | None:
        """The Connect cluster that the service credential belongs to; None for one of all clusters.

        Raises NotPermitted for everything else, sessions included.
        """
        for known, cluster_id in self.service_credential_hash.items():
            if _has_token(headers, [known]):
                return cluster_id
        raise NotPermitted("This address is for Kafka Connect's secret provider and needs the service credential.")


def require_token(headers: Mapping[str, str], token: Secret | None) -> None:
    """Returns when the request carries this bearer token, or none is set. Raises Unauthenticated."""
    if token is None or _has_token(headers, [token_hash(token.reveal().strip())]):
        return
    raise Unauthenticated("This address needs the token that the installation was given for it.")


def _has_token(headers: Mapping[str, str], hashes: Collection[str]) -> bool:
    # Nothing is no token, whatever the hashes are.
    token = bearer_token(headers)
    return bool(token) and has_hash(token or "", hashes)


def cookie_of(headers: Mapping[str, str]) -> str:
    """The value of `sent_cookie`. Raises Unauthenticated when there is none."""
    if (cookie := sent_cookie(headers)) is None:
        raise Unauthenticated(SIGN_IN)
    return cookie


def session_cookie(request: HttpRequest, session: UserSession) -> str:
    seconds = int((session.session.ends_at - utc_now()).total_seconds())
    return set_cookie(request, COOKIE, session.token.reveal() if session.token else "", seconds)


def clearing_cookie(request: HttpRequest) -> str:
    return set_cookie(request, COOKIE, "", 0)


def _refuse_cross_site(headers: Mapping[str, str], actor: Actor) -> None:
    """A request that changes something must have a correlation id and our own origin. Raises NotPermitted."""
    # No form of another site can send this header, and a script only after asking us, which we never allow.
    if "x-correlation-id" not in headers:
        raise _rejected("Send the header X-Correlation-ID with every request that changes something.", actor)
    site, origin = headers.get("sec-fetch-site", "same-origin"), headers.get("origin")
    if site not in ("same-origin", "none") or (origin is not None and origin.lower() not in _own_origins(headers)):
        raise _rejected("The request comes from another site.", actor)


def _own_origins(headers: Mapping[str, str]) -> Collection[str]:
    """The origins of our own pages. Behind a proxy that does not report the scheme, both schemes."""
    forwarded, host = forwarded_scheme(headers), headers.get("host", "").lower()
    schemes = (forwarded,) if forwarded else ("http",) if on_plain_loopback(headers) else ("http", "https")
    return [f"{scheme}://{host}" for scheme in schemes]


def _rejected(message: str, actor: Actor) -> NotPermitted:
    return NotPermitted(message, code="CSRF_REJECTED", actor=actor)
