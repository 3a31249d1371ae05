"""An HTTP proxy that can pause a request, or its response, while a test kills the client."""

import http.client
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

TIMEOUT_SECONDS = 60.0
HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length"}


@dataclass(frozen=True, kw_only=True)
class ProxiedRequest:
    method: str
    path: str
    body: bytes


@dataclass(kw_only=True)
class Pause:
    """Pauses the first request that matches: before it reaches the server, or (`after`) once the server responded."""

    matches: Callable[[ProxiedRequest], bool]
    after: bool
    _reached: threading.Event = field(default_factory=threading.Event)
    _dropped: threading.Event = field(default_factory=threading.Event)

    def wait(self) -> None:
        assert self._reached.wait(TIMEOUT_SECONDS), "no such request came"

    def drop(self) -> None:
        """Close the connection of the paused request, without a response."""
        self._dropped.set()

    def applies_to(self, request: ProxiedRequest) -> bool:
        return not self._reached.is_set() and self.matches(request)

    def block(self) -> None:
        self._reached.set()
        self._dropped.wait(TIMEOUT_SECONDS)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignored: tests kill clients in the middle of a request."""


class PausingProxy:
    """Forwards every request, on 127.0.0.1, except the one that it pauses."""

    def __init__(self, upstream: str) -> None:
        self._netloc = urlsplit(upstream).netloc
        self._pause: Pause | None = None
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                proxy._respond(self)

            do_GET = do_POST = do_PUT = do_DELETE = handle_any

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = _Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def pause(self, matches: Callable[[ProxiedRequest], bool], *, after: bool) -> Pause:
        """Pause the next request that matches; see `Pause`. It replaces an earlier pause."""
        self._pause = Pause(matches=matches, after=after)
        return self._pause

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _respond(self, call: BaseHTTPRequestHandler) -> None:
        body = call.rfile.read(int(call.headers.get("Content-Length") or 0))
        request = ProxiedRequest(method=call.command, path=call.path, body=body)
        pause = self._pause if self._pause and self._pause.applies_to(request) else None
        if pause and not pause.after:
            pause.block()
            call.close_connection = True
            return
        status, headers, content = self._forward(call, body)
        if pause:
            pause.block()
            call.close_connection = True
            return
        call.send_response(status)
        for name, value in headers:
            if name.lower() not in HOP_BY_HOP:
                call.send_header(name, value)
        if status != 204:
            call.send_header("Content-Length", str(len(content)))
        call.end_headers()
        call.wfile.write(content)

    def _forward(self, call: BaseHTTPRequestHandler, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        server = http.client.HTTPConnection(self._netloc, timeout=TIMEOUT_SECONDS)
        try:
            headers = {name: value for name, value in call.headers.items() if name.lower() not in HOP_BY_HOP}
            server.request(call.command, call.path, body=body or None, headers=headers)
            response = server.getresponse()
            return response.status, response.getheaders(), response.read()
        finally:
            server.close()
