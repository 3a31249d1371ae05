"""Limits the bytes that a database server sends: libpq has no limit for the size of a row or a message."""

import selectors
import socket
from contextlib import suppress
from threading import Thread

MAX_BYTES = 32 * 1024 * 1024
"""The limit of one answer of the server."""
_CHUNK_BYTES = 65536
_SEND_SECONDS = 30.0
_LOOPBACK = "127.0.0.1"


class Relay:
    """A local port that forwards to one address. TLS is between libpq and the server.

    A connection ends when the server has sent more than `MAX_BYTES` since `expect_answer`.
    """

    def __init__(self, address: str, port: int, seconds: float) -> None:
        """Connect in at most `seconds`. Raises OSError."""
        self._target, self._seconds = (address, port), seconds
        self._connected: socket.socket | None = self._connection()
        self._listener = socket.create_server((_LOOPBACK, 0))
        self._received = 0
        self.exceeded = False
        Thread(target=self._serve, daemon=True).start()

    @property
    def address(self) -> tuple[str, int]:
        return _LOOPBACK, self._listener.getsockname()[1]

    def expect_answer(self) -> None:
        """Start to count again."""
        self._received = 0

    def close(self) -> None:
        """Accept no more connections. Open ones end when one side closes them."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _connection(self) -> socket.socket:
        connection = socket.create_connection(self._target, self._seconds)
        # Reads have no limit here: the client has a deadline, and then closes its side.
        connection.settimeout(_SEND_SECONDS)
        return connection

    def _serve(self) -> None:
        # libpq opens further connections: for a retry without TLS, and to cancel a statement.
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server, self._connected = self._connected or self._connection(), None
                Thread(target=self._forward, args=(client, server), daemon=True).start()
        if self._connected:
            self._connected.close()

    def _forward(self, client: socket.socket, server: socket.socket) -> None:
        with client, server, selectors.DefaultSelector() as selector, suppress(OSError):
            selector.register(client, selectors.EVENT_READ, server)
            selector.register(server, selectors.EVENT_READ, client)
            while True:
                for key, _ in selector.select():
                    data = key.fileobj.recv(_CHUNK_BYTES)  # type: ignore[union-attr]
                    if key.fileobj is server:
                        self._received += len(data)
                        self.exceeded = self._received > MAX_BYTES
                    if not data or self.exceeded:
                        return
                    key.data.sendall(data)
