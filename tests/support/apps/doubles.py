"""Shared by tests of the doubles and tests with them: a secret endpoint, and Kafka Connect as a client sees it."""

import json
import threading
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import quote

import httpx

from tests.support.waiting import eventually

POSTGRES_SOURCE = "io.debezium.connector.postgresql.PostgresConnector"
MYSQL_SOURCE = "io.debezium.connector.mysql.MySqlConnector"
JDBC_SINK = "io.debezium.connector.jdbc.JdbcSinkConnector"


class SecretEndpoint:
    """Headgate's secret endpoint, and nothing else of it: Connect workers read the values of references here."""

    def __init__(self, *, port: int = 0, credential: str = "secret_endpoint-credential") -> None:
        self.credential = credential
        self.reads: list[str] = []
        self._secrets: dict[str, dict[str, str]] = {}
        self._port = port
        self._server: ThreadingHTTPServer | None = None
        self.open()

    @property
    def url(self) -> str:
        """The base URL; it never changes."""
        return f"http://127.0.0.1:{self._port}"

    def put(self, **fields: str) -> str:
        """Store a secret. Returns its uuid."""
        name = str(uuid.uuid4())
        self._secrets[name] = fields
        return name

    def reference(self, field_name: str, value: str) -> str:
        """Store a secret of one field. Returns the reference to it for a connector's configuration."""
        return f"${{headgate:{self.put(**{field_name: value})}:{field_name}}}"

    def open(self) -> None:
        """Listen, on the same port each time."""
        secret_endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                secret_endpoint._answer(self)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", self._port), Handler)
        self._server.daemon_threads = True
        self._port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        """Refuse every call until `open`."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def _answer(self, call: BaseHTTPRequestHandler) -> None:
        name = call.path.rpartition("/")[2]
        self.reads.append(name)
        allowed = call.headers.get("Authorization") == f"Bearer {self.credential}"
        found = self._secrets.get(name)
        status = 200 if allowed and found else 404 if allowed else 403
        body = json.dumps({"data": found} if status == 200 else {"error": {"code": "REFUSED"}}).encode()
        call.send_response(status)
        call.send_header("Content-Type", "application/json")
        call.send_header("Cache-Control", "no-store")
        call.send_header("Content-Length", str(len(body)))
        call.end_headers()
        call.wfile.write(body)


@dataclass(kw_only=True)
class ConnectView:
    """Kafka Connect as a client sees it."""

    url: str
    http: httpx.Client = field(default_factory=lambda: httpx.Client(timeout=90, trust_env=False))

    def close(self) -> None:
        self.http.close()

    def call(self, method: str, path: str, body: Any = None) -> httpx.Response:
        """One call; the body is sent as JSON."""
        return self.http.request(method, self.url + path, json=body)

    def create(self, config: Mapping[str, str], *, state: str | None = "STOPPED") -> httpx.Response:
        """POST /connectors with the name in the configuration."""
        body = {"name": config["name"], "config": dict(config), **({"initial_state": state} if state else {})}
        return self.call("POST", "/connectors", body)

    def run(self, config: Mapping[str, str]) -> None:
        """Create a connector, and wait until it runs with one task."""
        self.create(config, state="RUNNING")
        self.wait_for_states(config["name"], "RUNNING", "RUNNING")

    def validate(self, config: Mapping[str, str]) -> dict[str, list[str]]:
        """The errors that validation returns, by key. Asserts that the reported count is theirs."""
        answer = self.call("PUT", f"/connector-plugins/{config['connector.class']}/config/validate", dict(config))
        assert answer.status_code == 200, answer.text
        report = answer.json()
        found = {one["value"]["name"]: one["value"]["errors"] for one in report["configs"] if one["value"]}
        errors = {name: messages for name, messages in found.items() if messages}
        assert report["error_count"] == sum(map(len, errors.values()))
        return errors

    def states(self, name: str) -> tuple[str, list[str]]:
        """The state of the connector, and those of its tasks; ("none", []) when there is no status."""
        answer = self.call("GET", f"/connectors/{quote(name, safe='')}/status")
        if answer.status_code == 404:
            return "none", []
        status = answer.json()
        return status["connector"]["state"], [task["state"] for task in status["tasks"]]

    def wait_for_states(self, name: str, connector: str, *tasks: str) -> None:
        eventually(lambda: self.states(name), lambda seen: seen == (connector, list(tasks)))

    def trace(self, name: str) -> str:
        """The trace of task 0; empty when it has none."""
        tasks = self.call("GET", f"/connectors/{name}/status").json()["tasks"]
        return str(tasks[0].get("trace", "")) if tasks else ""

    def remove(self, name: str) -> None:
        """Delete a connector if it exists, and wait until it has no status."""
        path = f"/connectors/{quote(name, safe='')}"
        eventually(lambda: self.call("DELETE", path).status_code, lambda status: status in (204, 404))
        eventually(lambda: self.states(name)[0], lambda state: state == "none")
