"""One connection to one Kafka broker, to an address that was checked. Everything has a limit of time and of bytes."""

import socket
import ssl
import struct
from collections.abc import Iterator
from contextlib import contextmanager

from chalicelib.clients.kafka.messages import Api, NotUnderstood, Reader, request
from chalicelib.kit.clock import Deadline

CONNECT_SECONDS = 4.0
MAX_ANSWER_BYTES = 64 * 1024 * 1024
_CHUNK_BYTES = 65536
_SHORTEST_TIMEOUT = 0.001

_NO_ANSWER = "The brokers did not answer in time. Check the bootstrap servers, the protocol and the credentials."
_NOT_TRUSTED = "No trusted TLS connection to the brokers could be made. Check the protocol and the certificates."
_NOT_KAFKA = "What answers at the bootstrap servers is not a Kafka broker, or it expects another protocol."


class BrokerFailure(Exception):
    """This broker cannot be asked; the message says why in our words. Another one may be."""


class SignInRefused(BrokerFailure):
    """The brokers do not accept who we are: every other one would refuse us as well."""


class BrokerConnection:
    """A connection for one request at a time. It is of no use after a BrokerFailure, which every method may raise."""

    def __init__(self, host: str, address: str, port: int, *, tls: ssl.SSLContext | None, deadline: Deadline) -> None:
        """Connect to `address`, with TLS for `host` where `tls` is given."""
        self._correlation = 0
        with _translated():
            limit = _seconds(deadline, CONNECT_SECONDS)
            self._socket = socket.create_connection((address, port), limit)
        if tls is not None:
            try:
                with _translated():
                    # Python counts this limit for the whole handshake, and a limit of sendall for all of it.
                    self._socket.settimeout(_seconds(deadline, CONNECT_SECONDS))
                    self._socket = tls.wrap_socket(self._socket, server_hostname=host)
            except BrokerFailure:
                self.close()
                raise

    def close(self) -> None:
        """End the connection."""
        self._socket.close()

    def ask(self, api: Api, body: bytes, deadline: Deadline) -> Reader:
        """Send a request and return its answer, without the head."""
        self._correlation += 1
        with _translated():
            self._socket.settimeout(_seconds(deadline))
            self._socket.sendall(request(api, self._correlation, body))
            (size,) = struct.unpack("!i", self._receive(4, deadline))
            if not 4 <= size <= MAX_ANSWER_BYTES:
                raise NotUnderstood
            answer = Reader(self._receive(size, deadline))
            if answer.int32() != self._correlation:
                raise NotUnderstood
        return answer

    def _receive(self, size: int, deadline: Deadline) -> bytes:
        received = bytearray()
        while len(received) < size:
            self._socket.settimeout(_seconds(deadline))
            chunk = self._socket.recv(min(_CHUNK_BYTES, size - len(received)))
            if not chunk:
                raise ConnectionResetError
            received += chunk
        return bytes(received)


@contextmanager
def _translated() -> Iterator[None]:
    """Turns what sockets and TLS raise into BrokerFailure, without its text."""
    try:
        yield
    except ssl.SSLError:
        raise BrokerFailure(_NOT_TRUSTED) from None
    except NotUnderstood:
        raise BrokerFailure(_NOT_KAFKA) from None
    except (OSError, ValueError):
        raise BrokerFailure(_NO_ANSWER) from None


def _seconds(deadline: Deadline, at_most: float = float("inf")) -> float:
    seconds = deadline.remaining(at_most)
    if seconds <= _SHORTEST_TIMEOUT:
        raise TimeoutError
    return seconds
