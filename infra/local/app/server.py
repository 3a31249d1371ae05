"""The API over HTTP on loopback: what API Gateway is in the cloud, for a person's machine and for tests.

Built on the handler of the standard library, because chalice's own server answers 23 requests a second on a kept-alive
connection (Nagle's algorithm), drops chunked bodies, reads bodies of any size, and lets a slow client keep a thread for
ever. This one writes each response at once, reads at most what the API takes, and gives every part of a request its
time.
"""

import io
import socket
import socketserver
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from email.errors import (
    MultipartInvariantViolationDefect,
    NoBoundaryInMultipartDefect,
    StartBoundaryNotFoundDefect,
)
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from chalice.app import Chalice
from chalice.local import LambdaContext, RouteMatcher

from chalicelib.api import errors as http_errors
from chalicelib.api.boundary import CORRELATION_HEADER
from chalicelib.api.http import HttpResponse
from chalicelib.api.inputs import MAX_BODY_BYTES
from chalicelib.api.paths import EventMaker
from chalicelib.api.rendering import with_security_headers
from chalicelib.errors import HeadgateError, Malformed, RateLimited
from chalicelib.kit.ids import correlation_id, new_id
from chalicelib.kit.log import failure, get_logger

IDLE_SECONDS = 30.0
HEAD_SECONDS = 10.0
BODY_SECONDS = 20.0
WRITE_SECONDS = 20.0
LINGER_SECONDS = 1.0
STOP_SECONDS = 5.0
MAX_LINE = 16 * 1024
MAX_CONNECTIONS = 128
FUNCTION_SECONDS = 29
_CHUNK_LINE = 1024
_PARTS_OF_A_MAIL = (NoBoundaryInMultipartDefect, StartBoundaryNotFoundDefect, MultipartInvariantViolationDefect)
"""What the standard library misses in a head that announces several parts, because it is given no body."""


class Gateway:
    """Turns a request into the event that API Gateway would send, and calls the function with it."""

    def __init__(self, app: Chalice) -> None:
        self._app = app
        self._events = EventMaker(RouteMatcher(list(app.routes)))

    def answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes, source: str) -> dict[str, Any]:
        """The function's own answer: `statusCode`, `headers`, `multiValueHeaders`, `body`."""
        event = self._events.create_lambda_event(method, target, headers, body, source)
        context = LambdaContext("headgate-local", memory_size=1024, max_runtime_ms=FUNCTION_SECONDS * 1000)
        return dict(self._app(event, context))


class _TimedReader(io.RawIOBase):
    """Reads from a socket until a moment in time, however small the pieces are in which the other side sends."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._until = 0.0

    def allow(self, seconds: float) -> None:
        """Gives the reads that follow this many seconds altogether."""
        self._until = time.monotonic() + seconds

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """What has come, as soon as something has. Raises `TimeoutError` when the time is over."""
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
        return self._connection.recv_into(buffer)


class _Handler(BaseHTTPRequestHandler):
    """One connection. Whatever cannot be read is answered with the same envelope as every other refusal."""

    protocol_version = "HTTP/1.1"
    default_request_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: "_Server"
    rfile: io.BufferedReader

    def setup(self) -> None:
        """Takes the connection: timed reads, and writes that leave together."""
        super().setup()
        self._reader = _TimedReader(self.connection)
        self.rfile = io.BufferedReader(self._reader, 64 * 1024)
        self.wfile = io.BytesIO()
        self._unread = False

    def finish(self) -> None:
        """Lets the connection go. An unread body is drained for a moment, or the client may lose our answer."""
        try:
            self._flush()
            if self._unread:
                self._linger()
        except OSError:
            pass
        self.rfile.close()

    def version_string(self) -> str:
        """The `Server` header, without versions."""
        return "Headgate"

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the API writes its own line per request, without raw paths."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Called by the base class for a head that cannot be read: its text repeats input, ours does not."""
        self._refuse(Malformed("The request cannot be read."))

    def handle_expect_100(self) -> bool:
        """Asks for the body only when it will be taken."""
        if self._declared_length() <= MAX_BODY_BYTES:
            self.send_response_only(100)
            self.end_headers()
            self._flush()
        return True

    def handle_one_request(self) -> None:
        """One request and its response."""
        try:
            self._reader.allow(IDLE_SECONDS)
            if not self.rfile.peek(1):
                self.close_connection = True
                return
            self._reader.allow(HEAD_SECONDS)
            self.raw_requestline = self.rfile.readline(MAX_LINE + 1)
            if len(self.raw_requestline) > MAX_LINE:
                self.request_version, self.command, self.requestline = "HTTP/1.1", "", ""
                self.send_error(414)
            elif self.parse_request():
                self._exchange()
            self._flush()
        except OSError:
            # Too slow, or gone: there is nobody to tell.
            self.close_connection = True

    def _exchange(self) -> None:
        self._reader.allow(BODY_SECONDS)
        try:
            body = self._body()
        except Malformed as error:
            self._refuse(error)
        else:
            self._pass_on(self._call(body))

    def _call(self, body: bytes) -> dict[str, Any]:
        address = str(self.client_address[0])
        try:
            return self.server.gateway.answer(self.command, self.path, self._merged_headers(), body, address)
        except Exception as error:  # noqa: BLE001 - the function itself failed, as it would in the cloud
            get_logger().error("the function failed", extra={"failure": failure(error)})
            response = _own(http_errors.internal(), self._correlation_id())
            return {
                "statusCode": response.status,
                "headers": dict(response.headers),
                "multiValueHeaders": {},
                "body": response.body,
            }

    def _pass_on(self, answer: Mapping[str, Any]) -> None:
        headers = [*answer["headers"].items()]
        headers += [(name, value) for name, values in answer["multiValueHeaders"].items() for value in values]
        self._send(int(answer["statusCode"]), headers, str(answer["body"]).encode())

    def _body(self) -> bytes:
        """The body; empty when it is too large, with the length left in the head, by which the API refuses it."""
        if not all(isinstance(defect, _PARTS_OF_A_MAIL) for defect in self.headers.defects):
            # Such as a line without a colon, at which the parser stops reading headers.
            raise Malformed("The request's head cannot be read.")
        if "transfer-encoding" in self.headers:
            return self._chunked_body()
        length = self._declared_length()
        if length > MAX_BODY_BYTES:
            self._unread = self.close_connection = True
            return b""
        body = self.rfile.read(length) if length else b""
        if len(body) < length:
            raise Malformed("The body ended early.")
        return body

    def _declared_length(self) -> int:
        lengths = {value.strip() for value in self.headers.get_all("content-length", ["0"])}
        text = lengths.pop()
        if lengths or not (text.isascii() and text.isdigit()) or len(text) > 18:
            raise Malformed("Content-Length is one number.")
        return int(text)

    def _chunked_body(self) -> bytes:
        """A chunked body, read no further than the limit. RFC 9112, section 7.1."""
        coding = ",".join(self.headers.get_all("transfer-encoding", [])).strip().lower()
        if coding != "chunked" or "content-length" in self.headers:
            raise Malformed("The length of the body is said in two ways, or in one that is not known here.")
        body = bytearray()
        while size := self._chunk_size():
            body += self.rfile.read(min(size, MAX_BODY_BYTES + 1 - len(body)))
            if len(body) > MAX_BODY_BYTES:
                self._unread = self.close_connection = True
                return bytes(body)
            if self.rfile.readline(_CHUNK_LINE) != b"\r\n":
                raise Malformed("A chunk is longer than it says.")
        for _ in range(100):
            if self.rfile.readline(_CHUNK_LINE) in (b"\r\n", b"\n", b""):
                return bytes(body)
        raise Malformed("The trailer has no end.")

    def _chunk_size(self) -> int:
        text = self.rfile.readline(_CHUNK_LINE).split(b";")[0].strip()
        if not text or len(text) > 8 or text.strip(b"0123456789abcdefABCDEF"):
            raise Malformed("A chunk does not say its size.")
        return int(text, 16)

    def _merged_headers(self) -> dict[str, str]:
        return {
            name.lower(): ("; " if name.lower() == "cookie" else ", ").join(self.headers.get_all(name, []))
            for name in self.headers
        }

    def _refuse(self, error: HeadgateError) -> None:
        named = self._correlation_id()
        response = _own(error, named)
        facts = {"correlation_id": named, "status": response.status, "code": error.code}
        get_logger().info("request that could not be read", extra=facts)
        self._unread = self.close_connection = True
        self._send(
            response.status, [(name, str(value)) for name, value in response.headers.items()], response.body.encode()
        )

    def _correlation_id(self) -> str:
        """The caller's, if the head could be read that far."""
        headers = getattr(self, "headers", None)
        return correlation_id(headers.get(CORRELATION_HEADER) if headers else None)

    def _send(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def _flush(self) -> None:
        ready = self.wfile.getvalue()  # type: ignore[attr-defined]
        if ready:
            self.wfile = io.BytesIO()
            # For sendall the time limit counts for the whole of it.
            self.connection.settimeout(WRITE_SECONDS)
            self.connection.sendall(ready)

    def _linger(self) -> None:
        self.connection.shutdown(socket.SHUT_WR)
        self._reader.allow(LINGER_SECONDS)
        while self.rfile.read1(64 * 1024):
            pass


class _Server(socketserver.ThreadingMixIn, HTTPServer):
    """A thread per connection, and no more than a hundred and some."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], gateway: Gateway) -> None:
        self.gateway = gateway
        self._slots = threading.BoundedSemaphore(MAX_CONNECTIONS)
        self._open: set[socket.socket] = set()
        self._idle = threading.Condition()
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        """Binds without asking a name server what the machine is called."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    def process_request(self, request: Any, client_address: Any) -> None:
        """Gives the connection a thread, or turns it away."""
        if not self._slots.acquire(blocking=False):
            _turn_away(request)
            self.shutdown_request(request)
            return
        with self._idle:
            self._open.add(request)
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serves the connection to its end."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._slots.release()
            with self._idle:
                self._open.discard(request)
                self._idle.notify_all()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Notes a failure of the server itself, without what the client sent."""
        error = sys.exception()
        get_logger().error("connection failed", extra={"failure": failure(error) if error else None})

    def drain(self, seconds: float) -> None:
        """Lets requests that run come to their end, and connections that wait go at once."""
        with self._idle:
            for connection in self._open:
                _stop_reading(connection)
            self._idle.wait_for(lambda: not self._open, timeout=seconds)


class ApiServer:
    """Serves an app on 127.0.0.1. `port` 0 takes a free one."""

    def __init__(self, app: Chalice, port: int) -> None:
        self._server = _Server(("127.0.0.1", port), Gateway(app))
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, name="api", daemon=True
        )

    @property
    def url(self) -> str:
        """Where it is reached: `http://127.0.0.1:PORT`."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def start(self) -> None:
        """Begins to serve."""
        self._thread.start()

    def stop(self) -> None:
        """Takes no more connections, lets running requests end, and frees the port."""
        self._server.shutdown()
        self._server.server_close()
        self._server.drain(STOP_SECONDS)
        self._thread.join(STOP_SECONDS)


def _own(error: HeadgateError, named: str) -> HttpResponse:
    response = http_errors.render(error)
    return with_security_headers(replace(response, headers={**response.headers, CORRELATION_HEADER: named}))


def _turn_away(connection: socket.socket) -> None:
    response = _own(RateLimited("Too many connections.", retry_after_seconds=1), new_id())
    lines = [
        f"HTTP/1.1 {response.status} Too Many Requests",
        *(f"{name}: {value}" for name, value in response.headers.items()),
    ]
    head = "\r\n".join([*lines, f"Content-Length: {len(response.body)}", "Connection: close", "", ""])
    with suppress(OSError):
        connection.settimeout(0.1)
        connection.sendall((head + response.body).encode())


def _stop_reading(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RD)
