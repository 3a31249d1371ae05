"""The REST API of the Connect double: routes, error bodies and planted faults."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

from infra.local.doubles.connect_faults import CallRecorder, Fault, FaultEffect, Faults, RecordedRequest
from infra.local.doubles.connect_model import STARTED, ConnectRefusal
from infra.local.doubles.connect_worker import TARGETS, Worker
from infra.local.doubles.connections import Tracked

BODY_LIMIT = 4 * 1024 * 1024
JSON = "application/json"
HTML_NOT_FOUND = (
    '<html>\n<head>\n<meta http-equiv="Content-Type" content="text/html;charset=ISO-8859-1"/>\n'
    "<title>Error 404 Not Found</title>\n</head>\n<body><h2>HTTP ERROR 404 Not Found</h2>\n</body>\n</html>\n"
)
AMBIGUOUS = re.compile("%2f|%5c|%25", re.IGNORECASE)
"""Jetty refuses these in a path: a slash, a backslash and a percent sign."""
HTML_AMBIGUOUS = HTML_NOT_FOUND.replace("404 Not Found", "400 Ambiguous URI path separator")
REBALANCE = "Cannot complete request because of a conflicting operation (e.g. worker rebalance)"
REBALANCE_EXPECTED = "Request cannot be completed because a rebalance is expected"
HEALTHY = {"status": "healthy", "message": "Worker has completed startup and is ready to handle requests."}
NAME = r"(?P<name>[^/]+)"


@dataclass(frozen=True, kw_only=True)
class HttpReply:
    """A response. The body is an object to be written as JSON, text that is sent as it is, or nothing."""

    status: int = 200
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict)
    kind: str = JSON

    def content(self) -> bytes:
        if self.body is None:
            return b""
        return (self.body if isinstance(self.body, str) else json.dumps(self.body)).encode()


@dataclass(frozen=True, kw_only=True)
class Request:
    method: str
    path: str
    query: dict[str, list[str]]
    body: bytes
    content_type: str
    base_url: str

    def flag(self, name: str) -> bool:
        """Whether a query parameter says true; anything else is false, as in Connect."""
        return self.query.get(name, ["false"])[-1].lower() == "true"

    def parsed(self) -> Any:
        """The JSON body. Refusal 500 for what Connect cannot read: it answers parse errors with 500."""
        if not self.content_type.startswith(JSON):
            raise ConnectRefusal(415, "HTTP 415 Unsupported Media Type")
        try:
            return json.loads(self.body or b"null")
        except ValueError:
            raise ConnectRefusal(500, "Unexpected character or end-of-input: expected valid JSON") from None


def error(status: int, message: str) -> HttpReply:
    """Connect's error body."""
    return HttpReply(status=status, body={"error_code": status, "message": message})


class Routes:
    """Every path that the double answers, with its methods."""

    def __init__(self, worker: Worker, identity: Mapping[str, str | None]) -> None:
        self._worker, self._identity = worker, identity
        connector, task = rf"/connectors/{NAME}", rf"/connectors/{NAME}/tasks/(?P<task>\d+)"
        table: tuple[tuple[str, str, Callable[..., HttpReply]], ...] = (
            ("GET", "/", lambda _: HttpReply(body=self._identity)),
            ("GET", "/health", lambda _: HttpReply(body=HEALTHY)),
            ("GET", "/connectors", lambda request: HttpReply(body=worker.listing(request.query.get("expand", [])))),
            ("POST", "/connectors", self._create),
            ("GET", connector, lambda _, name: HttpReply(body=worker.info(name))),
            ("DELETE", connector, self._empty(worker.delete, 204)),
            ("GET", f"{connector}/config", lambda _, name: HttpReply(body=worker.config(name))),
            ("PUT", f"{connector}/config", self._put_config),
            ("GET", f"{connector}/status", lambda _, name: HttpReply(body=worker.status(name))),
            ("PUT", f"{connector}/pause", self._empty(worker.pause, 202)),
            ("PUT", f"{connector}/resume", self._empty(worker.resume, 202)),
            ("PUT", f"{connector}/stop", self._empty(worker.stop, 204)),
            ("POST", f"{connector}/restart", self._restart),
            ("GET", f"{connector}/tasks", lambda _, name: HttpReply(body=worker.task_infos(name))),
            ("GET", f"{task}/status", lambda _, name, task: HttpReply(body=worker.task_status(name, int(task)))),
            ("POST", f"{task}/restart", self._restart_task),
            ("GET", f"{connector}/topics", lambda _, name: HttpReply(body=worker.topics(name))),
            ("PUT", f"{connector}/topics/reset", self._empty(worker.reset_topics, 202)),
            ("GET", f"{connector}/offsets", self._offsets),
            ("DELETE", f"{connector}/offsets", lambda _, name: HttpReply(body=worker.delete_offsets(name))),
            ("PATCH", f"{connector}/offsets", self._alter_offsets),
            ("GET", "/connector-plugins", lambda _: HttpReply(body=worker.plugin_listing())),
            ("PUT", r"/connector-plugins/(?P<name>[^/]+)/config/validate", self._validate),
        )
        self._table = [(method, re.compile(pattern), answer) for method, pattern, answer in table]

    def answer(self, request: Request) -> HttpReply:
        """Connect's answer to a request; refusals become their status and body."""
        has_path = False
        for method, pattern, handler in self._table:
            match = pattern.fullmatch(request.path)
            if match and method == request.method:
                try:
                    return handler(request, **{key: unquote(value) for key, value in match.groupdict().items()})
                except ConnectRefusal as refusal:
                    return error(refusal.status, refusal.message)
            has_path = has_path or match is not None
        return error(405, "HTTP 405 Method Not Allowed") if has_path else error(404, "HTTP 404 Not Found")

    @staticmethod
    def _empty(action: Callable[[str], None], status: int) -> Callable[[Request, str], HttpReply]:
        def run(_: Request, name: str) -> HttpReply:
            action(name)
            return HttpReply(status=status)

        return run

    def _create(self, request: Request) -> HttpReply:
        body = request.parsed()
        if not isinstance(body, dict) or not body.keys() <= {"name", "config", "initial_state"}:
            raise ConnectRefusal(500, "Cannot deserialize value of type `CreateConnectorRequest`")
        state = body.get("initial_state")
        if state is not None and str(state).upper() not in TARGETS:
            raise ConnectRefusal(500, f"No enum constant CreateConnectorRequest.InitialState.{state}")
        config = _config(body.get("config"))
        name = str(body.get("name") or config.get("name", "")).strip()
        info = self._worker.create(name, config, TARGETS[str(state).upper()] if state else STARTED)
        return HttpReply(status=201, body=info, headers=_location(request, name))

    def _put_config(self, request: Request, name: str) -> HttpReply:
        status, info = self._worker.put_config(name, _config(request.parsed()))
        location = _location(request, name) if status == 201 else {}
        return HttpReply(status=status, body=info, headers=location)

    def _validate(self, request: Request, name: str) -> HttpReply:
        return HttpReply(body=self._worker.validate(name, _config(request.parsed())))

    def _restart(self, request: Request, name: str) -> HttpReply:
        include_tasks, only_failed = request.flag("includeTasks"), request.flag("onlyFailed")
        if not include_tasks and not only_failed:
            self._worker.restart(name)
            return HttpReply(status=204)
        plan = self._worker.restart_planned(name, include_tasks=include_tasks, only_failed=only_failed)
        return HttpReply(status=202, body=plan)

    def _offsets(self, _request: Request, name: str) -> HttpReply:
        if str(self._identity["version"]).startswith(("2.", "3.0", "3.1.", "3.2", "3.3", "3.4", "3.5")):
            raise ConnectRefusal(404, "HTTP 404 Not Found")  # KIP-875 came with 3.6
        return HttpReply(body=self._worker.offsets(name))

    def _alter_offsets(self, request: Request, name: str) -> HttpReply:
        body = request.parsed()
        offsets = body.get("offsets") if isinstance(body, dict) else None
        if not isinstance(offsets, list) or not offsets:
            raise ConnectRefusal(400, "Partitions / offsets need to be provided for an alter offsets request")
        return HttpReply(body=self._worker.alter_offsets(name, offsets))

    def _restart_task(self, _: Request, name: str, task: str) -> HttpReply:
        self._worker.restart_task(name, int(task))
        return HttpReply(status=204)


def _location(request: Request, name: str) -> dict[str, str]:
    return {"Location": f"{request.base_url}/connectors/{quote(name, safe='')}"}


def _config(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        raise ConnectRefusal(500, "Cannot deserialize value of type `java.util.Map`")
    return {str(key): _text(text) for key, text in value.items() if text is not None}


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


class Handler(BaseHTTPRequestHandler):
    """One connection: reads requests, applies faults, answers."""

    protocol_version = "HTTP/1.1"
    server_version = "Jetty(12.0.25)"
    sys_version = ""
    disable_nagle_algorithm = True
    wbufsize = -1
    server: "Server"

    def handle_any(self) -> None:
        request = self._request()
        if request is None:
            return
        query = urlsplit(self.path).query
        fault = self.server.faults.apply(request.method, request.path)
        answer = self._faulty(request, fault) if fault else self._applied(request)
        status = answer.status if answer else None
        self.server.recorder.note(RecordedRequest(method=request.method, path=request.path, query=query, status=status))
        if answer is None:
            self.close_connection = True
        else:
            self._write(answer)

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = do_OPTIONS = handle_any

    def _applied(self, request: Request) -> HttpReply:
        if not self.server.ready:
            return HttpReply(status=404, body=HTML_NOT_FOUND, kind="text/html;charset=iso-8859-1")
        if AMBIGUOUS.search(request.path):
            return HttpReply(status=400, body=HTML_AMBIGUOUS, kind="text/html;charset=iso-8859-1")
        return self.server.routes.answer(request)

    def _faulty(self, request: Request, fault: Fault) -> HttpReply | None:
        match fault.effect:
            case FaultEffect.LOSE_REPLY:
                self._applied(request)
                return None
            case FaultEffect.APPLY_LATE:
                self.server.later(fault.delay_seconds, lambda: self._applied(request))
                return None
            case FaultEffect.HANG:
                fault.released.wait()
                return None
            case FaultEffect.SLOW:
                fault.released.wait(fault.delay_seconds)
                return self._applied(request)
            case FaultEffect.TIMED_OUT_APPLIED:
                self._applied(request)
                return error(500, "Request timed out")
            case _:
                return CANNED.get(fault.effect) or HttpReply(body=fault.body)

    def _request(self) -> Request | None:
        try:
            length = int(self.headers.get("Content-Length") or 0)
        except ValueError:
            length = -1
        if not 0 <= length <= BODY_LIMIT:
            self.close_connection = True
            self._write(error(413 if length > 0 else 400, "HTTP 413 Request Entity Too Large"))
            return None
        parts = urlsplit(self.path)
        return Request(
            method=self.command,
            path=parts.path.rstrip("/") or "/",
            query=parse_qs(parts.query),
            body=self.rfile.read(length),
            content_type=self.headers.get("Content-Type", ""),
            base_url=self.server.url,
        )

    def _write(self, answer: HttpReply) -> None:
        content = answer.content()
        self.send_response(answer.status)
        if content:
            self.send_header("Content-Type", answer.kind)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.status != 204:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: tests read the recorder."""


CANNED = {
    FaultEffect.REBALANCE: error(409, REBALANCE),
    FaultEffect.REBALANCE_EXPECTED: error(500, REBALANCE_EXPECTED),
    FaultEffect.TIMED_OUT: error(500, "Request timed out"),
    FaultEffect.NOT_READY: HttpReply(status=404, body=HTML_NOT_FOUND, kind="text/html;charset=iso-8859-1"),
    FaultEffect.GARBAGE: HttpReply(body='{"unfinished": ['),
}


class Server(Tracked):
    """The listening socket and what handlers share. `ready` is false while the worker behind it is starting."""

    def __init__(
        self,
        port: int,
        *,
        routes: Routes,
        faults: Faults,
        recorder: CallRecorder,
        later: Callable[[float, Callable[[], object]], None],
    ) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.routes, self.faults, self.recorder, self.later = routes, faults, recorder, later
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.ready = True
