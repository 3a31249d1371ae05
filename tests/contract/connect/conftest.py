"""A MySQL that the sources of both workers read, and configurations of sources of it."""

import contextlib
import itertools
import secrets as random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.contract.conftest import Servers
from tests.support.apps.doubles import JDBC_SINK, MYSQL_SOURCE, ConnectView
from tests.support.databases.mysql import CAPTURE_RIGHTS, MySQLServer, mysql_or_skip, mysql_server
from tests.support.databases.mysql_9 import mysql_9
from tests.support.waiting import eventually

__all__ = ["mysql_9", "mysql_server"]

GTID_OFF = {"gtid-mode": "OFF", "enforce-gtid-consistency": "OFF"}
_server_ids = itertools.count(random.randbelow(1_000_000_000) + 1_000_000)


@dataclass(frozen=True, kw_only=True)
class MySQLShop:
    """A database for one test, its role, and configurations of sources that read it."""

    servers: Servers
    server: MySQLServer
    name: str
    password: str = field(repr=False)
    connectors: list[str] = field(default_factory=list)
    numbers: Any = field(default_factory=lambda: itertools.count(1))

    def run(self, *statements: str) -> Sequence[tuple[Any, ...]]:
        """Runs statements as root, in this database; the rows of the last."""
        return self.server.run(*statements, database=self.name)

    @contextlib.contextmanager
    def changed(self, setting: str, value: str) -> Iterator[None]:
        """The server has another value of a variable for the block."""
        before = self.server.value(f"@@global.{setting}")
        self.run(f"SET GLOBAL {setting} = {value}")
        try:
            yield
        finally:
            self.run(f"SET GLOBAL {setting} = {before!r}")

    def source(self, **changes: str | None) -> dict[str, str]:
        """A source of this database that works; `changes` by key, two underscores for a dot, None to leave out."""
        name = f"{self.name}-{next(self.numbers)}"
        config = {
            "name": name,
            "connector.class": MYSQL_SOURCE,
            "tasks.max": "1",
            "database.hostname": "127.0.0.1",
            "database.port": str(self.server.port),
            "database.user": self.name,
            "database.password": self.servers.secret_endpoint.reference("password", self.password),
            "database.server.id": str(next(_server_ids)),
            "topic.prefix": name,
            "database.include.list": rf"(?-i:\Q{self.name}\E)",
            "table.include.list": rf"(?-i:\Q{self.name}\E\..*)",
            "include.schema.changes": "false",
            "schema.history.internal.kafka.topic": f"history-{name}",
            "schema.history.internal.kafka.bootstrap.servers": self.servers.kafka,
            "schema.history.internal.store.only.captured.databases.ddl": "true",
            "errors.max.retries": "10",
            "topic.creation.default.replication.factor": "1",
            "topic.creation.default.partitions": "1",
            "headgate.owner": "contract",
        }
        return self._connector(config, changes)

    def sink(self, database: str | None = None, *, port: int | None = None, **changes: str | None) -> dict[str, str]:
        """A JDBC sink into this database, or another; `changes` as for `source`."""
        name = f"{self.name}-{next(self.numbers)}"
        config = {
            "name": name,
            "connector.class": JDBC_SINK,
            "tasks.max": "1",
            "topics": f"{name}.nothing",
            "connection.url": f"jdbc:mysql://127.0.0.1:{port or self.server.port}/{database or self.name}",
            "connection.username": self.name,
            "connection.password": self.servers.secret_endpoint.reference("password", self.password),
        }
        return self._connector(config, changes)

    def _connector(self, config: dict[str, str], changes: dict[str, str | None]) -> dict[str, str]:
        self.connectors.append(config["name"])
        merged = {**config, **{key.replace("__", "."): value for key, value in changes.items()}}
        return {key: value for key, value in merged.items() if value is not None}

    def role(self, grants: str = CAPTURE_RIGHTS) -> str:
        """A new role with these rights on everything, and the password of the shop's."""
        name = f"{self.name}r{next(self.numbers)}"
        self.run(f"CREATE USER {name} IDENTIFIED BY '{self.password}'")
        if grants:
            self.run(f"GRANT {grants} ON *.* TO {name}")
        return name

    def readers(self) -> int:
        """How many connections of the shop's role follow the binary log."""
        commands = self.run(f"SELECT command FROM information_schema.processlist WHERE user = '{self.name}'")
        return [command.startswith("Binlog Dump") for (command,) in commands].count(True)

    def offsets(self, config: dict[str, str]) -> list[dict[str, Any]]:
        found = self.servers.connect.call("GET", f"/connectors/{config['name']}/offsets").json()["offsets"]
        assert isinstance(found, list)
        return found

    def started(self, config: dict[str, str]) -> dict[str, Any]:
        """The offset that a source has after its snapshot; it runs then."""
        self.servers.connect.run(config)
        # Connect may store the position in the middle of the snapshot: the offset has the key `snapshot` then.
        (stored,) = eventually(
            lambda: self.offsets(config),
            lambda found: len(found) == 1 and "snapshot" not in found[0]["offset"],
            seconds=60,
        )
        eventually(self.readers)
        assert stored["partition"] == {"server": config["topic.prefix"]}
        return dict(stored["offset"])

    def halt(self, config: dict[str, str]) -> None:
        """Stops a source, and waits until it is."""
        self.servers.connect.call("PUT", f"/connectors/{config['name']}/stop")
        self.servers.connect.wait_for_states(config["name"], "STOPPED")

    def failing(self, config: dict[str, str]) -> str:
        """The trace of a source that is valid, can be created, and fails."""
        connect = self.servers.connect
        assert connect.validate(config) == {}
        assert connect.create(config, state="RUNNING").status_code == 201
        connect.wait_for_states(config["name"], "RUNNING", "FAILED")
        return connect.trace(config["name"])

    def close(self) -> None:
        for name in self.connectors:
            self.servers.connect.remove(name)
        roles = self.run(f"SELECT user FROM mysql.user WHERE user LIKE '{self.name}%'")
        self.run(f"DROP DATABASE {self.name}", *(f"DROP USER {role}" for (role,) in roles))


def open_shop(servers: Servers, server: MySQLServer) -> MySQLShop:
    """A new database with two tables of one row each; one table has an unusual name."""
    shop = MySQLShop(servers=servers, server=server, name=f"shop{random.token_hex(4)}", password=random.token_hex(8))
    server.run(f"CREATE DATABASE {shop.name}")
    for table in ("orders", "Odd Näme"):
        shop.run(f"CREATE TABLE `{table}` (id INT PRIMARY KEY, note TEXT)", f"INSERT INTO `{table}` VALUES (1, 'x')")
    shop.run(
        f"CREATE USER {shop.name} IDENTIFIED BY '{shop.password}'", f"GRANT {CAPTURE_RIGHTS} ON *.* TO {shop.name}"
    )
    return shop


@pytest.fixture
def mysql_shop(servers: Servers, mysql_server: MySQLServer) -> Iterator[MySQLShop]:
    shop = open_shop(servers, mysql_server)
    yield shop
    shop.close()


@pytest.fixture(scope="session")
def mysql_without_gtids() -> Iterator[MySQLServer]:
    with mysql_or_skip(GTID_OFF) as server:
        yield server


@pytest.fixture(params=["mysql_server", "mysql_without_gtids"])
def each_mysql_shop(servers: Servers, request: pytest.FixtureRequest) -> Iterator[MySQLShop]:
    """A shop on a server with GTIDs, and one on a server without."""
    shop = open_shop(servers, request.getfixturevalue(request.param))
    yield shop
    shop.close()


@pytest.fixture
def mysql_9_shop(servers: Servers, mysql_9: MySQLServer) -> Iterator[MySQLShop]:
    shop = open_shop(servers, mysql_9)
    yield shop
    shop.close()


@pytest.fixture
def shop_without_log(servers: Servers) -> Iterator[MySQLShop]:
    """A shop on a server of its own that writes no binary log."""
    with mysql_or_skip({**GTID_OFF, "skip-log-bin": "ON"}) as server:
        shop = open_shop(servers, server)
        yield shop
        shop.close()


@pytest.fixture
def connect(servers: Servers) -> ConnectView:
    return servers.connect
