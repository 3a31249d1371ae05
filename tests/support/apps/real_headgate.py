"""Headgate on the real stack, and the steps of its main job as a user takes them through the REST API."""

import base64
import itertools
import json
import os
import secrets
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol
from urllib.parse import urlsplit

import boto3
import httpx
import psycopg
import pytest
from psycopg.sql import SQL, Identifier, Literal

from chalicelib.domain.monitoring.target_tables import LOOKS_APART
from chalicelib.kit.clock import rfc3339, utc_now
from infra.local.app.environment import Keys, environment
from infra.local.app.first_admin import FirstAdmin
from infra.local.doubles.authority import Authority
from infra.local.doubles.notification_receivers import Kind as NotificationKind
from infra.local.doubles.notification_receivers import NotificationReceiver
from infra.local.process.processes import ServerPlan, ServerProcess
from infra.local.stack import readiness_probes
from infra.local.stack.layout import ROOT
from infra.local.stack.real_stack import RealStack
from tests.support.real import RealStackInUse
from tests.support.servers import running_server
from tests.support.waiting import eventually

Json = dict[str, Any]
ADMIN = FirstAdmin(email="admin@example.com", password="correct horse battery staple", made_here=False)
BETWEEN_TICKS = 5
"""Seconds. Every half a minute one of them measures."""

_numbers = itertools.count(1)


@dataclass(frozen=True, kw_only=True)
class RealDatabase:
    """A database on the stack's PostgreSQL or on another server, and the account that Headgate signs in with."""

    provider: ClassVar[str] = "postgresql"

    host: str
    port: int
    name: str
    username: str
    password: str = field(repr=False)
    superuser: str = field(repr=False)
    """Connection string of the superuser, for the test itself."""

    @property
    def config(self) -> Json:
        """The `config` of a source or destination, with a short time limit for tests of unreachable servers."""
        return {
            "host": self.host,
            "port": self.port,
            "database_name": self.name,
            "username": self.username,
            "connection_timeout_seconds": 3,
        }

    @property
    def credentials(self) -> Json:
        return {"password": self.password}

    def run(self, *statements: str) -> list[tuple[Any, ...]]:
        """Runs statements as the superuser, each in its own transaction; `{role}` is replaced by the account's name.

        Returns the rows of the last statement.
        """
        rows: list[tuple[Any, ...]] = []
        with psycopg.connect(self.superuser, dbname=self.name, autocommit=True, connect_timeout=10) as connection:
            for statement in statements:
                done = connection.execute(statement.replace("{role}", self.username).encode())
                rows = done.fetchall() if done.description else []
        return rows

    def content(self, schema: str, table: str, columns: Sequence[str]) -> list[str] | str:
        """Every row as text, ordered; the name of the error when the table or one of its columns does not exist."""
        row = SQL(", ").join(SQL("{}::text").format(Identifier(column)) for column in columns)
        query = SQL("SELECT ROW({})::text AS line FROM {} ORDER BY line").format(row, Identifier(schema, table))
        with psycopg.connect(self.superuser, dbname=self.name, connect_timeout=10) as connection:
            try:
                return [line for (line,) in connection.execute(query)]
            except psycopg.ProgrammingError as error:
                return type(error).__name__


def new_database(superuser: str, purpose: str, *statements: str) -> RealDatabase:
    """A new database with an account that may replicate, may create in it, and owns schema `shop`.

    `superuser`: the connection string of its server's superuser, who runs the statements in the new database.
    """
    number = next(_numbers)
    database = RealDatabase(
        host="127.0.0.1",
        port=urlsplit(superuser).port or 5432,
        name=f"{purpose}{number}",
        username=f"{purpose}_role{number}",
        password=secrets.token_urlsafe(12),
        superuser=superuser,
    )
    with psycopg.connect(superuser, autocommit=True, connect_timeout=10) as connection:
        connection.execute(
            SQL("CREATE ROLE {} LOGIN REPLICATION PASSWORD {}").format(
                Identifier(database.username), Literal(database.password)
            )
        )
        connection.execute(SQL("CREATE DATABASE {}").format(Identifier(database.name)))
    database.run(
        f"GRANT CREATE ON DATABASE {database.name} TO {{role}}",
        "CREATE SCHEMA shop AUTHORIZATION {role}",
        *statements,
    )
    return database


class RegisteredDatabase(Protocol):
    """A database of any kind, as it is registered."""

    @property
    def provider(self) -> str: ...

    @property
    def config(self) -> Json: ...

    @property
    def credentials(self) -> Json: ...


@dataclass(frozen=True, kw_only=True)
class RealHeadgate:
    """A running Headgate on a running stack, signed in as Admin."""

    stack: RealStack
    process: ServerProcess
    service_credential: str = field(repr=False)
    client: httpx.Client = field(repr=False)
    chat: NotificationReceiver | None = None
    """The chat service that this Headgate sends to; None where a test needs none."""
    stream_cluster_id: str = ""
    connect_cluster_id: str = ""

    def call(self, method: str, path: str, body: Any = None, *, expect: int | Sequence[int] = (200, 201, 202)) -> Any:
        """One request; the body of the response, which must have the expected status."""
        response = self.client.request(method, path, json=body)
        expected = [expect] if isinstance(expect, int) else expect
        assert response.status_code in expected, f"{method} {path}: {response.status_code} {response.text[:3000]}"
        return response.json() if response.content else None

    def get(self, path: str, **more: Any) -> Any:
        return self.call("GET", path, **more)

    def post(self, path: str, body: Any = None, **more: Any) -> Any:
        return self.call("POST", path, body, **more)

    def refused(self, path: str, body: Any = None, *, status: int = 422) -> Json:
        """The error of a POST that must be refused, within the 25 seconds that the API promises."""
        start = time.monotonic()
        error = self.post(path, body, expect=status)["error"]
        assert time.monotonic() - start < 25
        return dict(error)

    # databases

    def database(self, purpose: str, *statements: str, server: str | None = None) -> RealDatabase:
        """A new database as `new_database` makes it, on the stack's PostgreSQL or on another server."""
        return new_database(server or self.stack.addresses.postgres, purpose, *statements)

    # the main job

    def source(self, database: RegisteredDatabase, **config: Any) -> Json:
        return dict(self.post("/sources", _system_body("source", database, config)))

    def discover(self, source: Json) -> dict[str, Json]:
        """Discovers the source's tables: `schema.table` to table."""
        job = self.post(f"/sources/{source['id']}/discover")
        done = eventually(lambda: self.get(f"/jobs/{job['id']}"), lambda job: job["status"] in ("COMPLETED", "FAILED"))
        assert done["status"] == "COMPLETED", done
        tables = self.get(f"/sources/{source['id']}/tables")
        return {f"{table['schema_name']}.{table['table_name']}": table for table in tables}

    def pipeline_body(self, source: Json, tables: Sequence[tuple[str, str]], **more: Any) -> Json:
        number = next(_numbers)
        return {
            "name": f"pipeline {number}",
            "source_id": source["id"],
            "stream_cluster_id": self.stream_cluster_id,
            "connect_cluster_id": self.connect_cluster_id,
            "topic_prefix": f"p{number}",
            "tables": [{"schema_name": schema, "table_name": table} for schema, table in tables],
            **more,
        }

    def pipeline(self, source: Json, tables: Sequence[tuple[str, str]], **more: Any) -> Json:
        return dict(self.post("/pipelines", self.pipeline_body(source, tables, **more)))

    def deploy(self, pipeline: Json) -> Json:
        """Deploys a pipeline and waits until it runs."""
        self.post(f"/pipelines/{pipeline['id']}/deploy")
        return self.until_state(f"/pipelines/{pipeline['id']}/status", "RUNNING")

    def captured(self, database: RegisteredDatabase, *tables: str, schema: str = "shop") -> Json:
        """A pipeline that runs over these tables, on a source that is registered for it."""
        source = self.source(database)
        self.discover(source)
        pipeline = self.pipeline(source, [(schema, table) for table in tables])
        self.deploy(pipeline)
        return pipeline

    def until_state(self, path: str, *states: str, within: float = 40.0) -> Json:
        return eventually(lambda: dict(self.get(path)), lambda seen: seen["observed_state"] in states, seconds=within)

    def destination(self, database: RegisteredDatabase) -> Json:
        return dict(self.post("/destinations", _system_body("destination", database, {})))

    def delivery_body(self, pipeline: Json, tables: Mapping[str, str], schema: str = "shop", **more: Any) -> Json:
        """The input of a delivery; `tables` are topics of the pipeline to target tables."""
        return {
            "pipeline_id": pipeline["id"],
            "name": f"delivery {next(_numbers)}",
            "mappings": [
                {"topic": topic, "schema_name": schema, "table_name": table} for topic, table in tables.items()
            ],
            **more,
        }

    def deliver(self, destination: Json, body: Json) -> Json:
        """Deploys a delivery when its topics exist, and waits until it runs."""
        self.until_topics(body)
        delivery = self.post(f"/destinations/{destination['id']}/deploy", body)
        self.until_state(f"/deliveries/{delivery['id']}/status", "RUNNING")
        return dict(delivery)

    def until_topics(self, body: Json) -> None:
        """Waits until the snapshot has created every topic that the delivery maps."""
        for mapping in body["mappings"]:
            self.until_records(mapping["topic"], 1)

    def until_records(self, topic: str, count: int) -> None:
        eventually(lambda: self.records(topic), lambda seen: seen >= count)

    def records(self, topic: str) -> int:
        """How many records were ever written to the topic; 0 when there is no such topic."""
        from confluent_kafka import Consumer

        from tests.support.topic_ends import end_offset

        consumer = Consumer({"bootstrap.servers": self.stack.addresses.kafka, "group.id": "counting", "log_level": 0})
        try:
            partitions = consumer.list_topics(timeout=10).topics
            ids = partitions[topic].partitions if topic in partitions else ()
            return sum(end_offset(consumer, topic, at) for at in ids)
        finally:
            consumer.close()

    def delete(self, path: str) -> None:
        """Deletes a resource, and waits until it no longer exists."""
        self.call("DELETE", path, expect=(204, 202))
        eventually(lambda: self.client.get(path).status_code, lambda status: status == 404)

    def delete_pipeline(self, pipeline: Json, database: RealDatabase) -> None:
        """Deletes a pipeline, and then its slot in the source: the server allows only a few slots."""
        self.delete(f"/pipelines/{pipeline['id']}")
        slot = pipeline["options"]["slot_name"]
        query = f"FROM pg_replication_slots WHERE slot_name = '{slot}'"
        eventually(lambda: database.run(f"SELECT 1 {query} AND active"), lambda rows: not rows)
        database.run(f"SELECT pg_drop_replication_slot(slot_name) {query}")

    # other parts of the stack

    def tick(self) -> None:
        """Sends the Connect cluster a tick through the queue, as the schedule does once a minute."""
        self._send("ticks", {"cluster_id": self.connect_cluster_id})

    def look_at(self, source: Json) -> None:
        """Sends a look at the source through the queue, as the schedule does once a minute."""
        self._send("source-checks", {"source_id": source["id"]})

    def look_at_destination(self, destination: Json) -> None:
        """Sends a look at the destination through the queue, as the schedule does once a minute."""
        self._send("destination-checks", {"destination_id": destination["id"]})

    def until_tables_are_known(self, destination: Json, *deliveries: Json) -> None:
        """Looks at the target tables twice, so far apart that the records delivered meanwhile count: from then on a
        look can tell rows that somebody else has removed from those that a delivery has deleted.
        """

        def measured() -> bool:
            self.tick()
            time.sleep(BETWEEN_TICKS)
            return all(self.get(f"/deliveries/{one['id']}/status")["progress"] for one in deliveries)

        for pause in (0, LOOKS_APART.total_seconds() + 1):
            time.sleep(pause)
            eventually(measured, seconds=120)
            self.look_at_destination(destination)
            self.until_looked()

    def until_looked(self) -> None:
        """Waits until every look at a destination that was sent has ended."""
        counts = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        url = self._queue_url("destination-checks")

        def left() -> int:
            attributes = self.queues.get_queue_attributes(QueueUrl=url, AttributeNames=counts)["Attributes"]
            return sum(int(attributes[name]) for name in counts)

        eventually(left, lambda messages: messages == 0)

    def _send(self, queue: str, body: Json) -> None:
        message = {**body, "due_at": rfc3339(utc_now())}
        self.queues.send_message(QueueUrl=self._queue_url(queue), MessageBody=json.dumps(message))

    def _queue_url(self, queue: str) -> str:
        return str(self.queues.get_queue_url(QueueName=f"headgate-{queue}")["QueueUrl"])

    @property
    def queues(self) -> Any:
        return boto3.client(
            "sqs",
            endpoint_url=self.stack.addresses.sqs,
            region_name="us-east-1",
            aws_access_key_id="local",
            aws_secret_access_key="local",
        )

    def connectors(self) -> dict[str, Json]:
        """What Connect itself reports: name to `{"status": ..., "info": ...}`."""
        url = f"{self.stack.addresses.connect}/connectors?expand=status&expand=info"
        response = eventually(lambda: httpx.get(url, timeout=20), lambda got: got.status_code == 200)
        return dict(response.json())


def _system_body(noun: str, database: RegisteredDatabase, config: Json) -> Json:
    return {
        "name": f"{noun} {next(_numbers)}",
        "provider": database.provider,
        "config": {**database.config, **config},
        "credentials": database.credentials,
    }


@contextmanager
def running_headgate(
    stack: RealStack, state: Path, port: int, service_credential: str, more: Mapping[str, str], *, connect_url: str
) -> Iterator[RealHeadgate]:
    """Headgate in a process of its own, with `more` variables, and the clusters of the stack registered."""
    keys = Keys(master_key=base64.b64encode(os.urandom(32)).decode(), service_credential=service_credential)
    plan = ServerPlan(
        name="Headgate",
        command=[sys.executable, "-m", "tests.support.apps.headgate_process", str(port)],
        folder=ROOT,
        log=state / "headgate.log",
        pid_file=state / "headgate.pid",
        ready=lambda: readiness_probes.http_text(port, "/health") != "",
        environment={**environment(ADMIN, keys, stack.addresses), **more},
    )
    base_url, headers = f"http://127.0.0.1:{port}/api/v1", {"X-Correlation-ID": "e2e"}
    with running_server(plan) as process, httpx.Client(base_url=base_url, headers=headers, timeout=40) as client:
        client.post("/auth/login", json={"email": ADMIN.email, "password": ADMIN.password}).raise_for_status()
        headgate = RealHeadgate(stack=stack, process=process, service_credential=service_credential, client=client)
        # What stands still is judged in tests that ask for it: others stop servers for as long as they need.
        brokers = {"bootstrap_servers": stack.addresses.kafka, "metrics_provider": "none"}
        stream = headgate.post("/stream/clusters", {"name": "stream", **brokers})
        body = {"name": "connect", "base_url": connect_url, "stream_cluster_id": stream["id"]}
        connect = headgate.post("/connect/clusters", body)
        yield replace(headgate, stream_cluster_id=stream["id"], connect_cluster_id=connect["id"])


@pytest.fixture(scope="session")
def headgate(real_stack_in_use: RealStackInUse, real_state: Path) -> Iterator[RealHeadgate]:
    """Headgate on the real stack, with the stack's own clusters registered."""
    use, authority = real_stack_in_use, Authority(hours=6)
    chat = NotificationReceiver(NotificationKind.CHAT, authority=authority)
    trusted = real_state / "authority.pem"
    trusted.write_text(authority.certificate)
    alerting = {"HEADGATE_CHAT_WEBHOOK_HOST": chat.address, "HEADGATE_CA_BUNDLE": str(trusted)}
    connect_url = use.stack.addresses.connect
    try:
        with running_headgate(
            use.stack, real_state, use.headgate_port, use.service_credential, alerting, connect_url=connect_url
        ) as headgate:
            yield replace(headgate, chat=chat)
    finally:
        chat.stop()
