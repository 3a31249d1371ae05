"""One bounded HTTP exchange with a Connect worker: in time, in size, to checked addresses only, without redirects.

It tells apart what callers must tell apart: nothing was sent (`Unavailable`), it was sent and no whole answer came
(`NoAnswer`), and an answer (`Answer`). What an answer means is decided in `connect`.
"""

import json
import ssl
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from chalicelib.errors import Invalid, Unavailable
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret

if TYPE_CHECKING:
    import httpcore
    import httpx

HostCheck = Callable[[str], Sequence[str]]
"""Gives the allowed addresses of a host, or raises `Invalid`. An `AddressPolicy` is one."""

CONNECT_SECONDS = 2.0
READ_SECONDS = 8.0
MEBIBYTE = 1024 * 1024
_NOTHING_LEFT = 0.001
_budget: ContextVar[Deadline] = ContextVar("connect_http_budget")
"""Until when this thread's exchange may last. A worker that drips single bytes never exceeds httpx's own limits."""


class NoAnswer(Exception):
    """The request may have arrived; no whole answer to it did. `late` says that time ran out."""

    def __init__(self, *, late: bool) -> None:
        super().__init__()
        self.late = late


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer. `body` is parsed JSON, or None for an empty body and for what is not JSON."""

    status: int
    body: object
    is_json: bool

    @property
    def succeeded(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status < 300

    @property
    def refusal(self) -> int | None:
        """The status when Connect itself refuses: its JSON has an `error_code`, a web server's page has not."""
        code = self.body.get("error_code") if isinstance(self.body, dict) else None
        return self.status if isinstance(code, int) and self.status >= 400 else None

    @property
    def message(self) -> str:
        """Connect's own words. They are foreign and may hold secrets: for the classifiers only."""
        said = self.body.get("message") if isinstance(self.body, dict) else None
        return said if isinstance(said, str) else ""


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
    odd = not base_url.isascii() or not base_url.isprintable() or any(ch in base_url for ch in " ?#@\\")
    if not usable or odd or len(base_url) > 2048:
        message = (
            "A Connect URL is http or https, a host, a port and perhaps a path, without credentials, query or fragment."
        )
        raise Invalid(message, code="URL_NOT_ALLOWED")
    return base_url.rstrip("/")


class ConnectHttp:
    """Sends requests to one base URL over kept connections. Safe to use from several threads."""

    def __init__(
        self,
        *,
        base_url: str,
        username: str | None,
        password: Secret | None,
        check_host: HostCheck,
        tls: Callable[[], ssl.SSLContext],
    ) -> None:
        self._base_url = checked_base_url(base_url)
        self._auth = (username, password) if username and password else None
        self._check_host = check_host
        self._tls = tls
        self._client: httpx.Client | None = None
        self._opening = Lock()

    def send(
        self,
        method: str,
        path: str,
        *,
        deadline: Deadline,
        body: Mapping[str, Any] | None = None,
        seconds: float = READ_SECONDS,
        at_most: int = MEBIBYTE,
    ) -> Answer:
        """Exchange one request for one answer within `seconds` and the deadline; `at_most` bounds the answer's bytes.

        Raises:
            Invalid: the host leads to an address that is not allowed.
            Unavailable: nothing was sent.
            NoAnswer: it was sent, and no whole answer came.
        """
        import httpx

        if deadline.passed:
            raise Unavailable("No time was left to ask Kafka Connect. Try again.")
        token = _budget.set(Deadline.after(deadline.remaining(seconds + CONNECT_SECONDS)))
        timeout = httpx.Timeout(
            deadline.remaining(seconds),
            connect=deadline.remaining(CONNECT_SECONDS),
            pool=deadline.remaining(CONNECT_SECONDS),
        )
        try:
            with self._open().stream(method, self._base_url + path, json=body, timeout=timeout) as response:
                return _read(response, at_most)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout):
            raise Unavailable(
                "Kafka Connect cannot be reached. Check its address and whether its workers run."
            ) from None
        except httpx.TimeoutException:
            raise NoAnswer(late=True) from None
        except (httpx.HTTPError, httpx.StreamError):
            raise NoAnswer(late=False) from None
        finally:
            _budget.reset(token)

    def close(self) -> None:
        """Close the kept connections. The object stays usable."""
        with self._opening:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _open(self) -> "httpx.Client":
        with self._opening:
            if self._client is None:
                self._client = self._new_client()
            return self._client

    def _new_client(self) -> "httpx.Client":
        import httpcore
        import httpx

        secure = self._base_url.startswith("https://")
        # Plain http gets a context that trusts nobody: loading the system's certificates would only cost time.
        context = self._tls() if secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        transport = httpx.HTTPTransport(verify=context, trust_env=False)
        # httpx has no public way to say how to dial; its own pool is replaced by one whose network checks addresses.
        transport._pool = httpcore.ConnectionPool(  # noqa: SLF001
            ssl_context=context,
            max_connections=8,
            max_keepalive_connections=4,
            keepalive_expiry=20.0,
            network_backend=_guarded_network(self._check_host),
        )
        return httpx.Client(
            transport=transport,
            trust_env=False,
            follow_redirects=False,
            auth=(self._auth[0], self._auth[1].reveal()) if self._auth else None,
            headers={"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "headgate"},
        )


def _read(response: "httpx.Response", at_most: int) -> Answer:
    if response.headers.get("content-encoding", "identity") != "identity":
        return Answer(response.status_code, None, is_json=False)
    content = bytearray()
    for chunk in response.iter_bytes(65536):
        content += chunk
        if len(content) > at_most:
            raise NoAnswer(late=False)
    if not content:
        return Answer(response.status_code, None, is_json=True)
    try:
        return Answer(response.status_code, json.loads(content), is_json=True)
    except (ValueError, RecursionError):
        return Answer(response.status_code, None, is_json=False)


def _guarded_network(check_host: HostCheck) -> "httpcore.NetworkBackend":
    """A network that dials only addresses which the check has just returned for the host, and keeps to the budget."""
    import httpcore

    class Stream(httpcore.NetworkStream):
        def __init__(self, inner: httpcore.NetworkStream) -> None:
            self._inner = inner

        def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
            return self._inner.read(max_bytes, _within_budget(timeout, httpcore.ReadTimeout))

        def write(self, buffer: bytes, timeout: float | None = None) -> None:
            self._inner.write(buffer, _within_budget(timeout, httpcore.WriteTimeout))

        def close(self) -> None:
            self._inner.close()

        def start_tls(
            self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
        ) -> httpcore.NetworkStream:
            return Stream(self._inner.start_tls(ssl_context, server_hostname, timeout))

        def get_extra_info(self, info: str) -> Any:
            return self._inner.get_extra_info(info)

    class Network(httpcore.NetworkBackend):
        def connect_tcp(
            self,
            host: str,
            port: int,
            timeout: float | None = None,
            local_address: str | None = None,
            socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
        ) -> httpcore.NetworkStream:
            addresses = check_host(host)
            share = (timeout or CONNECT_SECONDS) / max(1, len(addresses))
            failure: Exception = httpcore.ConnectError()
            for address in addresses:
                try:
                    return Stream(_dial.connect_tcp(address, port, share, local_address, socket_options))
                except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                    failure = error
            raise failure

    _dial = httpcore.SyncBackend()
    return Network()


def _within_budget(timeout: float | None, late: type[Exception]) -> float:
    left = _budget.get().remaining(READ_SECONDS if timeout is None else timeout)
    if left <= _NOTHING_LEFT:
        raise late()
    return left
