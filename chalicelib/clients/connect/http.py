"""HTTP with Connect workers: the rule for their URL, Basic authentication, and JSON answers with an `error_code`."""

import json
import ssl
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from chalicelib.clients.addresses import HostCheck
from chalicelib.clients.connect.members import members
from chalicelib.clients.guarded_http import MEBIBYTE, READ_SECONDS, GuardedHttp, HttpAnswer, NotConnected
from chalicelib.domain.cluster import ConnectAddress
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.errors import Invalid, Unavailable
from chalicelib.kit.clock import Deadline


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer. `body` is parsed JSON, or None for an empty body and for what is not JSON.

    A long list is not parsed: it is in `members`.
    """

    status: int
    body: object
    is_json: bool
    members: Iterator[tuple[str, object]] | None = None

    @property
    def succeeded(self) -> bool:
        return 200 <= self.status < 300

    @property
    def refusal(self) -> int | None:
        """The status when Connect itself refuses: its JSON has an `error_code`, the page of a web server has not."""
        code = self.body.get("error_code") if isinstance(self.body, dict) else None
        return self.status if isinstance(code, int) and self.status >= 400 else None

    @property
    def message(self) -> str:
        """Connect's own text. It may hold secrets: for the classifiers only."""
        text = self.body.get("message") if isinstance(self.body, dict) else None
        return text if isinstance(text, str) else ""


class ConnectHttp:
    """Sends requests to the REST API of one Connect cluster."""

    def __init__(
        self, endpoint: OpenedEndpoint[ConnectAddress], *, check_host: HostCheck, tls: Callable[[], ssl.SSLContext]
    ) -> None:
        self._http = GuardedHttp(checked_base_url(endpoint.address.base_url), check_host=check_host, tls=tls)
        self._username, self._password = endpoint.address.username, endpoint.password

    def close(self) -> None:
        self._http.close()

    def send(
        self,
        method: str,
        path: str,
        *,
        deadline: Deadline,
        body: Mapping[str, Any] | None = None,
        seconds: float = READ_SECONDS,
        max_bytes: int = MEBIBYTE,
    ) -> Answer:
        """Exchange one request for one answer. Raises what `GuardedHttp.send` raises.

        With a larger `max_bytes` than a mebibyte the answer is taken for a long list.
        """
        try:
            answer = self._http.send(
                method,
                path,
                deadline=deadline,
                headers=self._headers(),
                json=body,
                seconds=seconds,
                max_bytes=max_bytes,
            )
        except NotConnected:
            raise Unavailable(
                "Kafka Connect cannot be reached. Check its address and whether its workers run."
            ) from None
        return _parsed(answer, is_list=max_bytes > MEBIBYTE)

    def _headers(self) -> dict[str, str]:
        headers = {"Accept": "application/json"}
        if self._username and self._password:
            pair = f"{self._username}:{self._password.reveal()}"
            headers["Authorization"] = "Basic " + b64encode(pair.encode()).decode()
        return headers


def checked_base_url(base_url: str) -> str:
    """The URL without a trailing slash.

    Raises:
        Invalid: `URL_NOT_ALLOWED`, unless it is plain `http(s)://host[:port][/path]`.
    """
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    unusual = not base_url.isascii() or not base_url.isprintable() or any(ch in base_url for ch in " ?#@\\")
    if not usable or unusual or len(base_url) > 2048:
        message = (
            "A Connect URL is http or https, a host, a port and perhaps a path, without credentials, query or fragment."
        )
        raise Invalid(message, code="URL_NOT_ALLOWED")
    return base_url.rstrip("/")


def _parsed(answer: HttpAnswer, *, is_list: bool) -> Answer:
    if answer.content is not None and is_list and answer.status == 200:
        return Answer(answer.status, None, is_json=True, members=members(answer.content))
    if answer.content is None or len(answer.content) > MEBIBYTE:
        return Answer(answer.status, None, is_json=False)
    if not answer.content:
        return Answer(answer.status, None, is_json=True)
    try:
        return Answer(answer.status, json.loads(answer.content), is_json=True)
    except (ValueError, RecursionError):
        return Answer(answer.status, None, is_json=False)
