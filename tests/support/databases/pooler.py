"""A pooler before a real PostgreSQL server: it knows ordinary sessions only, as PgBouncer before 1.23 does."""

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator
from enum import StrEnum

HOST = "127.0.0.1"
_NO_ENCRYPTION = frozenset({80877103, 80877104})
"""The codes of a request for TLS and for GSSAPI encryption (PostgreSQL documentation, chapter 54.7)."""


class OnReplication(StrEnum):
    """How it treats a replication connection."""

    REFUSE = "refuse"
    IGNORE = "ignore"
    STAY_SILENT = "stay silent"


@contextlib.contextmanager
def pooler(server_port: int, behaviour: OnReplication) -> Iterator[int]:
    """Forwards sessions to the server at this port. Gives its own port."""
    listener = socket.create_server((HOST, 0))
    opened: list[socket.socket] = []
    threading.Thread(target=_accept, args=(listener, opened, server_port, behaviour), daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for connection in opened:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()


def _accept(listener: socket.socket, opened: list[socket.socket], port: int, behaviour: OnReplication) -> None:
    while True:
        try:
            client, _ = listener.accept()
        except OSError:
            return
        opened.append(client)
        threading.Thread(target=_serve, args=(client, opened, port, behaviour), daemon=True).start()


def _serve(client: socket.socket, opened: list[socket.socket], port: int, behaviour: OnReplication) -> None:
    with contextlib.suppress(OSError, struct.error):
        packet = _startup_packet(client)
        parameter = b"replication\0database\0"
        if parameter in packet:
            if behaviour is OnReplication.STAY_SILENT:
                return
            if behaviour is OnReplication.REFUSE:
                fields = b"SFATAL\0C08P01\0Munsupported startup parameter: replication\0\0"
                client.sendall(b"E" + struct.pack("!I", len(fields) + 4) + fields)
                client.shutdown(socket.SHUT_RDWR)
                return
            body = packet[4:].replace(parameter, b"")
            packet = struct.pack("!I", len(body) + 4) + body
        server = socket.create_connection((HOST, port))
        opened.append(server)
        server.sendall(packet)
        threading.Thread(target=_forward, args=(server, client), daemon=True).start()
        _forward(client, server)


def _startup_packet(client: socket.socket) -> bytes:
    """The first packet that is no request for encryption."""
    while True:
        head = client.recv(8, socket.MSG_WAITALL)
        size, code = struct.unpack("!II", head)
        if code not in _NO_ENCRYPTION:
            return head + client.recv(size - 8, socket.MSG_WAITALL)
        client.sendall(b"N")


def _forward(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_RDWR)
