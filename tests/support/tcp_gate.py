"""A door in front of a TCP server that a test can shut: closed, or open and silent."""

import contextlib
import socket
import threading
from types import TracebackType

CHUNK = 65536


class Gate:
    """Listens on `port` of 127.0.0.1 and passes everything on to `target`, until it is shut."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._listener: socket.socket | None = None
        self._passing: list[socket.socket] = []
        self._silent = False
        self.port = 0
        self.open()

    def open(self) -> None:
        """Lets everybody through."""
        self._silent = False
        if self._listener is None:
            self._listener = socket.create_server(("127.0.0.1", self.port))
            self.port = self._listener.getsockname()[1]
            threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def silent(self) -> None:
        """From now on accepts connections and says nothing."""
        self._silent = True
        self._cut()

    def closed(self) -> None:
        """From now on refuses connections."""
        if self._listener is not None:
            # Closing alone does not wake the thread that accepts.
            with contextlib.suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
            self._listener = None
        self._cut()

    def __enter__(self) -> "Gate":
        return self

    def __exit__(self, _type: type[BaseException] | None, _: BaseException | None, _at: TracebackType | None) -> None:
        self.closed()

    def _cut(self) -> None:
        for connection in self._passing:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()
        self._passing.clear()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            self._passing.append(client)
            if not self._silent:
                server = socket.create_connection(("127.0.0.1", self._target))
                self._passing.append(server)
                for source, sink in ((client, server), (server, client)):
                    threading.Thread(target=_pump, args=(source, sink), daemon=True).start()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(CHUNK):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
