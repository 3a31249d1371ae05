"""Real MySQL servers for tests, with databases that are ready for capture until a test breaks one thing."""

import contextlib
import hashlib
import itertools
import os
import re
import secrets
import struct
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pymysql
import pytest
from pymysql.constants import COMMAND

from infra.local.process.ports import kept_ports
from infra.local.process.processes import ServerProcess
from infra.local.stack import mysql, mysql_home, mysql_programs
from infra.local.stack.fetch import fill, locked_cache
from infra.local.stack.folders import Folders
from infra.local.stack.mysql_programs import Programs
from tests.support.databases.server_state import fresh_state
from tests.support.servers import running_server
from tests.support.waiting import eventually

HOST = "127.0.0.1"
_numbers = itertools.count(1)

# What a test does not need: nothing outlives a crash of the machine, and a file system in memory has no native AIO.
_FOR_TESTS = {"innodb-flush-log-at-trx-commit": "0", "sync-binlog": "0", "innodb-use-native-aio": "OFF"}

_USER = re.compile(r"\[([^\]]*)\]")
"""In `user_host` of the general log: `account[user] @ host [address]`, without the account before it is known."""

CAPTURE_RIGHTS = "SELECT, RELOAD, SHOW DATABASES, REPLICATION SLAVE, REPLICATION CLIENT"
"""What a role needs to capture any database of its server."""


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A line of the general log: `command` is `Query`, `Connect`, `Init DB`, `Quit`, ...; secrets are masked in it."""

    connection: int
    user: str
    command: str
    text: str

    @property
    def locks_a_table(self) -> bool:
        """Whether it locks single tables: nobody may write to them until it unlocks them again."""
        words = self.text.upper()
        return self.command == "Query" and (
            words.startswith("LOCK TABLE") or (words.startswith("FLUSH TABLE") and "`" in words)
        )

    @property
    def locks_all(self) -> bool:
        """Whether it is the lock of the whole server with which a snapshot begins, or takes that away."""
        return self.command == "Query" and self.text.upper().startswith(("FLUSH TABLES WITH READ LOCK", "UNLOCK"))


@dataclass(frozen=True, kw_only=True)
class MySQLServer:
    """A running server that a test may change, stop, kill and start again."""

    process: ServerProcess
    folders: Folders
    port: int

    @property
    def superuser_password(self) -> str:
        return mysql.superuser_password(self.folders)

    @property
    def url(self) -> str:
        return mysql.url(self.folders, self.port)

    @property
    def log(self) -> Path:
        return self.process.plan.log

    @property
    def data(self) -> Path:
        option = next(word for word in self.process.plan.command if word.startswith("--datadir="))
        return Path(option.removeprefix("--datadir="))

    def connect(
        self, user: str = mysql.SUPERUSER, password: str | None = None, database: str | None = None, **options: Any
    ) -> "pymysql.Connection[Any]":
        """A connection of the test's own, committing each statement; with TLS where the server has it."""
        return pymysql.connect(
            host=HOST, port=self.port, user=user, password=self.superuser_password if password is None else password,
            database=database, **{"autocommit": True, "connect_timeout": 10, "read_timeout": 60, **options},
        )  # fmt: skip

    def run(self, *statements: str, database: str | None = None) -> Sequence[tuple[Any, ...]]:
        """Runs statements as root on one connection; the rows of the last."""
        with self.connect(database=database) as connection:
            return run(connection, *statements)

    def value(self, expression: str) -> Any:
        """The value of an expression, for example `@@server_uuid`."""
        return self.run(f"SELECT {expression}")[0][0]

    def purge_log(self) -> None:
        """Removes all of the binary log but a new file."""
        self.run("FLUSH BINARY LOGS")
        newest = self.run("SHOW BINARY LOGS")[-1][0]
        self.run(f"PURGE BINARY LOGS TO '{newest}'")

    def until_unread(self, account: str) -> None:
        """Waits until no session of the account reads the binary log: the server sees its end when it writes."""

        def readers() -> Sequence[tuple[Any, ...]]:
            other = ("CREATE DATABASE unread", "DROP DATABASE unread")
            reading = (
                f"SELECT 1 FROM information_schema.processlist WHERE user = '{account}' AND command LIKE 'Binlog%'"
            )
            return self.run(*other, reading)

        eventually(readers, lambda rows: not rows)

    def end_connection(self, connection_id: int) -> None:
        """Ends the connection of that id, and waits until it has."""
        still_there = f"SELECT 1 FROM information_schema.processlist WHERE id = {connection_id}"
        if self.run(still_there):
            self.run(f"KILL {connection_id}")
        eventually(lambda: not self.run(still_there))

    @contextlib.contextmanager
    def general_log(self) -> Iterator[list[Statement]]:
        """All that clients ask for during the block; the list is filled at its end, without the helper's own words."""
        statements: list[Statement] = []
        with self.connect() as own:
            run(own, "SET GLOBAL log_output = 'TABLE'", "TRUNCATE mysql.general_log", "SET GLOBAL general_log = ON")
            try:
                yield statements
            finally:
                run(own, "SET GLOBAL general_log = OFF")
                rows = run(
                    own,
                    "SELECT thread_id, user_host, command_type, CONVERT(argument USING utf8mb4) FROM mysql.general_log"
                    f" WHERE thread_id <> {own.thread_id()} ORDER BY event_time, thread_id",
                )
                statements += [
                    Statement(connection=connection, user=_USER.search(client)[1], command=command, text=text)
                    for connection, client, command, text in rows
                ]


def run(connection: "pymysql.Connection[Any]", *statements: str) -> Sequence[tuple[Any, ...]]:
    """Runs statements; the rows of the last."""
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
        return cursor.fetchall() if statements else ()


@contextlib.contextmanager
def running_mysql(
    settings: Mapping[str, str] | None = None, *, programs: Programs | None = None
) -> Iterator[MySQLServer]:
    """A new, empty server with these options of `mysqld` on top of those of a local stack, 8.0 unless told otherwise.

    It is killed at the end: nobody wants its data.
    """
    with fresh_state("mysql") as state, mysql_in(state, settings, programs=programs) as server:
        try:
            yield server
        finally:
            server.process.kill()


@contextlib.contextmanager
def mysql_in(
    state: Path, settings: Mapping[str, str] | None = None, *, programs: Programs | None = None
) -> Iterator[MySQLServer]:
    """A server with its state in this folder, which its account must be able to reach: empty if the folder is."""
    programs = programs or mysql_programs.find_programs()
    folders = Folders(state)
    port = kept_ports(folders.ports, ["mysql"])["mysql"]
    home = mysql_home.prepare(folders.of("mysql"), programs)
    if not (home.folder / "data").exists():
        _copy(_template(programs) / "data", home.folder / "data")
    options = [f"--{name}={value}" for name, value in {**_FOR_TESTS, **(settings or {})}.items()]
    plan = mysql.plan(folders, port=port, programs=programs)
    with running_server(replace(plan, command=[*plan.command, *options])) as process:
        yield MySQLServer(process=process, folders=folders, port=port)


def _template(programs: Programs) -> Path:
    """The data of a server that was never started, made once and kept in the cache."""
    with locked_cache() as cache:
        kind = f"{programs.command} {programs.mysqld.stat().st_mtime_ns}"
        folder = cache.resolve() / f"mysql-template-{hashlib.sha256(kind.encode()).hexdigest()[:12]}"
        return folder if folder.is_dir() else fill(folder, "data of a new MySQL", lambda work: _make(programs, work))


def _make(programs: Programs, into: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="headgate-mysql-") as folder:
        Path(folder).chmod(0o711)
        home = mysql_home.prepare(Folders(Path(folder)).of("mysql"), programs)
        mysql.initialize(home, home.folder / "data")
        _copy(home.folder / "data", into / "data")


def _copy(data: Path, into: Path) -> None:
    """Copies data with their owner. Without the file of its id, a server takes a new one (`server_uuid`)."""
    subprocess.run(["cp", "-a", str(data), str(into)], check=True, timeout=60)
    (into / "auto.cnf").unlink(missing_ok=True)


@dataclass(frozen=True, kw_only=True)
class MySQLShop:
    """A database that is ready for capture: it has a table `orders`, and `role` may read it and the binary log."""

    server: MySQLServer
    name: str
    role: str
    password: str = field(repr=False)

    def run(self, *statements: str) -> Sequence[tuple[Any, ...]]:
        """Runs statements as root, in this database; `{role}` and `{database}` are replaced by this shop's."""
        filled = (one.replace("{role}", self.role).replace("{database}", self.name) for one in statements)
        return self.server.run(*filled, database=self.name)

    def as_role(self, **options: Any) -> "pymysql.Connection[Any]":
        return self.server.connect(self.role, self.password, self.name, **options)

    @contextlib.contextmanager
    def reading(self, server_id: int) -> Iterator["pymysql.Connection[Any]"]:
        """Another client that follows the binary log with this server id, as a replica does."""
        with self.as_role() as connection:
            _register_replica(connection, server_id)
            _dump_binary_log(connection, server_id, self.server.run("SHOW BINARY LOGS")[-1][0])
            try:
                yield connection
            finally:
                # By itself the server sees the end of a reader when it has something to send.
                self.server.end_connection(connection.thread_id())


_SETUP = (
    "CREATE DATABASE {database}",
    "CREATE TABLE {database}.orders (id BIGINT PRIMARY KEY, customer VARCHAR(100) NOT NULL, amount DECIMAL(10, 2))",
    "CREATE USER {role} IDENTIFIED BY '{password}'",
    f"GRANT {CAPTURE_RIGHTS} ON *.* TO {{role}}",
)


@contextlib.contextmanager
def open_mysql_shop(server: MySQLServer) -> Iterator[MySQLShop]:
    """A new database with its own role. Afterwards both are dropped."""
    number = next(_numbers)
    name, role, password = f"shop{number}", f"cdc{number}", secrets.token_urlsafe(12)
    server.run(*(one.format(database=name, role=role, password=password) for one in _SETUP))
    try:
        yield MySQLShop(server=server, name=name, role=role, password=password)
    finally:
        server.run(f"DROP DATABASE IF EXISTS {name}", f"DROP USER IF EXISTS {role}")


def _register_replica(connection: "pymysql.Connection[Any]", server_id: int) -> None:
    """COM_REGISTER_SLAVE: server id, then host, user and password as empty strings, port, rank and source's id."""
    connection._execute_command(COMMAND.COM_REGISTER_SLAVE, struct.pack("<I3xHII", server_id, 0, 0, 0))
    connection._read_packet()


def _dump_binary_log(connection: "pymysql.Connection[Any]", server_id: int, file: str) -> None:
    """COM_BINLOG_DUMP: position, flags, server id, file. The answer is a stream without end, which nobody reads."""
    run(connection, "SET @source_binlog_checksum = 'NONE', @master_binlog_checksum = 'NONE'")
    connection._execute_command(COMMAND.COM_BINLOG_DUMP, struct.pack("<IHI", 4, 0, server_id) + file.encode())
    connection._read_packet()


@pytest.fixture(scope="session")
def mysql_server() -> Iterator[MySQLServer]:
    """One server for all tests of a process."""
    with mysql_or_skip() as server:
        yield server


@contextlib.contextmanager
def mysql_or_skip(settings: Mapping[str, str] | None = None) -> Iterator[MySQLServer]:
    """Skips where no MySQL can be had, unless `HEADGATE_REQUIRE_REAL` is set."""
    reason = mysql_programs.missing()
    if reason and not os.environ.get("HEADGATE_REQUIRE_REAL"):
        pytest.skip(reason)
    with running_mysql(settings) as server:
        yield server


@pytest.fixture
def mysql_shop(mysql_server: MySQLServer) -> Iterator[MySQLShop]:
    with open_mysql_shop(mysql_server) as opened:
        yield opened
