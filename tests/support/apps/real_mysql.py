"""MySQL servers beside the real stack, and databases on them as Headgate registers them."""

import itertools
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pymysql
import pytest

from tests.support.databases.mysql import CAPTURE_RIGHTS, MySQLServer, mysql_or_skip, run

Json = dict[str, Any]
_numbers = itertools.count(1)


@dataclass(frozen=True, kw_only=True)
class RealMySQLDatabase:
    """A database on a MySQL server, and the account that Headgate signs in with."""

    provider: ClassVar[str] = "mysql"

    server: MySQLServer
    name: str
    username: str
    password: str = field(repr=False)

    @property
    def config(self) -> Json:
        """The `config` of a source or destination, with a short time limit for tests of unreachable servers."""
        return {
            "host": "127.0.0.1",
            "port": self.server.port,
            "database_name": self.name,
            "username": self.username,
            "connection_timeout_seconds": 3,
        }

    @property
    def credentials(self) -> Json:
        return {"password": self.password}

    def run(self, *statements: str) -> Sequence[tuple[Any, ...]]:
        """Runs statements as root in this database, each committed; `{role}` is replaced by the account's name.

        Returns the rows of the last statement.
        """
        with self.server.connect(database=self.name, init_command="SET time_zone = '+00:00'") as connection:
            return run(connection, *(statement.replace("{role}", self.username) for statement in statements))

    def content(self, table: str, expression: str) -> list[str] | str:
        """The value of a text expression for every row, ordered; the error's number when it cannot be read."""
        try:
            return [line for (line,) in self.run(f"SELECT {expression} AS line FROM `{table}` ORDER BY line")]
        except pymysql.Error as error:
            return str(error.args[0])


def open_database(server: MySQLServer, purpose: str, *statements: str, rights: str = "") -> RealMySQLDatabase:
    """A new database with an account that may capture every database of the server; `rights` on this one besides."""
    number = next(_numbers)
    database = RealMySQLDatabase(
        server=server,
        name=f"{purpose}{number}",
        username=f"{purpose}_role{number}",
        password=secrets.token_urlsafe(12),
    )
    server.run(
        f"CREATE DATABASE `{database.name}`",
        f"CREATE USER {database.username} IDENTIFIED BY '{database.password}'",
        f"GRANT {CAPTURE_RIGHTS} ON *.* TO {database.username}",
        *([f"GRANT {rights} ON `{database.name}`.* TO {database.username}"] if rights else []),
    )
    database.run(*statements)
    return database


@pytest.fixture(scope="session")
def real_mysql() -> Iterator[MySQLServer]:
    """One MySQL server for all end-to-end tests of a process."""
    with mysql_or_skip() as server:
        yield server
