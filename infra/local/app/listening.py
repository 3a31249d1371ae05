"""The port of a run: taken before anything is fetched, and answered while Headgate starts.

It imports the standard library only: `first` uses it before any package is installed.
"""

import contextlib
import os
import socket
import threading

from infra.local.app.errors import SetupMissing

INHERITED = "HEADGATE_LISTENING_SOCKET"
"""The number of the socket that an earlier program of this process has opened."""

_WAITING = 128
_POLL_SECONDS = 0.2
_CLIENT_SECONDS = 1.0
_MAX_REQUEST = 64 * 1024
_BODY = (
    b'{"error":{"code":"TRY_AGAIN","message":"Headgate is starting. The first start takes some minutes, because it '
    b'fetches its servers; the terminal shows how far it is. Try again in some seconds.","details":{}}}'
)
_ANSWER = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json; charset=utf-8\r\nRetry-After: 5\r\n"
    b"Cache-Control: no-store\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(_BODY), _BODY)
)


class TakenPort:
    """A port of 127.0.0.1 on which this process listens. Every request gets 503 `TRY_AGAIN` until `hand_over`."""

    def __init__(self, listening: socket.socket) -> None:
        self._listening = listening
        self._starting = threading.Event()
        self._starting.set()
        self._thread = threading.Thread(target=self._answer_all, name="starting", daemon=True)
        listening.settimeout(_POLL_SECONDS)
        self._thread.start()

    @property
    def number(self) -> int:
        return int(self._listening.getsockname()[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.number}"

    def hand_over(self) -> socket.socket:
        """The socket, for the server that answers from now on."""
        self._stop()
        self._listening.settimeout(None)
        return self._listening

    def close(self) -> None:
        """Frees the port, unless it was handed over and is closed already."""
        self._stop()
        self._listening.close()

    def _stop(self) -> None:
        self._starting.clear()
        self._thread.join()

    def _answer_all(self) -> None:
        while self._starting.is_set():
            with contextlib.suppress(OSError):  # also the time-out, so that a hand-over is seen
                client, _ = self._listening.accept()
                with client:
                    _answer(client)


def take(port: int) -> TakenPort:
    """Raises SetupMissing when another program listens on the port. 0 takes a free one."""
    inherited = os.environ.pop(INHERITED, None)
    if inherited is not None:
        opened = socket.socket(fileno=int(inherited))
        opened.set_inheritable(False)  # it takes no keyword; servers that are started must not keep it
        return TakenPort(opened)
    listening = socket.socket()
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        listening.listen(_WAITING)
    except OSError:
        listening.close()
        raise SetupMissing(f"port {port} is in use by another program; choose another one with --port N.") from None
    return TakenPort(listening)


def _answer(client: socket.socket) -> None:
    client.settimeout(_CLIENT_SECONDS)
    # An answer before the request was read would be lost when the connection is closed.
    request = b""
    while b"\r\n\r\n" not in request and len(request) < _MAX_REQUEST and (piece := client.recv(4096)):
        request += piece
    client.sendall(_ANSWER)
