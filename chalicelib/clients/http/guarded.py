"""HTTP with hosts that users enter: it connects to checked addresses only, with limits of time and size.

It follows no redirects, uses no proxy of the environment, keeps no cookies and decompresses nothing.
"""

import json
import logging
import math
import ssl
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

from chalicelib.clients.http.addresses import HostCheck
from chalicelib.errors import Unavailable
from chalicelib.kit.clock import Deadline

if TYPE_CHECKING:
    import httpcore
    import httpx

CONNECT_SECONDS = 2.0
READ_SECONDS = 8.0
MEBIBYTE = 1024 * 1024
_CHUNK_BYTES = 65536
_MIN_TIMEOUT = 0.001
# Below WARNING they log URLs and headers of answers, which may contain secrets.
for _name in ("httpx", "httpcore"):
    logging.getLogger(_name).setLevel(logging.WARNING)
_OWN_HEADERS = {"Accept-Encoding": "identity", "User-Agent": "headgate"}
# The limits of httpx are for single reads and writes: a server that sends byte by byte would never exceed them.
_budget: ContextVar[Deadline] = ContextVar("guarded_http_budget")


class NotConnected(Unavailable):
    """No connection could be made, so nothing was sent. `tls_failed`: the server answers, and not with TLS that is
    accepted.
    """

    def __init__(self, message: str, *, tls_failed: bool = False) -> None:
        super().__init__(message)
        self.tls_failed = tls_failed


class NoAnswer(Exception):
    """The request was sent, perhaps in part, and no whole answer came. `late`: because time ran out."""

    def __init__(self, *, late: bool) -> None:
        super().__init__()
        self.late = late


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """A whole answer. Header names are in lower case. `content` is None when it is compressed, against our request."""

    status: int
    headers: Mapping[str, str]
    content: bytes | None

    @property
    def json_object(self) -> Mapping[str, Any]:
        """The JSON object in the content; empty when there is none."""
        try:
            value = json.loads(self.content or b"")
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}


class GuardedHttp:
    """Sends requests to one base URL, over connections that stay open. Safe to use from several threads.

    The host is checked each time a connection is made, and connections go only to addresses that this check returned.
    Use a new object for each exchange where every exchange has to be checked. `tls` is called for https only.
    """

    def __init__(
        self,
        base_url: str,
        *,
        check_host: HostCheck,
        tls: Callable[[], ssl.SSLContext] = ssl.create_default_context,
        cut_answers: bool = False,
    ) -> None:
        """`cut_answers`: of an answer over `max_bytes` so much is read (0: no body); otherwise it is no answer."""
        self._base_url = base_url
        self._cut_answers = cut_answers
        self._check_host = check_host
        self._tls = tls
        self._transport: httpx.HTTPTransport | None = None
        self._opening = Lock()

    def send(
        self,
        method: str,
        path: str = "",
        *,
        deadline: Deadline,
        headers: Mapping[str, str] | None = None,
        json: object | None = None,
        content: bytes | None = None,
        seconds: float = READ_SECONDS,
        max_bytes: int = MEBIBYTE,
    ) -> HttpAnswer:
        """Send one request, with a body of JSON or of bytes, and read one answer of at most `max_bytes`.

        The time limit is `CONNECT_SECONDS` plus `seconds`, and the deadline. The host check before a new connection has
        another limit (`AddressPolicy.seconds`).

        Raises:
            Invalid: `URL_NOT_ALLOWED`, the host leads to an address that is not allowed. Nothing was sent.
            Unavailable: the deadline has passed, or the name does not resolve. Nothing was sent.
            NotConnected: an Unavailable as well. Nothing was sent.
            NoAnswer: it was sent, and no whole answer came.
        """
        import httpx

        if deadline.passed:
            raise Unavailable("No time was left to send the request. Try again.")
        sent_headers = httpx.Headers(headers)
        sent_headers.update(_OWN_HEADERS)
        request = httpx.Request(
            method,
            self._base_url + path,
            headers=sent_headers,
            json=json,
            content=content,
            extensions={"timeout": _timeouts(deadline, seconds)},
        )
        token = _budget.set(Deadline.after(deadline.remaining(seconds + CONNECT_SECONDS)))
        try:
            with closing(self._open_transport().handle_request(request)) as response:
                return _read(response, max_bytes, cut=self._cut_answers)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            message = "The server cannot be reached. Check its address and whether it runs."
            raise NotConnected(message, tls_failed=_is_of_tls(error)) from None
        except httpx.TimeoutException:
            raise NoAnswer(late=True) from None
        except httpx.TransportError:
            raise NoAnswer(late=False) from None
        finally:
            _budget.reset(token)

    def close(self) -> None:
        """Close the connections. The object stays usable."""
        with self._opening:
            transport, self._transport = self._transport, None
        if transport is not None:
            transport.close()

    def _open_transport(self) -> "httpx.HTTPTransport":
        with self._opening:
            if self._transport is None:
                self._transport = self._new_transport()
            return self._transport

    def _new_transport(self) -> "httpx.HTTPTransport":
        import httpcore
        import httpx

        # Plain http needs no certificates, and loading those of the system takes time.
        secure = self._base_url.startswith("https://")
        context = self._tls() if secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        transport = httpx.HTTPTransport(verify=context, trust_env=False)
        # httpx has no public interface for the network backend, so its pool is replaced by one that checks addresses.
        transport._pool = httpcore.ConnectionPool(  # noqa: SLF001
            ssl_context=context,
            max_connections=8,
            max_keepalive_connections=4,
            keepalive_expiry=20.0,
            network_backend=_guarded_network(self._check_host),
        )
        return transport


def _is_of_tls(error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, ssl.SSLError):
        error = error.__cause__ or error.__context__
    return error is not None


def _timeouts(deadline: Deadline, seconds: float) -> dict[str, float]:
    exchange, connect = deadline.remaining(seconds), deadline.remaining(CONNECT_SECONDS)
    return {"connect": connect, "pool": connect, "read": exchange, "write": exchange}


def _read(response: "httpx.Response", max_bytes: int, *, cut: bool) -> HttpAnswer:
    headers = dict(response.headers)
    if headers.get("content-encoding", "identity") != "identity":
        return HttpAnswer(response.status_code, headers, None)
    content = bytearray()
    chunks = response.iter_raw(max(1, min(_CHUNK_BYTES, max_bytes)) if cut else _CHUNK_BYTES)
    while not (cut and len(content) >= max_bytes) and (chunk := next(chunks, None)) is not None:
        content += chunk
        if len(content) > max_bytes and not cut:
            raise NoAnswer(late=False)
    return HttpAnswer(response.status_code, headers, bytes(content[:max_bytes]))


def _guarded_network(check_host: HostCheck) -> "httpcore.NetworkBackend":
    """A network that connects only to addresses which the check has just returned, within the time budget."""
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
            # The server answers, so the handshake may take as long as an answer.
            limit = _within_budget(math.inf, httpcore.ConnectTimeout)
            return Stream(self._inner.start_tls(ssl_context, server_hostname, limit))

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
                    return Stream(backend.connect_tcp(address, port, share, local_address, socket_options))
                except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                    failure = error
            raise failure

    backend = httpcore.SyncBackend()
    return Network()


def _within_budget(timeout: float | None, error: type[Exception]) -> float:
    seconds = _budget.get().remaining(READ_SECONDS if timeout is None else timeout)
    if seconds <= _MIN_TIMEOUT:
        raise error()
    return seconds


def basic_authorization(username: str, password: str) -> str:
    return "Basic " + b64encode(f"{username}:{password}".encode()).decode()
