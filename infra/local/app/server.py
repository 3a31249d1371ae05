"""The API over HTTP on loopback, in place of API Gateway, for a person's machine and for tests."""

import socket
import socketserver
import sys
import threading
import time
from collections.abc import Callable
from operator import itemgetter
from typing import Any

from chalice.app import Chalice

from chalicelib.kit.log import failure, get_logger
from infra.local.app.connection import Connection
from infra.local.app.gateway import Gateway

STOP_SECONDS = 5.0
MAX_CONNECTIONS = 128


class _Server(socketserver.ThreadingTCPServer):
    """A thread per connection, at most MAX_CONNECTIONS of them.

    A client that keeps its connection between two requests must not keep others out: at the limit, the connection that
    has waited longest ends, and a new one is refused only when all are in use.
    """

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(
        self,
        address: tuple[str, int],
        gateway: Gateway,
        listening: socket.socket | None,
        clock: Callable[[], float],
    ) -> None:
        self._gateway, self._clock = gateway, clock
        self._open: dict[socket.socket, Connection] = {}
        self._changed = threading.Condition()
        super().__init__(address, socketserver.BaseRequestHandler, bind_and_activate=listening is None)
        if listening is not None:
            self.socket.close()
            self.socket, self.server_address = listening, listening.getsockname()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Gives the connection a thread, or refuses it."""
        connection = Connection(request, str(client_address[0]), self._gateway, self._clock)
        with self._changed:
            has_room = len(self._open) < MAX_CONNECTIONS or self._end_longest_waiting()
            if has_room:
                self._open[request] = connection
        if has_room:
            super().process_request(request, client_address)
        else:
            connection.turn_away()
            self.shutdown_request(request)

    def _end_longest_waiting(self) -> bool:
        waiting = [
            (since, request)
            for request, connection in self._open.items()
            if (since := connection.waiting_since) is not None
        ]
        if not waiting:
            return False
        _, request = min(waiting, key=itemgetter(0))
        self._open.pop(request).stop_reading()
        return True

    def finish_request(self, request: Any, client_address: Any) -> None:
        self._open[request].serve()

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._changed:
                self._open.pop(request, None)
                self._changed.notify_all()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Logs a failure of the server itself, without the request."""
        error = sys.exception()
        get_logger().error("connection failed", extra={"failure": failure(error) if error else None})

    def drain(self, seconds: float) -> None:
        """Lets running requests come to their end, and ends connections that wait."""
        with self._changed:
            for connection in self._open.values():
                connection.stop_reading()
            self._changed.wait_for(lambda: not self._open, timeout=seconds)


class ApiServer:
    """Serves an app on 127.0.0.1. `port` 0 takes a free one; `listening` is the socket of a port that is taken; `clock`
    gives the seconds since 1970 for the header `Date`.
    """

    def __init__(
        self,
        app: Chalice,
        port: int,
        listening: socket.socket | None = None,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._server = _Server(("127.0.0.1", port), Gateway(app), listening, clock)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, name="api", daemon=True
        )

    @property
    def url(self) -> str:
        """Where it is reached: `http://127.0.0.1:PORT`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Takes no more connections, lets running requests end, and frees the port."""
        self._server.shutdown()
        self._server.server_close()
        self._server.drain(STOP_SECONDS)
        self._thread.join(STOP_SECONDS)
