"""A Connect worker that answers from a script, for rare failures: HTML pages, no response, broken connections."""

import json
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from chalicelib.clients.connect.client import Connect, FieldError
from chalicelib.clients.http.addresses import AddressPolicy
from chalicelib.domain.addresses import ConnectAddress
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret

SECRET = "hunter2-in-a-trace"
WORKER_ID = "10.0.0.1:8083"
NAME = "headgate-source-00000000000040008000000000000001"
CONFIG = {"connector.class": "x.Source", "tasks.max": "1", "database.hostname": "db"}
JETTY_404 = "<html><head><title>Error 404 Not Found</title></head><body>HTTP ERROR 404</body></html>"


@dataclass(frozen=True)
class Reply:
    """One scripted answer. `after` is called once the request is read and before anything is written."""

    status: int = 200
    body: Any = None
    type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    after: Callable[[socket.socket], None] | None = None


def refusal(status: int, message: str = SECRET) -> Reply:
    return Reply(status, {"error_code": status, "message": message})


def html(status: int, text: str = JETTY_404) -> Reply:
    return Reply(status, text, "text/html;charset=iso-8859-1")


def reset(connection: socket.socket) -> None:
    """Closes the connection instead of answering."""
    connection.shutdown(socket.SHUT_RDWR)


def silence(worker: "Worker") -> Callable[[socket.socket], None]:
    """Sends nothing until the test ends, for 20 s at most."""
    released = worker.released

    def wait(_: socket.socket) -> None:
        released.wait(20)

    return wait


class Worker:
    """A small HTTP server that answers from a script: `(method, path)` to replies, the last of which repeats."""

    def __init__(self) -> None:
        self.reset()
        worker = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def answer(self) -> None:
                worker.answer(self)

            do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = answer

            def log_message(self, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def reset(self) -> None:
        """Removes the script and all recorded requests, for the next test."""
        self.script: dict[tuple[str, str], list[Reply]] = {}
        self.seen: list[tuple[str, str]] = []
        self.bodies: list[Any] = []
        self.headers: list[dict[str, str]] = []
        self.connections: set[int] = set()
        self.released = threading.Event()
        self.on("GET", "/", Reply(body={"version": "4.3.1", "commit": "c", "kafka_cluster_id": "kafka-1"}))

    def on(self, method: str, path: str, *replies: Reply) -> None:
        self.script[method, path] = list(replies)

    def count(self, method: str, path: str) -> int:
        return self.seen.count((method, path))

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("Content-Length") or 0)
        body = handler.rfile.read(length)
        self.seen.append((handler.command, handler.path))
        is_form = handler.headers.get("Content-Type") == "application/x-www-form-urlencoded"
        self.bodies.append(body.decode() if is_form else json.loads(body) if body else None)
        self.headers.append({key.lower(): value for key, value in handler.headers.items()})
        self.connections.add(id(handler))
        replies = self.script.get((handler.command, handler.path)) or [html(404)]
        reply = replies.pop(0) if len(replies) > 1 else replies[0]
        if reply.after:
            reply.after(handler.connection)
        self.write(handler, reply)

    def write(self, handler: BaseHTTPRequestHandler, reply: Reply) -> None:
        text = reply.body if isinstance(reply.body, (str, bytes)) else json.dumps(reply.body)
        content = b"" if reply.body is None else text.encode() if isinstance(text, str) else text
        try:
            handler.send_response(reply.status)
            for key, value in {
                "Content-Type": reply.type,
                "Content-Length": str(len(content)),
                **reply.headers,
            }.items():
                handler.send_header(key, value)
            handler.end_headers()
            handler.wfile.write(content)
        except OSError:
            handler.close_connection = True

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def connect_at(url: str, username: str | None = None, password: Secret | None = None, **changes: Any) -> Connect:
    return Connect(
        connect_endpoint(url, username, password),
        **{"check_host": AddressPolicy(allow_loopback=True), "sleep": lambda _: None, **changes},
    )


def connect_endpoint(
    url: str, username: str | None = None, password: Secret | None = None
) -> OpenedEndpoint[ConnectAddress]:
    return OpenedEndpoint.unsaved(ConnectAddress(base_url=url, username=username), {"password": password})


def short_deadline(seconds: float = 5) -> Deadline:
    return Deadline.after(seconds)


def status_body(state: str = "RUNNING", *tasks: str, trace: str | None = None, type_: str = "source") -> dict[str, Any]:
    trace_field = {"trace": trace} if trace else {}
    return {
        "name": NAME,
        "connector": {"state": state, "worker_id": WORKER_ID},
        "tasks": [{"id": i, "state": task, "worker_id": WORKER_ID, **trace_field} for i, task in enumerate(tasks)],
        "type": type_,
    }


Read = Callable[[Connect, Deadline], object]
READS: dict[str, tuple[str, Read]] = {
    "root": ("/", lambda c, d: c.root(d)),
    "plugins": ("/connector-plugins", lambda c, d: c.plugins(d)),
    "config": (f"/connectors/{NAME}/config", lambda c, d: c.find_config(NAME, d)),
    "status": (f"/connectors/{NAME}/status", lambda c, d: c.find_status(NAME, d)),
    "statuses": ("/connectors?expand=status", lambda c, d: c.statuses(d)),
    "connectors": ("/connectors?expand=status&expand=info", lambda c, d: c.connectors(d)),
    "topics": (f"/connectors/{NAME}/topics", lambda c, d: c.topics(NAME, d)),
}

HOSTILE: list[Any] = [
    None,
    7,
    "text",
    [],
    [[]],
    {"error_code": True},
    {"version": 7, "kafka_cluster_id": []},
    "[" * 100_000,
    '{"a":' * 100_000,
    "9" * 5000,
    "{",
    b"\xff\xfe\x00",
    "<html>",
    {"connector": {"state": "RUNNING"}},
    {"tasks": [{"id": 10**30}], "connector": {}},
    {"a": {"b": {"c": 1}}},
    {NAME: {"topics": "x"}},
]


VALIDATE = "/connector-plugins/x.Source/config/validate"


def validate(connect: Connect) -> tuple[FieldError, ...]:
    return connect.validate("x.Source", {**CONFIG, "name": NAME}, short_deadline())


def validated(*values: Any, count: int | None = None) -> Reply:
    configs = [{"definition": None, "value": value} for value in values]
    return Reply(body={"name": "x", "error_count": len(values) if count is None else count, "configs": configs})
