"""One Headgate sandbox for all tests of a session (of one xdist worker): HTTP to it, doubles and PostgreSQL around.

    def test_something(sandbox: Sandbox) -> None:
        answer = sandbox.admin.post("/sources", sandbox.source_body())

Everything is on 127.0.0.1, on ports that were free. Tests share it, so whatever they name comes from `sandbox.name()`,
and whatever they break they mend.
"""

import base64
import contextlib
import itertools
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from infra.local import doubles
from infra.local.app.addresses import StackAddresses
from infra.local.app.environment import Keys, environment
from infra.local.app.first_admin import FirstAdmin
from infra.local.process.ports import kept_ports
from infra.local.stack.layout import ROOT
from tests.support.postgresql import RunningPostgreSQL, running_postgresql
from tests.support.waiting import eventually

Json = dict[str, Any]
ADMIN = FirstAdmin(email="admin@example.com", password="correct horse battery staple", made_here=False)
PASSWORD = "another horse battery staple"
DATABASE, ROLE, ROLE_PASSWORD = "market", "capturer", "planted-capturer-password"
TARGET, WRITER, WRITER_PASSWORD = "warehouse", "writer", "planted-writer-password"
_MADE = (
    f"CREATE ROLE {ROLE} LOGIN REPLICATION PASSWORD '{ROLE_PASSWORD}'",
    f"CREATE ROLE {WRITER} LOGIN PASSWORD '{WRITER_PASSWORD}'",
    f"CREATE DATABASE {DATABASE}",
    f"CREATE DATABASE {TARGET}",
    f"GRANT CREATE ON DATABASE {DATABASE} TO {ROLE}",
)
_SOURCE_TABLES = (
    f"CREATE SCHEMA shop AUTHORIZATION {ROLE}",
    "CREATE TABLE shop.orders (id bigint PRIMARY KEY, customer text NOT NULL, amount numeric(10, 2))",
    "CREATE TABLE shop.customers (id bigint PRIMARY KEY, name text)",
    "CREATE TABLE shop.lines (order_id bigint, position int, article text)",
    "CREATE TABLE shop.paths (id bigint PRIMARY KEY, way point)",
    "INSERT INTO shop.orders SELECT n, repeat('x', 200), n FROM generate_series(1, 500) n",
    *(f"ALTER TABLE shop.{table} OWNER TO {ROLE}" for table in ("orders", "customers", "lines", "paths")),
    "ANALYZE",
)
_TARGET_SCHEMAS = (f"CREATE SCHEMA mart AUTHORIZATION {WRITER}", f"CREATE SCHEMA lake AUTHORIZATION {WRITER}")


@dataclass(frozen=True, kw_only=True)
class Api:
    """A client of the API. Every request carries a correlation id, unless a header of None takes it away."""

    http: httpx.Client

    def call(self, method: str, path: str, body: Any = None, **more: Any) -> httpx.Response:
        """One request; `path` is below /api/v1 unless it starts with two slashes."""
        where = path[1:] if path.startswith("//") else "/api/v1" + path
        headers = {"X-Correlation-ID": secrets.token_hex(8), **more.pop("headers", {})}
        kept = {name: value for name, value in headers.items() if value is not None}
        content = {"json": body} if body is not None else {}
        return self.http.request(method, where, headers=kept, **content, **more)

    def get(self, path: str, **more: Any) -> httpx.Response:
        """GET."""
        return self.call("GET", path, **more)

    def post(self, path: str, body: Any = None, **more: Any) -> httpx.Response:
        """POST."""
        return self.call("POST", path, body, **more)

    def put(self, path: str, body: Any = None, **more: Any) -> httpx.Response:
        """PUT."""
        return self.call("PUT", path, body, **more)

    def delete(self, path: str, **more: Any) -> httpx.Response:
        """DELETE."""
        return self.call("DELETE", path, **more)

    def post_ok(self, path: str, body: Any = None, status: int = 201) -> Json:
        """What a POST that must succeed answers."""
        answer = self.post(path, body)
        assert answer.status_code == status, answer.text
        return dict(answer.json())

    def get_ok(self, path: str) -> Any:
        """What a GET that must succeed answers."""
        answer = self.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()


@dataclass(kw_only=True)
class Sandbox:
    """The running sandbox."""

    url: str
    process: "subprocess.Popen[str]"
    postgresql: RunningPostgreSQL
    doubles: doubles.Doubles
    service_credential: str
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    _command_lock: threading.Lock = field(default_factory=threading.Lock)
    _cache: dict[str, Any] = field(default_factory=dict)
    _clients: list[httpx.Client] = field(default_factory=list)

    def close(self) -> None:
        """End the clients' connections."""
        for client in self._clients:
            client.close()

    # clients

    def unauthenticated(self) -> Api:
        """A client that is not signed in."""
        self._clients.append(httpx.Client(base_url=self.url, timeout=60, trust_env=False))
        return Api(http=self._clients[-1])

    def signed_in(self, email: str, password: str = PASSWORD) -> Api:
        """A client with a session of its own."""
        api = self.unauthenticated()
        assert api.post("/auth/login", {"email": email, "password": password}).status_code == 200
        return api

    @property
    def admin(self) -> Api:
        """The first Admin."""
        return self._cached("admin", lambda: self.signed_in(ADMIN.email, ADMIN.password))

    def with_role(self, role: str) -> Api:
        """Somebody with the role."""
        return self._cached(role, lambda: self.signed_in(self.make_user(role)[1]))

    # orders to the process

    def fire(self, schedule: str) -> Any:
        """Run a schedule now."""
        return self._command(command="fire", schedule=schedule)

    def make_user(self, role: str, status: str = "ACTIVE") -> tuple[str, str]:
        """The id and the address of a new user whose password is PASSWORD."""
        email = f"{self.name('user')}@example.com"
        return self._command(command="make_user", email=email, role=role, status=status, password=PASSWORD), email

    def change_user(self, user_id: str, *, role: str, status: str = "ACTIVE") -> None:
        """Another role or status."""
        self._command(command="change_user", id=user_id, role=role, status=status)

    # what people send

    def name(self, word: str) -> str:
        """A name that no other test has."""
        return f"{word}-{next(self.numbers)}"

    def config(self, database: str = DATABASE, username: str = ROLE, **changes: Any) -> Json:
        """A database of the sandbox, as a config."""
        return {
            "host": "127.0.0.1",
            "port": self.postgresql.port,
            "database_name": database,
            "username": username,
            "ssl_mode": "prefer",
            "connection_timeout_seconds": 5,
            **changes,
        }

    def source_body(self, **changes: Any) -> Json:
        """A source in good order."""
        return {
            "name": self.name("source"),
            "provider": "postgresql",
            "config": self.config(),
            "credentials": {"password": ROLE_PASSWORD},
            **changes,
        }

    def destination_body(self, **changes: Any) -> Json:
        """A destination in good order."""
        return {
            "name": self.name("destination"),
            "provider": "postgresql",
            "config": self.config(TARGET, WRITER),
            "credentials": {"password": WRITER_PASSWORD},
            **changes,
        }

    def pipeline_body(self, **changes: Any) -> Json:
        """A pipeline of two tables, on the shared source and clusters."""
        return {
            "name": self.name("pipeline"),
            "source_id": self.source["id"],
            "stream_cluster_id": self.stream["id"],
            "connect_cluster_id": self.connect["id"],
            "topic_prefix": self.name("prefix"),
            "tables": [{"schema_name": "shop", "table_name": name} for name in ("orders", "customers")],
            **changes,
        }

    def delivery_body(self, pipeline: Json, **changes: Any) -> Json:
        """A delivery of the pipeline's first topic to a table of its own."""
        return {
            "pipeline_id": pipeline["id"],
            "name": self.name("delivery"),
            "mappings": [self.mapping(pipeline["topics"][0])],
            **changes,
        }

    def mapping(self, topic: str, schema_name: str = "mart") -> Json:
        """The topic into a table that nobody else writes."""
        return {"topic": topic, "schema_name": schema_name, "table_name": self.name("table").replace("-", "_")}

    # what is registered once

    @property
    def source(self) -> Json:
        """A discovered source. Do not change it."""
        return self._cached("source", self.new_source)

    @property
    def stream(self) -> Json:
        """The broker double."""
        body = {"name": "broker", "bootstrap_servers": self.doubles.kafka}
        return self._cached("stream", lambda: self.admin.post_ok("/stream/clusters", body))

    @property
    def connect(self) -> Json:
        """The Connect double."""
        body = {"name": "workers", "base_url": self.doubles.connect, "stream_cluster_id": self.stream["id"]}
        return self._cached("connect", lambda: self.admin.post_ok("/connect/clusters", body))

    # what each test registers for itself

    def new_source(self) -> Json:
        """A source whose tables have been discovered."""
        source = self.admin.post_ok("/sources", self.source_body())
        job = self.finished_job(self.admin.post_ok(f"/sources/{source['id']}/discover", status=202))
        assert job["status"] == "COMPLETED", job
        return dict(self.admin.get_ok(f"/sources/{source['id']}"))

    def new_destination(self, **changes: Any) -> Json:
        """A destination."""
        return self.admin.post_ok("/destinations", self.destination_body(**changes))

    def new_pipeline(self, **changes: Any) -> Json:
        """A draft."""
        return self.admin.post_ok("/pipelines", self.pipeline_body(**changes))

    def running_pipeline(self, **changes: Any) -> Json:
        """A deployed pipeline; its topics are there."""
        draft = self.new_pipeline(**changes)
        answer = self.admin.post_ok(f"/pipelines/{draft['id']}/deploy", status=200)
        for topic in answer["topics"]:
            with contextlib.suppress(ValueError):
                self.doubles.kafka_double.state.create_topic(topic)
        return answer

    @property
    def destination(self) -> Json:
        """A destination. Do not change it."""
        return self._cached("destination", self.new_destination)

    @property
    def pipeline(self) -> Json:
        """A running pipeline for deliveries to read from. Do not steer it."""
        return self._cached("pipeline", self.running_pipeline)

    def new_delivery(self, destination: Json | None = None, **changes: Any) -> Json:
        """A running delivery of the shared pipeline."""
        destination = destination or self.new_destination()
        return self.admin.post_ok(
            f"/destinations/{destination['id']}/deploy", self.delivery_body(self.pipeline, **changes)
        )

    # waiting

    def finished_job(self, job: Json) -> Json:
        """The job once it is over."""
        return eventually(
            lambda: self.admin.get_ok(f"/jobs/{job['id']}"), lambda seen: seen["status"] in ("COMPLETED", "FAILED")
        )

    def audit_records(self, resource_id: str, **more: Any) -> list[Json]:
        """A resource's audit records, newest first."""
        answer = self.admin.get("/audit", params={"resource_id": resource_id, **more})
        assert answer.status_code == 200, answer.text
        return list(answer.json())

    def _cached(self, key: str, make: Callable[[], Any]) -> Any:
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]

    def _command(self, **arguments: str) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with self._command_lock:
            self.process.stdin.write(json.dumps(arguments) + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        assert answer, "the sandbox's process has ended"
        return json.loads(answer)["done"]


@contextlib.contextmanager
def _headgate(port: int, variables: dict[str, str], log: Path) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-m", "tests.support.sandbox_process", str(port)]
    with log.open("w") as errors:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    try:
        assert process.stdout is not None
        assert process.stdout.readline(), f"Headgate did not start: {log.read_text()[-3000:]}"
        yield process
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.wait(30)
        process.stdout.close()


@contextlib.contextmanager
def running_sandbox() -> Iterator[Sandbox]:
    """A sandbox of the caller's own."""
    state = Path(tempfile.mkdtemp(prefix="headgate-sandbox-"))
    port = kept_ports(state / "ports.json", ["headgate"])["headgate"]
    url, credential = f"http://127.0.0.1:{port}", secrets.token_urlsafe(24)
    keys = Keys(master_key=base64.b64encode(os.urandom(32)).decode(), service_credential=credential)
    many = {"max_replication_slots": "120", "max_wal_senders": "120", "max_connections": "300"}
    with contextlib.ExitStack() as ends:
        ends.callback(shutil.rmtree, state, ignore_errors=True)
        database = ends.enter_context(running_postgresql(many))
        _make_databases(database)
        started = doubles.start(headgate_url=url, service_credential=credential)
        ends.callback(started.stop)
        addresses = StackAddresses(kafka=started.kafka, connect=started.connect, postgres="")
        variables = environment(ADMIN, keys, addresses)
        process = ends.enter_context(_headgate(port, variables, state / "headgate.log"))
        sandbox = Sandbox(url=url, process=process, postgresql=database, doubles=started, service_credential=credential)
        ends.callback(sandbox.close)
        yield sandbox


def _make_databases(server: RunningPostgreSQL) -> None:
    for database, statements in (("postgres", _MADE), (DATABASE, _SOURCE_TABLES), (TARGET, _TARGET_SCHEMAS)):
        with server.connect(database) as connection:
            for statement in statements:
                connection.execute(statement.encode())


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """The sandbox that all tests of this worker share."""
    with running_sandbox() as running:
        yield running
