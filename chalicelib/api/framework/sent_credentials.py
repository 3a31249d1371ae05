"""The credentials in the headers of a request, and the cookies of an answer.

Apart from `authentication`, because every request needs this, and a cold start should not load services for it.
"""

from collections.abc import Mapping

from chalicelib.api.framework.http import HttpRequest, forwarded_scheme
from chalicelib.kit.hosts import is_loopback

COOKIE = "headgate_session"
SIGN_ON_COOKIE = "headgate_sign_on"
"""The ticket of a sign-in that began here, until the browser is back from the provider."""
_HOST_ONLY = "__Host-"


def bearer_token(headers: Mapping[str, str]) -> str | None:
    """The token of an `Authorization: Bearer` header; None without one."""
    scheme, _, token = headers.get("authorization", "").strip().partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def sent_cookie(headers: Mapping[str, str], cookie: str = COOKIE) -> str | None:
    """The cookie's value, by default that of the session; None when there is none."""
    # The parser of the standard library stops at the first malformed cookie: with it a cookie of another application
    # on the same host could sign our users out.
    cookies: dict[str, str] = {}
    for pair in headers.get("cookie", "").split(";"):
        # Only space and tab are stripped: with other white space a name could appear to begin with `__Host-`.
        name, _, value = pair.strip(" \t").partition("=")
        # Of two with one name the first counts: it has the longer path or is older (RFC 6265, section 5.4).
        cookies.setdefault(name, value)
    # Elsewhere than on plain-http loopback another host of the same domain could have set the plain name.
    return cookies.get(_HOST_ONLY + cookie, cookies.get(cookie) if on_plain_loopback(headers) else None)


def set_cookie(request: HttpRequest, cookie: str, value: str, seconds: int) -> str:
    """The `Set-Cookie` of a cookie that no script reads and no other site's form sends."""
    plain = on_plain_loopback(request.headers)
    name, secure = (cookie, "") if plain else (_HOST_ONLY + cookie, "; Secure")
    return f"{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}"


def on_plain_loopback(headers: Mapping[str, str]) -> bool:
    """Whether the client asked for this machine itself, by plain http."""
    host = headers.get("host", "").lower()
    name = host if host.endswith("]") else host.rpartition(":")[0] or host
    return is_loopback(name) and forwarded_scheme(headers) in ("", "http")
