"""A TCP proxy that a test can block: it refuses connections, or accepts them and sends nothing."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from types import TracebackType

CHUNK_BYTES = 65536


class BlockingProxy:
    """Listens on `port` of 127.0.0.1 and forwards to `target`, until it is blocked.

    Each connection is closed by the thread that serves it; blocking only shuts it down, which ends that thread.
    """

    def __init__(self, target: int, sent: Callable[[bytes], object] = lambda _: None) -> None:
        """`sent` is given everything that clients send."""
        self._target = target
        self._sent = sent
        self._listener: socket.socket | None = None
        self._lock = threading.Lock()
        self._connections: set[socket.socket] = set()
        self._silent = False
        self.port = 0
        self.open()

    def open(self) -> None:
        self._silent = False
        if self._listener is None:
            self._listener = socket.create_server(("127.0.0.1", self.port))
            self.port = self._listener.getsockname()[1]
            threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def silent(self) -> None:
        """From now on accepts connections and sends nothing."""
        self._silent = True
        self._shut_down_all()

    def lead_to(self, target: int) -> None:
        """From now on forwards to another port; open connections end."""
        self._target = target
        self._shut_down_all()

    def closed(self) -> None:
        """From now on refuses connections."""
        if self._listener is not None:
            # Closing alone does not wake the thread that accepts.
            with contextlib.suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
            self._listener = None
        self._shut_down_all()

    def __enter__(self) -> "BlockingProxy":
        return self

    def __exit__(self, _type: type[BaseException] | None, _: BaseException | None, _at: TracebackType | None) -> None:
        self.closed()

    def _shut_down_all(self) -> None:
        with self._lock:
            for connection in self._connections:
                _shut_down(connection)

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        # Either side may close the connection, or a test block it, at any time.
        with client, self._registered(client), contextlib.suppress(OSError):
            if self._silent:
                while client.recv(CHUNK_BYTES):
                    pass
                return
            with socket.create_connection(("127.0.0.1", self._target)) as server, self._registered(server):
                forward_both_ways(client, server, self._sent)

    @contextlib.contextmanager
    def _registered(self, connection: socket.socket) -> Iterator[None]:
        with self._lock:
            self._connections.add(connection)
            if self._listener is None:
                _shut_down(connection)
        try:
            yield
        finally:
            with self._lock:
                self._connections.discard(connection)


def forward_both_ways(
    first: socket.socket, second: socket.socket, on_data: Callable[[bytes], object] = lambda _: None
) -> None:
    """Forwards bytes in both directions until one end has closed. `on_data` gets the bytes that `first` sends."""
    back = threading.Thread(target=_forward, args=(second, first), daemon=True)
    back.start()
    _forward(first, second, on_data)
    back.join()


def _forward(source: socket.socket, sink: socket.socket, on_data: Callable[[bytes], object] = lambda _: None) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(CHUNK_BYTES):
            on_data(data)
            sink.sendall(data)
    for end in (source, sink):
        _shut_down(end)


def _shut_down(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
