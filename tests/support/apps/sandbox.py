"""One Headgate sandbox for all tests of a session (of one xdist worker), with doubles and a PostgreSQL.

    def test_something(sandbox: Sandbox) -> None:
        answer = sandbox.admin.post("/sources", sandbox.source_body())

Everything listens on 127.0.0.1, on free ports. Tests share it: they take names from `sandbox.name()`, and repair what
they break.
"""

import contextlib
import itertools
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from chalicelib.domain.accounts.user import ABSOLUTE
from infra.local import doubles
from infra.local.doubles.notification_receivers import NotificationReceiver
from tests.support.apps.sandbox_stack import (
    ADMIN,
    DATABASE,
    ROLE,
    ROLE_PASSWORD,
    TARGET,
    WRITER,
    WRITER_PASSWORD,
    running_stack,
)
from tests.support.databases.postgresql import RunningPostgreSQL
from tests.support.documented_errors import check_documented
from tests.support.servers import PythonProcess, python_process
from tests.support.waiting import eventually

Json = dict[str, Any]
PASSWORD = "another horse battery staple"


@dataclass(frozen=True, kw_only=True)
class Api:
    """A client of the API. Every request has a correlation id, unless the header is set to None."""

    http: httpx.Client

    def call(self, method: str, path: str, body: Any = None, **more: Any) -> httpx.Response:
        """One request; `path` is below /api/v1 unless it starts with two slashes. It may have a query."""
        # httpx puts `params` in the place of a query that the path has.
        below = httpx.URL(path[1:] if path.startswith("//") else "/api/v1" + path)
        where = below.copy_merge_params(more.pop("params", None) or {})
        headers = {"X-Correlation-ID": secrets.token_hex(8), **more.pop("headers", {})}
        sent = {name: value for name, value in headers.items() if value is not None}
        content = {"json": body} if body is not None else {}
        response = self.http.request(method, where, headers=sent, **content, **more)
        check_documented(str(self.http.base_url), method, response.request.url.path, response)
        return response

    def get(self, path: str, **more: Any) -> httpx.Response:
        return self.call("GET", path, **more)

    def post(self, path: str, body: Any = None, **more: Any) -> httpx.Response:
        return self.call("POST", path, body, **more)

    def put(self, path: str, body: Any = None, **more: Any) -> httpx.Response:
        return self.call("PUT", path, body, **more)

    def delete(self, path: str, **more: Any) -> httpx.Response:
        return self.call("DELETE", path, **more)

    def post_ok(self, path: str, body: Any = None, status: int = 201) -> Json:
        """The body of a POST that must have this status."""
        response = self.post(path, body)
        assert response.status_code == status, response.text
        return dict(response.json())

    def get_ok(self, path: str) -> Any:
        """The body of a GET that must have status 200."""
        response = self.get(path)
        assert response.status_code == 200, response.text
        return response.json()


@dataclass(kw_only=True)
class Sandbox:
    url: str
    process: PythonProcess
    postgresql: RunningPostgreSQL
    doubles: doubles.Doubles
    service_credential: str
    chat: NotificationReceiver
    bot: NotificationReceiver
    log: Path
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    _cache: dict[str, Any] = field(default_factory=dict)
    _clients: list[httpx.Client] = field(default_factory=list)

    def close(self) -> None:
        for client in self._clients:
            client.close()

    # clients

    def unauthenticated(self) -> Api:
        self._clients.append(httpx.Client(base_url=self.url, timeout=60, trust_env=False))
        return Api(http=self._clients[-1])

    def signed_in(self, email: str, password: str = PASSWORD) -> Api:
        api = self.unauthenticated()
        assert api.post("/auth/login", {"email": email, "password": password}).status_code == 200
        return api

    @property
    def admin(self) -> Api:
        return self.cached("admin", lambda: self.signed_in(ADMIN.email, ADMIN.password))

    def with_role(self, role: str) -> Api:
        return self.cached(role, lambda: self.signed_in(self.make_user(role)[1]))

    # commands to the process

    def fire(self, schedule: str) -> Any:
        return self._run_command("fire", schedule=schedule)

    def make_user(self, role: str, status: str = "ACTIVE") -> tuple[str, str]:
        """The id and the address of a new user whose password is PASSWORD."""
        email = f"{self.name('user')}@example.com"
        return self._run_command("make_user", email=email, role=role, status=status, password=PASSWORD), email

    def change_user(self, user_id: str, *, role: str, status: str = "ACTIVE") -> None:
        self._run_command("change_user", id=user_id, role=role, status=status)

    def seal(self) -> None:
        """From now on Headgate reaches no host but this one: for requests whose addresses are generated."""
        self._run_command("seal")

    def age_sessions(self, user_id: str, seconds: float = ABSOLUTE.total_seconds()) -> None:
        """Let the user's sessions, and their last use, be so much older; without `seconds` they have ended."""
        self._run_command("age_sessions", id=user_id, seconds=str(seconds))

    def serve_console(self, folder: Path) -> None:
        """From now on the built files of the console are those of the folder, as after a new release."""
        self._run_command("serve_console", folder=str(folder))

    def log_text(self) -> str:
        """What Headgate has written to its log."""
        return self.log.read_text()

    def seed_drafts(self, count: int) -> None:
        """Stores so many drafts of pipelines, past the API. Their names begin with `deployed`."""
        ends = {"source_id": self.source["id"], "connect_cluster_id": self.connect["id"]}
        self._run_command("seed_drafts", count=str(count), **ends)

    def seed_histories(self, run_ids: Sequence[str], minutes: int) -> None:
        """Stores a sample of each of the last minutes of these pipelines and deliveries, and of the source's log.

        Minutes that have samples of any stay as they are: seed all of them at once.
        """
        owners = {"source_id": self.source["id"], "connect_cluster_id": self.connect["id"]}
        self._run_command("seed_histories", ids=",".join(run_ids), minutes=str(minutes), **owners)

    # request bodies

    def name(self, prefix: str) -> str:
        """A name that no other test uses."""
        return f"{prefix}-{next(self.numbers)}"

    def config(self, database: str = DATABASE, username: str = ROLE, **changes: Any) -> Json:
        return {
            "host": "127.0.0.1",
            "port": self.postgresql.port,
            "database_name": database,
            "username": username,
            "ssl_mode": "prefer",
            "connection_timeout_seconds": 5,
            **changes,
        }

    def new_role(self, prefix: str, password: str) -> str:
        """A role that may do everything, with a database of its name that has the schema mart and the table notes."""
        role = self.name(prefix).replace("-", "_")
        with self.postgresql.connect() as admin:
            admin.execute(f"CREATE ROLE {role} SUPERUSER LOGIN PASSWORD '{password}'".encode())
            admin.execute(f"CREATE DATABASE {role}".encode())
        with self.postgresql.connect(role) as admin:
            admin.execute(b"CREATE SCHEMA mart")
            admin.execute(b"CREATE TABLE notes (id bigint PRIMARY KEY)")
        return role

    def change_password(self, role: str, password: str) -> None:
        with self.postgresql.connect() as admin:
            admin.execute(f"ALTER ROLE {role} PASSWORD '{password}'".encode())

    def source_body(self, **changes: Any) -> Json:
        """A source that is ready for capture."""
        return {
            "name": self.name("source"),
            "provider": "postgresql",
            "config": self.config(),
            "credentials": {"password": ROLE_PASSWORD},
            **changes,
        }

    def destination_body(self, **changes: Any) -> Json:
        """A destination that works."""
        return {
            "name": self.name("destination"),
            "provider": "postgresql",
            "config": self.config(TARGET, WRITER),
            "credentials": {"password": WRITER_PASSWORD},
            **changes,
        }

    def connection_body(self, **changes: Any) -> Json:
        """A connection to the database that is captured from."""
        return self.source_body(**{"name": self.name("connection"), **changes})

    def database_bodies(self) -> tuple[tuple[str, Json], ...]:
        """The path of each kind of resource with an address of a database, and a body for it."""
        return (
            ("/sources", self.source_body()),
            ("/destinations", self.destination_body()),
            ("/connections", self.connection_body()),
        )

    def using_body(self, connection: Json, **changes: Any) -> Json:
        """A source or destination that uses a connection."""
        return {"name": self.name("using"), "connection_id": connection["id"], **changes}

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
        """A mapping of the topic to a table that no other delivery writes."""
        return {"topic": topic, "schema_name": schema_name, "table_name": self.name("table").replace("-", "_")}

    # shared resources, registered on first use

    @property
    def source(self) -> Json:
        """A discovered source. Do not change it."""
        return self.cached("source", self.new_source)

    @property
    def connection(self) -> Json:
        """A connection. Do not change it."""
        return self.cached("connection", lambda: self.admin.post_ok("/connections", self.connection_body()))

    @property
    def stream(self) -> Json:
        """The broker double."""
        body = {"name": "broker", "bootstrap_servers": self.doubles.kafka}
        return self.cached("stream", lambda: self.admin.post_ok("/stream/clusters", body))

    @property
    def connect(self) -> Json:
        """The Connect double."""
        body = {"name": "workers", "base_url": self.doubles.connect, "stream_cluster_id": self.stream["id"]}
        return self.cached("connect", lambda: self.admin.post_ok("/connect/clusters", body))

    # new resources for one test

    def new_source(self) -> Json:
        """A source whose tables have been discovered."""
        source = self.admin.post_ok("/sources", self.source_body())
        job = self.finished_job(self.admin.post_ok(f"/sources/{source['id']}/discover", status=202))
        assert job["status"] == "COMPLETED", job
        return dict(self.admin.get_ok(f"/sources/{source['id']}"))

    def new_destination(self, **changes: Any) -> Json:
        return self.admin.post_ok("/destinations", self.destination_body(**changes))

    def new_pipeline(self, **changes: Any) -> Json:
        return self.admin.post_ok("/pipelines", self.pipeline_body(**changes))

    def running_pipeline(self, **changes: Any) -> Json:
        """A deployed pipeline whose topics exist."""
        draft = self.new_pipeline(**changes)
        response = self.admin.post_ok(f"/pipelines/{draft['id']}/deploy", status=200)
        for topic in response["topics"]:
            with contextlib.suppress(ValueError):
                self.doubles.kafka_double.state.create_topic(topic)
        return response

    @property
    def destination(self) -> Json:
        """A destination. Do not change it."""
        return self.cached("destination", self.new_destination)

    @property
    def pipeline(self) -> Json:
        """A running pipeline for deliveries to read from. Do not pause, restart or delete it."""
        return self.cached("pipeline", self.running_pipeline)

    def new_delivery(self, destination: Json | None = None, **changes: Any) -> Json:
        """A running delivery of the shared pipeline."""
        destination = destination or self.new_destination()
        return self.admin.post_ok(
            f"/destinations/{destination['id']}/deploy", self.delivery_body(self.pipeline, **changes)
        )

    # waiting

    def finished_job(self, job: Json) -> Json:
        return eventually(
            lambda: self.admin.get_ok(f"/jobs/{job['id']}"), lambda seen: seen["status"] in ("COMPLETED", "FAILED")
        )

    # reading

    def listed(self, path: str) -> list[Json]:
        """Everything in a list, page after page."""
        response = self.admin.get(path)
        found = list(response.json())
        while cursor := response.headers.get("X-Next-Cursor"):
            response = self.admin.get(path, params={"cursor": cursor})
            found += response.json()
        return found

    def ids(self, path: str) -> set[str]:
        """The ids of a list. Schedules may change or remove entries at any time, so tests compare with `<=`."""
        return {entry["id"] for entry in self.listed(path)}

    def audit_records(self, resource_id: str, **more: Any) -> list[Json]:
        """A resource's audit records, newest first."""
        response = self.admin.get("/audit", params={"resource_id": resource_id, **more})
        assert response.status_code == 200, response.text
        return list(response.json())

    def cached(self, key: str, make: Callable[[], Any]) -> Any:
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]

    def _run_command(self, name: str, **arguments: str) -> Any:
        return self.process.ask({"command": name, **arguments})["result"]


@contextlib.contextmanager
def running_process(port: int, variables: Mapping[str, str], log: Path) -> Iterator[PythonProcess]:
    """Headgate in a process of its own (`sandbox_process`)."""
    with python_process("tests.support.apps.sandbox_process", str(port), variables=variables, log=log) as process:
        process.read()
        yield process


@contextlib.contextmanager
def running_sandbox() -> Iterator[Sandbox]:
    """A new sandbox, for the caller only."""
    state = Path(tempfile.mkdtemp(prefix="headgate-sandbox-"))
    with contextlib.ExitStack() as ends:
        ends.callback(shutil.rmtree, state, ignore_errors=True)
        stack = ends.enter_context(running_stack(state))
        process = ends.enter_context(running_process(stack.port, stack.variables, state / "headgate.log"))
        sandbox = Sandbox(
            url=f"http://127.0.0.1:{stack.port}",
            process=process,
            postgresql=stack.postgresql,
            doubles=stack.doubles,
            service_credential=stack.service_credential,
            chat=stack.chat,
            bot=stack.bot,
            log=state / "headgate.log",
        )
        ends.callback(sandbox.close)
        yield sandbox


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """The sandbox that all tests of this worker share."""
    with running_sandbox() as running:
        yield running
