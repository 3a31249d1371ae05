"""A PostgreSQL server that somebody has put before the real one: it asks for the password and keeps it."""

import socket
import ssl
import struct
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial

from chalicelib.clients.databases.postgresql.client import PostgreSQL
from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.connection_checks import TestResult
from chalicelib.domain.database import DatabaseProvider, SslMode
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret
from tests.support.databases.scripted_server import HOST, message, scripted_server
from tests.support.databases.self_signed import NAME, Certificate, make_certificate

PASSWORD = "planted-in-between-31"
REQUESTS: Mapping[str, bytes] = {
    "clear text": struct.pack("!I", 3),
    "MD5": struct.pack("!I", 5) + b"salt",
    "no password": struct.pack("!I", 0),
}
"""How it asks, as the body of its first message (PostgreSQL's protocol, message flow of the start)."""
_TLS_REQUEST = b"\x04\xd2\x16\x2f"


@dataclass(frozen=True)
class ServerInBetween:
    """`answers` are what clients sent after they were asked for the password."""

    port: int
    certificate: Certificate
    answers: list[bytes] = field(default_factory=list)

    def test(self, ssl_mode: SslMode, *, password: str = PASSWORD) -> TestResult:
        """Headgate's connection test, with a CA that vouches for this server."""
        address = DatabaseAddress(
            provider=DatabaseProvider.POSTGRESQL, host=NAME, port=self.port, database_name="shop", username="cdc",
            ssl_mode=ssl_mode, connection_timeout_seconds=3,
        )  # fmt: skip
        secrets = {"password": Secret(password), "ca_certificate": Secret(self.certificate.certificate)}
        endpoint = OpenedEndpoint.unsaved(address, secrets)
        return PostgreSQL(endpoint=endpoint, check_host=lambda _host: (HOST,)).test(Deadline.after(5))


@contextmanager
def server_in_between(request: bytes) -> Iterator[ServerInBetween]:
    """Runs one that asks with this message, over TLS where the client wants it."""
    certificate, answers = make_certificate(), list[bytes]()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
        file.write(certificate.certificate + certificate.key)
        file.flush()
        context.load_cert_chain(file.name)
    with scripted_server(partial(_ask, context, request, answers)) as (port, _):
        yield ServerInBetween(port, certificate, answers)


def _ask(context: ssl.SSLContext, request: bytes, answers: list[bytes], plain: socket.socket) -> None:
    client: socket.socket = plain
    if plain.recv(8, socket.MSG_PEEK)[4:8] == _TLS_REQUEST:
        plain.recv(8)
        plain.sendall(b"S")
        client = context.wrap_socket(plain, server_side=True)
    with client:
        client.recv(10_000)
        client.sendall(message(b"R", request))
        with suppress(OSError):
            answers.append(client.recv(10_000))
