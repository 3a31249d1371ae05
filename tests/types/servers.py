"""The servers that a measurement runs on, and what it asks of them: statements, connectors, records of topics."""

import json
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

import httpx
import psycopg

from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.connector_config import ConnectorConfig, is_reference
from chalicelib.domain.database import DatabaseProvider
from infra.local.stack import real_stack
from infra.local.stack.mysql_programs import Programs
from infra.local.stack.real_stack import RealStack
from tests.support.databases.mysql import MySQLServer, mysql_in, run
from tests.support.topic_ends import end_offset
from tests.support.waiting import eventually
from tests.types.cases import MYSQL, POSTGRESQL

HOST, ROLE, PASSWORD = "127.0.0.1", "types", "types-password"
SOURCE = "types"
"""The schema, in PostgreSQL also the database, of the tables that are captured."""
EXTENSIONS = ("vector",)
TARGET = "copies"
"""The database of PostgreSQL that is delivered to. In MySQL, each schema is a database."""


def new_name(purpose: str) -> str:
    """A connector's name that was never used: Connect keeps the offsets of connectors that are gone."""
    return f"{purpose}-{secrets.token_hex(4)}"


class Server(Protocol):
    """One of the two databases; both are source and target."""

    provider: DatabaseProvider

    def run(self, *statements: str, lenient: bool = False) -> Sequence[tuple[Any, ...]]:
        """Runs statements in the source's database; the rows of the last."""

    def in_target(self, *statements: str) -> Sequence[tuple[Any, ...]]:
        """The same in the target's database."""

    def address(self, schema: str | None = None) -> DatabaseAddress:
        """The source's address, or that of a target schema."""

    def column_type(self, schema: str, table: str) -> str | None:
        """The type of the column `v` of a target table; None where there is none."""

    def source_type(self, table: str) -> str:
        """The type of the column `v` of a captured table."""

    def knows(self, column_type: str) -> bool:
        """Whether the target's database has the type."""

    def release(self) -> None:
        """Remove what captures that were deleted have left."""


_TYPE = (
    "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attname = 'v'"
    " AND attrelid = to_regclass('{}.{}') AND NOT attisdropped"
)


@dataclass(frozen=True, kw_only=True)
class PostgreSQLServer:
    url: str
    provider = POSTGRESQL

    def run(self, *statements: str, lenient: bool = False) -> Sequence[tuple[Any, ...]]:
        return self._run(SOURCE, *statements)

    def in_target(self, *statements: str) -> Sequence[tuple[Any, ...]]:
        return self._run(TARGET, *statements)

    def _run(self, database: str, *statements: str) -> Sequence[tuple[Any, ...]]:
        rows: Sequence[tuple[Any, ...]] = ()
        options = "-c TimeZone=UTC -c extra_float_digits=1"
        with psycopg.connect(self.url, dbname=database, autocommit=True, options=options) as connection:
            for statement in statements:
                done = connection.execute(statement.encode())
                rows = done.fetchall() if done.description else ()
        return rows

    def address(self, schema: str | None = None) -> DatabaseAddress:
        return DatabaseAddress(
            provider=POSTGRESQL,
            host=HOST,
            port=urlsplit(self.url).port or 5432,
            database_name=SOURCE if schema is None else TARGET,
            username=ROLE,
        )

    def column_type(self, schema: str, table: str) -> str | None:
        rows = self.in_target(_TYPE.format(schema, table))
        return rows[0][0] if rows else None

    def source_type(self, table: str) -> str:
        return str(self.run(_TYPE.format(SOURCE, table))[0][0])

    def release(self) -> None:
        # A slot that is still read is left: it is in nobody's way.
        with suppress(AssertionError):
            eventually(lambda: not self.run("SELECT 1 FROM pg_replication_slots WHERE active"), seconds=20)
        self.run("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE NOT active")

    def knows(self, column_type: str) -> bool:
        return column_type != "geometry" or self.in_target("SELECT to_regtype('geometry')")[0][0] is not None

    def prepare(self) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f"CREATE ROLE {ROLE} LOGIN REPLICATION SUPERUSER PASSWORD '{PASSWORD}'".encode())
            for database in (SOURCE, TARGET):
                connection.execute(f"CREATE DATABASE {database}".encode())
        self._run(SOURCE, f"CREATE SCHEMA {SOURCE}")
        available = {name for (name,) in self._run(SOURCE, "SELECT name FROM pg_available_extensions")}
        for database in (SOURCE, TARGET):
            for extension in available & {*EXTENSIONS}:
                self._run(database, f"CREATE EXTENSION IF NOT EXISTS {extension}")

    def add_schema(self, name: str) -> None:
        self.in_target(f"CREATE SCHEMA IF NOT EXISTS {name}")


@dataclass(frozen=True, kw_only=True)
class MySQLServerOfTypes:
    server: MySQLServer
    provider = MYSQL

    def run(self, *statements: str, lenient: bool = False) -> Sequence[tuple[Any, ...]]:
        mode = "''" if lenient else "DEFAULT"
        with self.server.connect(database=SOURCE, charset="utf8mb4") as connection:
            return run(connection, "SET time_zone = '+00:00'", f"SET sql_mode = {mode}", *statements)

    def in_target(self, *statements: str) -> Sequence[tuple[Any, ...]]:
        return self.run(*statements, lenient=True)

    def address(self, schema: str | None = None) -> DatabaseAddress:
        return DatabaseAddress(
            provider=MYSQL, host=HOST, port=self.server.port, database_name=schema or SOURCE, username=ROLE
        )

    def column_type(self, schema: str, table: str) -> str | None:
        rows = self.run(
            "SELECT COLUMN_TYPE FROM information_schema.COLUMNS WHERE COLUMN_NAME = 'v'"
            f" AND TABLE_SCHEMA = '{schema}' AND TABLE_NAME = '{table}'"
        )
        return _text(rows[0][0]) if rows else None

    def source_type(self, table: str) -> str:
        return str(self.column_type(SOURCE, table))

    def knows(self, column_type: str) -> bool:
        return True

    def release(self) -> None:
        """Nothing: a connector for MySQL leaves nothing in its server."""

    def prepare(self) -> None:
        self.server.run(
            f"CREATE DATABASE {SOURCE} CHARACTER SET utf8mb4",
            f"CREATE USER {ROLE} IDENTIFIED BY '{PASSWORD}'",
            f"GRANT ALL ON *.* TO {ROLE}",
        )

    def add_schema(self, name: str) -> None:
        self.server.run(f"CREATE DATABASE IF NOT EXISTS {name} CHARACTER SET utf8mb4")


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


@dataclass(frozen=True, kw_only=True)
class Connect:
    """The REST API of the worker."""

    url: str

    def create(self, name: str, config: ConnectorConfig) -> None:
        body = {"name": name, "config": with_password(config)}
        response = eventually(
            lambda: httpx.post(f"{self.url}/connectors", json=body, timeout=90),
            lambda answered: answered.status_code in (201, 400),
            seconds=60,
        )
        assert response.status_code == 201, response.text[:2000]

    def failure(self, name: str) -> str | None:
        """The trace of the connector or of its task; None while nothing has failed."""
        response = httpx.get(f"{self.url}/connectors/{name}/status", timeout=30)
        if response.status_code != 200:
            return None
        status = response.json()
        parts = [status["connector"], *status["tasks"]]
        return next((part.get("trace") or "FAILED" for part in parts if part["state"] == "FAILED"), None)

    def delete(self, name: str) -> None:
        eventually(
            lambda: httpx.delete(f"{self.url}/connectors/{name}", timeout=60).status_code,
            lambda status: status in (204, 404),
            seconds=60,
        )


def with_password(config: ConnectorConfig) -> ConnectorConfig:
    """The config as it is built, with the password itself where it refers to one."""
    return {key: PASSWORD if is_reference(value) else value for key, value in config.items()}


@dataclass(frozen=True, kw_only=True)
class Topics:
    """Reads topics of the broker."""

    bootstrap_servers: str

    def counts(self, topics: Sequence[str]) -> dict[str, int]:
        """How many records were written to each of these topics."""
        from confluent_kafka import Consumer

        consumer = Consumer({"bootstrap.servers": self.bootstrap_servers, "group.id": "types-reader", "log_level": 0})
        try:
            existing = consumer.list_topics(timeout=20).topics
            return {topic: end_offset(consumer, topic, 0) if topic in existing else 0 for topic in topics}
        finally:
            consumer.close()

    def records(self, topics: Sequence[str]) -> dict[str, list[Any]]:
        """All records of these topics: the payload of each value."""
        from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

        consumer = Consumer(
            {
                "bootstrap.servers": self.bootstrap_servers,
                "group.id": "types-reader",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "log_level": 0,
                "fetch.message.max.bytes": 20_000_000,
            }
        )
        try:
            existing = consumer.list_topics(timeout=20).topics
            found: dict[str, list[Any]] = {topic: [] for topic in topics}
            open_ends = {topic for topic in topics if topic in existing}
            consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING) for topic in sorted(open_ends)])
            end = time.monotonic() + 120
            while open_ends and time.monotonic() < end:
                message = consumer.poll(1)
                if message is None:
                    continue
                if message.error():
                    open_ends.discard(message.topic())
                elif message.value() is not None:
                    found[message.topic()].append(json.loads(message.value())["payload"])
            return found
        finally:
            consumer.close()


@dataclass(frozen=True, kw_only=True)
class World:
    postgresql: PostgreSQLServer
    mysql: MySQLServerOfTypes
    connect: Connect
    topics: Topics

    def server(self, provider: DatabaseProvider) -> Any:
        return self.mysql if provider is MYSQL else self.postgresql


@contextmanager
def running_world(state: Path, postgresql: str | None = None, programs: Programs | None = None) -> Iterator[World]:
    """The real stack and a MySQL, with empty databases; with another PostgreSQL where there is its superuser's URL, and
    another MySQL where there are its programs.
    """
    with ExitStack() as ends:
        stack = ends.enter_context(
            real_stack.start(state / "stack", headgate_url="http://127.0.0.1:9", service_credential="unused")
        )
        server = ends.enter_context(mysql_in(state / "mysql", programs=programs))
        ends.callback(server.process.kill)
        yield world_of(stack, server, postgresql)


def world_of(stack: RealStack, server: MySQLServer, postgresql: str | None = None) -> World:
    """The servers with empty databases."""
    world = World(
        postgresql=PostgreSQLServer(url=postgresql or stack.addresses.postgres),
        mysql=MySQLServerOfTypes(server=server),
        connect=Connect(url=stack.addresses.connect),
        topics=Topics(bootstrap_servers=stack.addresses.kafka),
    )
    world.postgresql.prepare()
    world.mysql.prepare()
    return world
