"""Access tokens by OAuth client credentials (RFC 6749, 4.4), from an address that users enter."""

import ssl
from collections.abc import Callable
from contextlib import closing
from urllib.parse import quote_plus, urlencode

from chalicelib.clients.http.addresses import HostCheck
from chalicelib.clients.http.guarded import GuardedHttp, HttpAnswer, NoAnswer, basic_authorization
from chalicelib.errors import Unavailable
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret

MAX_ANSWER_BYTES = 64 * 1024
FORM_TYPE = "application/x-www-form-urlencoded"


def fetch_token(
    url: str,
    client_id: str,
    client_secret: Secret,
    scope: str | None,
    *,
    check_host: HostCheck,
    tls: Callable[[], ssl.SSLContext],
    deadline: Deadline,
) -> Secret:
    """A new token of the token endpoint at `url`.

    Raises:
        Invalid: `URL_NOT_ALLOWED`, the host leads to an address that is not allowed.
        Unavailable: the endpoint gave none. Its text is not repeated.
    """
    headers = {
        "Authorization": client_authorization(client_id, client_secret),
        "Accept": "application/json",
        "Content-Type": FORM_TYPE,
    }
    form = {"grant_type": "client_credentials"} | ({"scope": scope} if scope else {})
    content = urlencode(form).encode()
    with closing(GuardedHttp(url, check_host=check_host, tls=tls)) as http:
        try:
            answer = http.send("POST", headers=headers, content=content, deadline=deadline, max_bytes=MAX_ANSWER_BYTES)
        except NoAnswer:
            raise Unavailable("The token endpoint did not answer in time.") from None
    if answer.status != 200:
        raise Unavailable(
            f"The token endpoint answered {answer.status}. Check its address, client id, client secret and scope."
        )
    return _token(answer)


def client_authorization(client_id: str, secret: Secret) -> str:
    """The header `Authorization` of a client at its token endpoint, encoded as RFC 6749, 2.3.1, asks."""
    return basic_authorization(quote_plus(client_id), quote_plus(secret.reveal()))


def is_token(text: object) -> bool:
    """Whether the text has only characters of tokens (RFC 6750, 2.1): others could add headers to a request."""
    return isinstance(text, str) and bool(text) and text.isascii() and text.isprintable() and " " not in text


def _token(answer: HttpAnswer) -> Secret:
    token = answer.json_object.get("access_token")
    if not is_token(token):
        raise Unavailable("What answered at the token endpoint is no OAuth token endpoint. Check its address.")
    return Secret(str(token))
