"""A pooler before a real PostgreSQL server: it knows ordinary sessions only, as PgBouncer before 1.23 does."""

import contextlib
import socket
import struct
from collections.abc import Iterator
from enum import StrEnum
from functools import partial

from tests.support.databases.blocking_proxy import forward_both_ways
from tests.support.databases.scripted_server import HOST, message, scripted_server

_NO_ENCRYPTION = frozenset({80877103, 80877104})
"""The codes of a request for TLS and for GSSAPI encryption (PostgreSQL documentation, chapter 54.7)."""


class OnReplication(StrEnum):
    REFUSE = "refuse"
    IGNORE = "ignore"
    STAY_SILENT = "stay silent"


@contextlib.contextmanager
def pooler(server_port: int, behaviour: OnReplication) -> Iterator[int]:
    """Forwards sessions to the server at this port. Gives its own port."""
    with scripted_server(partial(_serve, server_port, behaviour)) as (port, _):
        yield port


def _serve(server_port: int, behaviour: OnReplication, client: socket.socket) -> None:
    with contextlib.suppress(struct.error):
        packet = _startup_packet(client)
        parameter = b"replication\0database\0"
        if parameter in packet:
            if behaviour is OnReplication.STAY_SILENT:
                return
            if behaviour is OnReplication.REFUSE:
                client.sendall(message(b"E", b"SFATAL\0C08P01\0Munsupported startup parameter: replication\0\0"))
                client.shutdown(socket.SHUT_RDWR)
                return
            packet = message(b"", packet[4:].replace(parameter, b""))
        with socket.create_connection((HOST, server_port)) as server:
            server.sendall(packet)
            forward_both_ways(client, server)


def _startup_packet(client: socket.socket) -> bytes:
    """The first packet that is no request for encryption."""
    while True:
        head = client.recv(8, socket.MSG_WAITALL)
        size, code = struct.unpack("!II", head)
        if code not in _NO_ENCRYPTION:
            return head + client.recv(size - 8, socket.MSG_WAITALL)
        client.sendall(b"N")
