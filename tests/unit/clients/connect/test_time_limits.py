"""No way of being slow keeps a call to Connect beyond its deadline."""

import socket
import ssl
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from chalicelib.clients.connect.client import Connect
from chalicelib.errors import TimedOut, Unavailable
from chalicelib.kit.clock import Deadline
from infra.local.doubles.authority import Authority
from tests.support.apps.connect_worker import connect_at

SECONDS = 0.8
LATEST = SECONDS + 10
PAUSE = 0.02
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
Behave = Callable[[socket.socket], None]


def dripping(start: bytes, repeated: bytes) -> Behave:
    """Reads the request, then sends `start` and a little at a time, each before any limit of a single read."""

    def behave(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(start)
        while True:
            connection.sendall(repeated)
            time.sleep(PAUSE)

    return behave


def silent(connection: socket.socket) -> None:
    """Reads the request and sends nothing."""
    connection.recv(65536)
    time.sleep(30)


SLOW: dict[str, Behave] = {
    "it is silent": silent,
    "the status line drips": dripping(b"HTTP/1.1 200 ", b"x"),
    "interim answers without end": dripping(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "headers without end": dripping(HEAD, b"X: y\r\n"),
    "the body drips": dripping(HEAD + b"Content-Length: 100000\r\n\r\n", b" "),
    "chunks without end": dripping(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "a chunk's length drips": dripping(HEAD + b"Transfer-Encoding: chunked\r\n\r\n1", b";"),
    "trailers without end": dripping(HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X: y\r\n"),
}


@contextmanager
def server(behave: Behave) -> Iterator[int]:
    """A server that does this with every connection. Gives its port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def talk(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            behave(connection)

    def serve() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=talk, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def seconds_of(client: Connect) -> float:
    """How long a read of all connectors takes, retries and pauses included."""
    start = time.monotonic()
    with pytest.raises((Unavailable, TimedOut)):
        client.statuses(Deadline.after(SECONDS))
    client.close()
    return time.monotonic() - start


@pytest.mark.parametrize("behaviour", SLOW)
def test_a_slow_worker_is_not_waited_for(behaviour: str) -> None:
    with server(SLOW[behaviour]) as port:
        # Without the limit it would be 30 seconds, or for ever.
        assert seconds_of(connect_at(f"http://127.0.0.1:{port}")) < LATEST


@pytest.mark.parametrize("behaviour", ["the body drips", "headers without end", "it is silent"])
def test_a_slow_worker_behind_tls_is_not_waited_for(behaviour: str) -> None:
    authority = Authority()
    pair = authority.sign("connect")
    own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
        file.write(pair.certificate + pair.key)
        file.flush()
        own.load_cert_chain(file.name)

    def behave(connection: socket.socket) -> None:
        with own.wrap_socket(connection, server_side=True) as encrypted:
            SLOW[behaviour](encrypted)

    def tls() -> ssl.SSLContext:
        return ssl.create_default_context(cadata=authority.certificate)

    with server(behave) as port:
        assert seconds_of(connect_at(f"https://127.0.0.1:{port}", tls=tls)) < LATEST


def test_a_tls_handshake_that_drips_is_not_waited_for() -> None:
    # The head of a handshake record of 16 KiB, and then one byte at a time.
    with server(dripping(b"\x16\x03\x03\x40\x00", b"\x02")) as port:
        assert seconds_of(connect_at(f"https://127.0.0.1:{port}")) < LATEST
