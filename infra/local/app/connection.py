"""One HTTP/1.1 connection of the local server. h11 reads and writes the protocol; the limits are ours.

Every part of a request has its own time, however small the pieces are in which a client sends.
"""

import re
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from email.utils import formatdate
from http import HTTPStatus

import h11

from chalicelib.api.framework.boundary import CORRELATION_HEADER
from chalicelib.api.framework.http import HttpResponse
from chalicelib.api.framework.inputs import MAX_BODY_BYTES
from chalicelib.errors import Malformed, RateLimited
from chalicelib.kit.log import get_logger
from infra.local.app.gateway import Gateway, refusal

IDLE_SECONDS = 30.0
HEAD_SECONDS = 10.0
BODY_SECONDS = 20.0
WRITE_SECONDS = 20.0
LINGER_SECONDS = 1.0
MAX_TARGET = 16 * 1024
MAX_HEAD = 64 * 1024
MAX_HEADERS = 100
_READ_SIZE = 64 * 1024
_CORRELATION = re.compile(rb"^%s:[ \t]*(\S+)" % CORRELATION_HEADER.encode(), re.MULTILINE | re.IGNORECASE)


class Connection:
    """Serves the requests of one client in their order."""

    def __init__(
        self, client: socket.socket, address: str, gateway: Gateway, clock: Callable[[], float] = time.time
    ) -> None:
        self._client = client
        self._clock = clock
        self._address = address
        self._gateway = gateway
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD)
        self._until = 0.0
        self._head = bytearray()
        self._unread = False
        self._waiting_since: float | None = None

    @property
    def waiting_since(self) -> float | None:
        """Since when it waits for the next request, in seconds of the monotonic clock; None while it serves one."""
        return self._waiting_since

    def stop_reading(self) -> None:
        """Reads no further request, and ends when the requests that were read are answered."""
        with suppress(OSError):
            self._client.shutdown(socket.SHUT_RD)

    def serve(self) -> None:
        """Until the client goes, is too slow, sends what cannot be read, or asks for the end."""
        self._client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # A client that is too slow or gone gets no answer: there is nobody to read it.
        with suppress(OSError):
            while self._exchange():
                self._http.start_next_cycle()
            if self._unread:
                self._drain()

    def turn_away(self) -> None:
        """Answers 429 without reading anything."""
        self._unread = True
        with suppress(OSError):
            self._send_response(refusal(RateLimited("Too many connections.", retry_after_seconds=1), None))

    def _exchange(self) -> bool:
        """One request and its response. False when there was none, or none may follow."""
        try:
            request = self._read_request()
            if request is None:
                return False
            response = self._answer(request)
        except h11.RemoteProtocolError:
            response = self._refuse()
        self._send_response(response)
        return self._http.our_state is h11.DONE and self._http.their_state is h11.DONE

    def _read_request(self) -> h11.Request | None:
        self._head = bytearray(self._http.trailing_data[0])
        self._allow(HEAD_SECONDS if self._head else IDLE_SECONDS)
        self._waiting_since = None if self._head else time.monotonic()
        while (event := self._http.next_event()) is h11.NEED_DATA:
            first = not self._head
            self._head += self._receive()
            if first:
                self._waiting_since = None
                self._allow(HEAD_SECONDS)
        if not isinstance(event, h11.Request):
            return None
        size = len(event.target) + sum(len(name) + len(value) for name, value in event.headers)
        if len(event.target) > MAX_TARGET or size > MAX_HEAD or len(event.headers) > MAX_HEADERS:
            raise h11.RemoteProtocolError("the head is too large")
        if event.http_version not in (b"1.0", b"1.1"):
            raise h11.RemoteProtocolError("the version is unknown")
        return event

    def _answer(self, request: h11.Request) -> HttpResponse:
        headers: dict[str, str] = {}
        for field, value in request.headers:
            name, text = field.decode("latin-1"), value.decode("latin-1")
            separator = "; " if name == "cookie" else ", "
            headers[name] = f"{headers[name]}{separator}{text}" if name in headers else text
        if "transfer-encoding" in headers and "content-length" in headers:
            # h11 would ignore the second one; RFC 9112, section 6.1, advises to refuse both (request smuggling).
            raise h11.RemoteProtocolError("the body has two lengths")
        body = self._read_body(int(headers.get("content-length", 0)))
        method, target = request.method.decode("latin-1"), request.target.decode("latin-1")
        return self._gateway.answer(method, target, headers, body, self._address)

    def _read_body(self, declared: int) -> bytes:
        """The body, no further than a byte over the limit; empty when its declared length is over the limit already.

        The API refuses either as it refuses them in the cloud.
        """
        self._allow(BODY_SECONDS)
        body = bytearray()
        while max(declared, len(body)) <= MAX_BODY_BYTES:
            if self._http.they_are_waiting_for_100_continue:
                self._send(h11.InformationalResponse(status_code=100, headers=[], reason=b"Continue"))
            event = self._http.next_event()
            if event is h11.NEED_DATA:
                self._receive()
            elif isinstance(event, h11.Data):
                body += event.data
            else:
                return bytes(body)
        self._unread = True
        return bytes(body[: MAX_BODY_BYTES + 1])

    def _refuse(self) -> HttpResponse:
        error = Malformed("The request cannot be read.")
        # h11 keeps no header of a head that it refuses.
        named = _CORRELATION.search(self._head)
        response = refusal(error, named[1].decode("latin-1") if named else None)
        facts = {"correlation_id": response.headers[CORRELATION_HEADER], "status": response.status, "code": error.code}
        get_logger().info("request that could not be read", extra=facts)
        self._unread = True
        return response

    def _send_response(self, response: HttpResponse) -> None:
        body = response.body.encode() if response.compressed is None else response.compressed
        headers = [("Server", "Headgate"), ("Date", formatdate(self._clock(), usegmt=True))]
        for name, value in response.headers.items():
            headers += [(name, str(item)) for item in (value if isinstance(value, tuple) else [value])]
        if response.status != HTTPStatus.NO_CONTENT:
            headers.append(("Content-Length", str(len(body))))
        if self._unread:
            headers.append(("Connection", "close"))
        self._send(
            h11.Response(status_code=response.status, headers=headers, reason=HTTPStatus(response.status).phrase),
            h11.Data(data=body),
            h11.EndOfMessage(),
        )

    def _send(self, *events: h11.Event) -> None:
        data = b"".join(self._http.send(event) or b"" for event in events)
        # For sendall the time limit counts for the whole of it.
        self._client.settimeout(WRITE_SECONDS)
        self._client.sendall(data)

    def _allow(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds

    def _receive(self) -> bytes:
        """Waits for the next bytes of the client. Raises TimeoutError when the time is over."""
        remaining = self._until - time.monotonic()
        if remaining <= 0:
            raise TimeoutError
        self._client.settimeout(remaining)
        data = self._client.recv(_READ_SIZE)
        self._http.receive_data(data)
        return data

    def _drain(self) -> None:
        """Reads on for a short time: closing with unread data would make the client lose the answer."""
        self._client.shutdown(socket.SHUT_WR)
        self._allow(LINGER_SECONDS)
        while (remaining := self._until - time.monotonic()) > 0:
            self._client.settimeout(remaining)
            if not self._client.recv(_READ_SIZE):
                return
