"""Real PostgreSQL servers for tests, with databases that are ready for capture until a test breaks one thing."""

import contextlib
import itertools
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from chalicelib.clients.databases.contract import TableListing
from chalicelib.clients.databases.postgresql.client import PostgreSQL
from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.database import DatabaseProvider, SslMode
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.providers.postgresql.capture_tables import source_tables
from chalicelib.domain.providers.postgresql.facts import PostgreSQLRawTable, PostgreSQLServerFacts
from chalicelib.domain.providers.postgresql.readiness.checks import CHECKS
from chalicelib.domain.providers.postgresql.replication import PostgreSQLCapturePlan
from chalicelib.domain.readiness import ReadinessReport, judge
from chalicelib.domain.source import DISCOVERY_BOUND
from chalicelib.domain.table import SourceTable, TableName
from chalicelib.kit.clock import Deadline, utc_now
from chalicelib.kit.masking import Secret
from infra.local.process.ports import kept_ports
from infra.local.process.processes import ServerProcess
from infra.local.stack import postgres, postgres_home
from infra.local.stack.folders import Folders
from tests.support.databases.server_state import fresh_state
from tests.support.servers import running_server
from tests.support.waiting import eventually

HOST = "127.0.0.1"
ORDERS = TableName("shop", "orders")
_numbers = itertools.count(1)


def any_address(host: str) -> Sequence[str]:
    return (host,)


def client(endpoint: OpenedEndpoint[DatabaseAddress]) -> PostgreSQL:
    return PostgreSQL(endpoint=endpoint, check_host=any_address)


@dataclass(frozen=True, kw_only=True)
class RunningPostgreSQL:
    """A server that a test may change in any way."""

    port: int
    superuser_password: str = field(repr=False)
    log: Path

    def connect(
        self, database: str = "postgres", user: str = postgres.SUPERUSER, password: str | None = None, **options: Any
    ) -> "psycopg.Connection[tuple[Any, ...]]":
        """A connection of the test's own, committing each statement."""
        return psycopg.connect(
            host=HOST, port=self.port, dbname=database, user=user, password=password or self.superuser_password,
            autocommit=True, connect_timeout=10, **options,
        )  # fmt: skip

    def address(self, database: str = "postgres", user: str = postgres.SUPERUSER) -> DatabaseAddress:
        return DatabaseAddress(
            provider=DatabaseProvider.POSTGRESQL, host=HOST, port=self.port, database_name=database, username=user,
            ssl_mode=SslMode.PREFER,
        )  # fmt: skip

    @property
    def url(self) -> str:
        return f"postgresql://{postgres.SUPERUSER}:{self.superuser_password}@{HOST}:{self.port}/postgres"

    @property
    def superuser(self) -> Mapping[str, Secret]:
        return {"password": Secret(self.superuser_password)}


@contextlib.contextmanager
def running_postgresql(settings: Mapping[str, str] | None = None) -> Iterator[RunningPostgreSQL]:
    """A new, empty server with these settings on top of those of a local stack."""
    options = [option for key, value in (settings or {}).items() for option in ("-c", f"{key}={value}")]
    with fresh_state("postgresql") as state:
        folders = Folders(state)
        port = kept_ports(folders.ports, ["postgres"])["postgres"]
        plan = postgres.plan(folders, port=port)
        with running_server(replace(plan, command=[*plan.command, *options])):
            yield RunningPostgreSQL(
                port=port, superuser_password=postgres.superuser_password(folders), log=folders.log("postgres")
            )


@dataclass(kw_only=True)
class StoppablePostgreSQL:
    """A server that a test stops, kills and starts again, and whose data it copies."""

    process: ServerProcess
    folders: Folders
    port: int

    @property
    def superuser_password(self) -> str:
        return postgres.superuser_password(self.folders)

    @property
    def url(self) -> str:
        return postgres.url(self.folders, self.port)

    @property
    def data(self) -> Path:
        return Path(self.process.plan.command[2])

    def run(self, *statements: str) -> list[tuple[Any, ...]]:
        """Runs statements as the superuser; the rows of the last."""
        with psycopg.connect(self.url, autocommit=True, connect_timeout=10) as connection:
            cursors = [connection.execute(statement.encode()) for statement in statements]
            return cursors[-1].fetchall() if cursors[-1].description else []


@contextlib.contextmanager
def stoppable_postgresql(
    state: Path, name: str, of: StoppablePostgreSQL | None = None
) -> Iterator[StoppablePostgreSQL]:
    """A server whose data are in a folder of this name: new and empty, or an asynchronous standby of another one.

    A standby has copies of those slots of its primary that are made for a failover.
    """
    folders = Folders(state / name)
    port = kept_ports(folders.ports, ["postgres"])["postgres"]
    if of:
        _copy_of(of, folders, name)
    plan = postgres.plan(folders, port=port)
    settings = {"fsync": "off", "hot_standby_feedback": "on", "primary_slot_name": name}
    settings["sync_replication_slots"] = "on" if of else "off"
    options = [option for key, value in settings.items() for option in ("-c", f"{key}={value}")]
    with running_server(replace(plan, command=[*plan.command, *options])) as process:
        yield StoppablePostgreSQL(process=process, folders=folders, port=port)


def _copy_of(primary: StoppablePostgreSQL, folders: Folders, name: str) -> None:
    primary.run(f"SELECT pg_create_physical_replication_slot('{name}', true)")
    home = postgres_home.prepare(folders.of("postgres"))
    shutil.copy(primary.folders.state / "postgres-password", folders.state / "postgres-password")
    copied = home.run([
        *(str(home.programs / "pg_basebackup"), "-D", str(home.folder / "data"), "-S", name),
        *("-d", f"{primary.url}?sslmode=disable", "-R", "-X", "stream", "-c", "fast"),
    ])  # fmt: skip
    assert copied.returncode == 0, copied.stderr


@dataclass(frozen=True, kw_only=True)
class Shop:
    """A database that is ready for capture: `role` owns schema `shop` and in it `orders`, and may replicate."""

    server: RunningPostgreSQL
    name: str
    role: str
    password: str = field(repr=False)
    admin: "psycopg.Connection[tuple[Any, ...]]"

    def run(self, *statements: str) -> None:
        """Runs statements as the superuser; `{role}` and `{database}` are replaced by this shop's."""
        for statement in statements:
            self.admin.execute(statement.replace("{role}", self.role).replace("{database}", self.name).encode())

    @property
    def address(self) -> DatabaseAddress:
        return self.server.address(self.name, self.role)

    @property
    def secrets(self) -> Mapping[str, Secret]:
        return {"password": Secret(self.password)}

    @property
    def endpoint(self) -> OpenedEndpoint[DatabaseAddress]:
        return OpenedEndpoint(self.address, self.secrets)

    def as_role(self) -> "psycopg.Connection[tuple[Any, ...]]":
        return self.server.connect(self.name, self.role, self.password)

    def reading(self) -> "contextlib.AbstractContextManager[psycopg.Connection[tuple[Any, ...]]]":
        """Another client streams from the slot of `plan`."""
        return reader_of(self.server, self.name, f"slot_{self.name}", f"pub_{self.name}")

    def listing(self, bound: int = DISCOVERY_BOUND) -> TableListing:
        return client(self.endpoint).list_tables(Deadline.after(15), bound)

    def table(self, name: str) -> PostgreSQLRawTable:
        """A table of schema `shop`, as it is listed."""
        return next(table for table in self.listing().tables if table.name == TableName("shop", name))

    def discovered(self, name: str = "orders") -> SourceTable:
        """A table of schema `shop` as discovery stores it, judged beside all others."""
        tables = source_tables(self.listing().tables, "s", utc_now())
        return next(table for table in tables if table.name == TableName("shop", name))

    def plan(self, **changes: Any) -> PostgreSQLCapturePlan:
        """A plan to capture the orders, with a slot and a publication that Debezium has made, or will make."""
        plan = PostgreSQLCapturePlan(
            tables=(ORDERS,),
            slot_name=f"slot_{self.name}",
            publication_name=f"pub_{self.name}",
            made=frozenset({"slot", "publication"}),
        )
        return replace(plan, **changes)

    def facts(self, *tables: TableName) -> PostgreSQLServerFacts:
        return client(self.endpoint).server_facts(tables, Deadline.after(15))

    def connections(self) -> int:
        """How many connections of this role the server counts."""
        query = "SELECT count(*) FROM pg_stat_activity WHERE usename = %s"
        return int(self.admin.execute(query, [self.role]).fetchall()[0][0])

    def readiness(self, plan: PostgreSQLCapturePlan | None) -> ReadinessReport:
        names = (*plan.tables, *((plan.heartbeat_table,) if plan.heartbeat_table else ())) if plan else None
        return judge(CHECKS, client(self.endpoint).server_facts(names, Deadline.after(15)), plan, utc_now())


_SETUP = (
    "GRANT CREATE ON DATABASE {database} TO {role}",
    "CREATE SCHEMA shop AUTHORIZATION {role}",
    "CREATE TABLE shop.orders (id bigint PRIMARY KEY, customer text NOT NULL, amount numeric(10, 2))",
    "ALTER TABLE shop.orders OWNER TO {role}",
)


@contextlib.contextmanager
def open_shop(server: RunningPostgreSQL) -> Iterator[Shop]:
    """A new database with its own role. Afterwards both are dropped, with all slots of the database."""
    number = next(_numbers)
    name, role, password = f"shop{number}", f"cdc{number}", secrets.token_urlsafe(12)
    with server.connect() as postgres_connection:
        postgres_connection.execute(f"CREATE ROLE {role} LOGIN REPLICATION PASSWORD '{password}'".encode())
        postgres_connection.execute(f"CREATE DATABASE {name}".encode())
        try:
            with server.connect(name) as admin:
                shop = Shop(server=server, name=name, role=role, password=password, admin=admin)
                shop.run(*_SETUP)
                yield shop
        finally:
            postgres_connection.execute(
                "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots"
                " WHERE database = %s OR plugin IS NULL",
                [name],
            )
            postgres_connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())
            postgres_connection.execute(f"DROP ROLE {role}".encode())


@contextlib.contextmanager
def reader_of(
    server: RunningPostgreSQL, database: str, slot: str, publication: str
) -> "Iterator[psycopg.Connection[tuple[Any, ...]]]":
    """Another client that streams from the slot. Afterwards the slot and the sender are free again."""
    with server.connect(database, replication="database") as connection, server.connect() as observer:
        process_id = connection.info.backend_pid
        options = f"(proto_version '1', publication_names '{publication}')"
        command = f"START_REPLICATION SLOT {slot} LOGICAL 0/0 {options}"
        started = connection.pgconn.exec_(command.encode())
        assert started.status == psycopg.pq.ExecStatus.COPY_BOTH, started.error_message
        try:
            yield connection
        finally:
            connection.pgconn.finish()
            # The server notices after a while. It releases the slot before it removes the process from its list.
            process_ended = "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = %s)"
            eventually(lambda: observer.execute(process_ended, [process_id]).fetchone() == (True,))


@pytest.fixture(scope="session")
def postgresql() -> Iterator[RunningPostgreSQL]:
    """One server for all tests; it writes every statement to its log, with the name of the application."""
    settings = {"log_statement": "all", "log_line_prefix": "%a|", "max_slot_wal_keep_size": "10GB"}
    with running_postgresql(settings) as server:
        yield server


@pytest.fixture
def shop(postgresql: RunningPostgreSQL) -> Iterator[Shop]:
    with open_shop(postgresql) as opened:
        yield opened
