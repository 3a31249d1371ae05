"""A threaded server that can close its open connections: closing the listener alone leaves them open."""

import contextlib
import socket
import socketserver
from typing import Any


class Tracked(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """A server of one thread per connection that knows which are open."""

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], handler: type[socketserver.BaseRequestHandler]) -> None:
        self._open: set[socket.socket] = set()
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Adds the connection, then serves it."""
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Closes and removes the connection."""
        self._open.discard(request)
        super().shutdown_request(request)

    def end(self) -> None:
        """Stops listening, and closes every connection."""
        self.shutdown()
        self.server_close()
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
