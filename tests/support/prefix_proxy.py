"""A proxy that serves another server below a path, as many installations have one before their tools."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx

_HOP_BY_HOP = {"connection", "transfer-encoding", "keep-alive", "content-length", "content-encoding", "date", "server"}


@contextmanager
def prefix_proxy(origin: str, prefix: str) -> Iterator[str]:
    """The address below which the origin is served. The origin does not know the prefix."""
    with httpx.Client(base_url=origin, timeout=60, trust_env=False) as client:

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def forward(self) -> None:
                if not self.path.startswith(prefix + "/"):
                    self.send_error(404)
                    return
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                headers = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
                answer = client.request(self.command, self.path.removeprefix(prefix), content=body, headers=headers)
                self.send_response(answer.status_code)
                for name, value in answer.headers.multi_items():
                    if name.lower() not in _HOP_BY_HOP:
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer.content)))
                self.end_headers()
                self.wfile.write(answer.content)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = forward

            def log_message(self, format: str, *args: object) -> None:
                """Requests are not printed."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}{prefix}"
        finally:
            server.shutdown()
            server.server_close()
            thread.join()
