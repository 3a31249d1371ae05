"""A door in front of a TCP server that a test can shut: closed, or open and silent."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from types import TracebackType

CHUNK = 65536


class TcpProxy:
    """Listens on `port` of 127.0.0.1 and passes everything on to `target`, until it is shut.

    Each connection is closed by the thread that serves it; shutting the gate only cuts it, which ends that thread.
    """

    def __init__(self, target: int) -> None:
        self._target = target
        self._listener: socket.socket | None = None
        self._lock = threading.Lock()
        self._passing: set[socket.socket] = set()
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

    def __enter__(self) -> "TcpProxy":
        return self

    def __exit__(self, _type: type[BaseException] | None, _: BaseException | None, _at: TracebackType | None) -> None:
        self.closed()

    def _cut(self) -> None:
        with self._lock:
            for connection in self._passing:
                _hang_up(connection)

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        # Either side may hang up, or the gate cut them, at any moment.
        with client, self._passed(client), contextlib.suppress(OSError):
            if self._silent:
                while client.recv(CHUNK):
                    pass
                return
            with socket.create_connection(("127.0.0.1", self._target)) as server, self._passed(server):
                carry(client, server)

    @contextlib.contextmanager
    def _passed(self, connection: socket.socket) -> Iterator[None]:
        with self._lock:
            self._passing.add(connection)
            if self._listener is None:
                _hang_up(connection)
        try:
            yield
        finally:
            with self._lock:
                self._passing.discard(connection)


def carry(one: socket.socket, other: socket.socket) -> None:
    """Carries bytes both ways until one end is gone. Closes neither."""
    back = threading.Thread(target=_pump, args=(other, one), daemon=True)
    back.start()
    _pump(one, other)
    back.join()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(CHUNK):
            sink.sendall(data)
    for end in (source, sink):
        _hang_up(end)


def _hang_up(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
