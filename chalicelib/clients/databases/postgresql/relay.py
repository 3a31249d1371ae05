"""Counts what a database server sends, because libpq has no limit: it keeps one row or one message of any size."""

import selectors
import socket
from contextlib import suppress
from threading import Thread

MOST_BYTES = 32 * 1024 * 1024
"""That one answer of the server may have."""
_CHUNK_BYTES = 65536
_SEND_SECONDS = 30.0
_LOOPBACK = "127.0.0.1"


class Relay:
    """A port of this machine that leads to one address. TLS passes through it, from libpq to the server.

    A connection ends when the server has sent more than `MOST_BYTES` since `expect_answer`.
    """

    def __init__(self, address: str, port: int, seconds: float) -> None:
        """Connect within so many seconds. Raises OSError."""
        self._target, self._seconds = (address, port), seconds
        self._connected: socket.socket | None = self._connection()
        self._listener = socket.create_server((_LOOPBACK, 0))
        self._received = 0
        self.exceeded = False
        Thread(target=self._serve, daemon=True).start()

    @property
    def address(self) -> tuple[str, int]:
        """Where libpq connects to."""
        return _LOOPBACK, self._listener.getsockname()[1]

    def expect_answer(self) -> None:
        """Count from zero again."""
        self._received = 0

    def close(self) -> None:
        """Accept no more connections. Those that exist end when either side closes them."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _connection(self) -> socket.socket:
        connection = socket.create_connection(self._target, self._seconds)
        # Reading has no limit here: the client has a deadline, and closes its side when it gives up.
        connection.settimeout(_SEND_SECONDS)
        return connection

    def _serve(self) -> None:
        # libpq connects anew for a retry without TLS, and to cancel a statement.
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server, self._connected = self._connected or self._connection(), None
                Thread(target=self._pass_on, args=(client, server), daemon=True).start()
        if self._connected:
            self._connected.close()

    def _pass_on(self, client: socket.socket, server: socket.socket) -> None:
        with client, server, selectors.DefaultSelector() as selector, suppress(OSError):
            selector.register(client, selectors.EVENT_READ, server)
            selector.register(server, selectors.EVENT_READ, client)
            while True:
                for key, _ in selector.select():
                    data = key.fileobj.recv(_CHUNK_BYTES)  # type: ignore[union-attr]
                    if key.fileobj is server:
                        self._received += len(data)
                        self.exceeded = self._received > MOST_BYTES
                    if not data or self.exceeded:
                        return
                    key.data.sendall(data)
