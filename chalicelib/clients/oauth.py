"""Access tokens by OAuth's client credentials (RFC 6749, 4.4), from an address that users typed."""

import json
import ssl
from base64 import b64encode
from collections.abc import Callable
from urllib.parse import quote_plus, urlencode

from chalicelib.clients.addresses import HostCheck
from chalicelib.clients.guarded_http import GuardedHttp, NoAnswer
from chalicelib.errors import Unavailable
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret

MAX_ANSWER_BYTES = 64 * 1024
_FORM = "application/x-www-form-urlencoded"


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
    pair = f"{quote_plus(client_id)}:{quote_plus(client_secret.reveal())}"
    headers = {
        "Authorization": "Basic " + b64encode(pair.encode()).decode(),
        "Accept": "application/json",
        "Content-Type": _FORM,
    }
    form = {"grant_type": "client_credentials"} | ({"scope": scope} if scope else {})
    http = GuardedHttp(url, check_host=check_host, tls=tls)
    try:
        answer = http.send(
            "POST", headers=headers, content=urlencode(form).encode(), deadline=deadline, max_bytes=MAX_ANSWER_BYTES
        )
    except NoAnswer:
        raise Unavailable("The token endpoint did not answer in time.") from None
    finally:
        http.close()
    if answer.status != 200:
        raise Unavailable(
            f"The token endpoint answered {answer.status}. Check its address, client id, client secret and scope."
        )
    return _token(answer.content or b"")


def _token(content: bytes) -> Secret:
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError):
        answer = None
    token = answer.get("access_token") if isinstance(answer, dict) else None
    # RFC 6750, 2.1 lists the characters; anything else could add fields to the message that carries the token.
    if not isinstance(token, str) or not token or not token.isascii() or not token.isprintable() or " " in token:
        raise Unavailable("What answered at the token endpoint is no OAuth token endpoint. Check its address.")
    return Secret(token)
