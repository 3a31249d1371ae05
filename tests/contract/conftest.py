"""Every contract test runs twice: against the doubles, and (marked `real`) against the real servers."""

import itertools
import secrets as random
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import psycopg
import pytest
from psycopg import conninfo, sql

from infra.local import doubles
from tests.support.apps.doubles import JDBC_SINK, POSTGRES_SOURCE, ConnectView, SecretEndpoint
from tests.support.databases.postgresql import running_postgresql
from tests.support.waiting import eventually


@dataclass(frozen=True, kw_only=True)
class Servers:
    """A broker, a Connect worker, a PostgreSQL and a secret endpoint."""

    kafka: str
    connect: ConnectView
    postgres: str = field(repr=False)
    secret_endpoint: SecretEndpoint
    kill_worker: Callable[[], None]
    start_worker: Callable[[], None]


@pytest.fixture(scope="session", params=["double", pytest.param("real", marks=pytest.mark.real)])
def servers(request: pytest.FixtureRequest) -> Iterator[Servers]:
    with ExitStack() as ends:
        build = _real_servers if request.param == "real" else _double_servers
        servers = build(request, ends)
        ends.callback(servers.connect.close)
        yield servers


def _real_servers(request: pytest.FixtureRequest, ends: ExitStack) -> Servers:
    stack = request.getfixturevalue("real_stack_in_use")
    secret_endpoint = SecretEndpoint(port=stack.headgate_port, credential=stack.service_credential)
    ends.callback(secret_endpoint.close)
    addresses = stack.stack.addresses
    return Servers(
        kafka=addresses.kafka,
        connect=ConnectView(url=addresses.connect),
        postgres=addresses.postgres,
        secret_endpoint=secret_endpoint,
        kill_worker=stack.stack.connect.kill,
        start_worker=stack.stack.connect.start,
    )


def _double_servers(_: pytest.FixtureRequest, ends: ExitStack) -> Servers:
    database = ends.enter_context(running_postgresql())
    secret_endpoint = SecretEndpoint()
    ends.callback(secret_endpoint.close)
    running = doubles.start(headgate_url=secret_endpoint.url, service_credential=secret_endpoint.credential)
    ends.callback(running.stop)
    return Servers(
        kafka=running.kafka,
        connect=ConnectView(url=running.connect),
        postgres=database.url,
        secret_endpoint=secret_endpoint,
        kill_worker=running.connect_double.crash,
        start_worker=running.connect_double.boot,
    )


@dataclass(frozen=True, kw_only=True)
class Shop:
    """A database for one test, and configurations that read from it or write to it."""

    servers: Servers
    name: str
    admin: "psycopg.Connection[Any]"
    password: str = field(repr=False)
    connectors: list[str] = field(default_factory=list)
    numbers: Any = field(default_factory=lambda: itertools.count(1))

    @property
    def address(self) -> dict[str, str]:
        """Host, port and superuser."""
        parts = conninfo.conninfo_to_dict(self.servers.postgres)
        return {"host": str(parts["host"]), "port": str(parts["port"]), "user": str(parts["user"])}

    def source(self, **changes: str | None) -> dict[str, str]:
        """A source of this database that works; `changes` by key, two underscores for a dot, None to leave out."""
        plain = f"{self.name}_{next(self.numbers)}"
        config = {
            "connector.class": POSTGRES_SOURCE,
            "database.hostname": self.address["host"],
            "database.port": self.address["port"],
            "database.user": self.address["user"],
            "database.password": self.servers.secret_endpoint.reference("password", self.password),
            "database.dbname": self.name,
            "topic.prefix": plain,
            "plugin.name": "pgoutput",
            "slot.name": plain,
            "publication.name": plain,
            "publication.autocreate.mode": "filtered",
            "table.include.list": r"public\..*",
            "topic.creation.default.replication.factor": "1",
            "topic.creation.default.partitions": "1",
            "headgate.owner": "contract",
        }
        return self._connector(plain.replace("_", "-"), config, changes)

    def sink(self, **changes: str | None) -> dict[str, str]:
        """A JDBC sink into this database; `changes` as for `source`."""
        name = f"{self.name}-{next(self.numbers)}"
        config = {
            "connector.class": JDBC_SINK,
            "topics": f"{name}.nothing",
            "connection.url": f"jdbc:postgresql://{self.address['host']}:{self.address['port']}/{self.name}",
            "connection.username": self.address["user"],
            "connection.password": self.servers.secret_endpoint.reference("password", self.password),
        }
        return self._connector(name, config, changes)

    def _connector(self, name: str, config: dict[str, str], changes: dict[str, str | None]) -> dict[str, str]:
        self.connectors.append(name)
        changed = {key.replace("__", "."): value for key, value in changes.items()}
        merged = {"name": name, "tasks.max": "1", **config, **changed}
        return {key: value for key, value in merged.items() if value is not None}

    def role(self, options: str = "") -> str:
        """A new role that may read the tables, with the superuser's password."""
        name = f"{self.name}_role{next(self.numbers)}"
        identity = sql.Identifier(name)
        self.admin.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(identity, sql.Literal(self.password)))
        if options:
            self.admin.execute(sql.SQL("ALTER ROLE {} " + options).format(identity))  # type: ignore[arg-type]
        self.admin.execute(sql.SQL("GRANT SELECT ON ALL TABLES IN SCHEMA public TO {}").format(identity))
        return name

    def slots(self) -> dict[str, bool]:
        """The replication slots of this database: name -> whether a client uses it."""
        query = "SELECT slot_name, active FROM pg_replication_slots WHERE database = %s"
        return {str(name): bool(active) for name, active in self.admin.execute(query, [self.name]).fetchall()}

    def close(self) -> None:
        """Delete the connectors, and what they left in the database server."""
        for name in self.connectors:
            self.servers.connect.remove(name)
        eventually(self.slots, lambda slots: not any(slots.values()))
        self.admin.execute(
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE database = %s", [self.name]
        )
        self.admin.close()


@pytest.fixture
def shop(servers: Servers) -> Iterator[Shop]:
    """A new database with two tables of one row each; one table has an unusual name."""
    name = f"shop{random.token_hex(4)}"
    with psycopg.connect(servers.postgres, autocommit=True) as server:
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    admin: psycopg.Connection[Any] = psycopg.connect(
        conninfo.make_conninfo(servers.postgres, dbname=name), autocommit=True
    )
    for table in ("orders", "Odd Näme"):
        admin.execute(sql.SQL("CREATE TABLE {} (id int PRIMARY KEY, note text)").format(sql.Identifier(table)))
        admin.execute(sql.SQL("INSERT INTO {} VALUES (1, 'first')").format(sql.Identifier(table)))
    password = str(conninfo.conninfo_to_dict(servers.postgres)["password"])
    created = Shop(servers=servers, name=name, admin=admin, password=password)
    yield created
    created.close()


@pytest.fixture
def connect(servers: Servers) -> ConnectView:
    return servers.connect


@pytest.fixture
def stopped(shop: Shop, connect: ConnectView) -> dict[str, str]:
    """The config of a source that was created stopped."""
    config = shop.source()
    connect.create(config)
    connect.wait_for_states(config["name"], "STOPPED")
    return config


@pytest.fixture
def running(shop: Shop, connect: ConnectView) -> dict[str, str]:
    """The config of a source whose task runs."""
    config = shop.source()
    connect.create(config, state=None)
    connect.wait_for_states(config["name"], "RUNNING", "RUNNING")
    return config
