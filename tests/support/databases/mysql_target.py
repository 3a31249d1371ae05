"""Databases on a real MySQL that a delivery writes to, and the verdict on their tables."""

import contextlib
import itertools
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pymysql
import pytest

from chalicelib.clients.databases.mysql.client import MySQL
from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.database import DatabaseProvider, SslMode
from chalicelib.domain.delivery import DeliveryVerdict, TableMapping, TableWriting
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.providers.mysql.target import judge_target
from chalicelib.domain.providers.mysql.target_facts import MySQLTargetFacts
from chalicelib.domain.table import Column, SourceTable, TableName
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret
from tests.support.databases.mysql import HOST, MySQLServer, run
from tests.support.entities import make_source_table

SINK_RIGHTS = "SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER"
_numbers = itertools.count(1)


def source_column(name: str, type_name: str, **fields: Any) -> Column:
    return Column(**{"name": name, "type": type_name, "nullable": True, "ordinal": 1, **fields})


SOURCE = make_source_table(
    TableName("shop", "orders"),
    columns=(
        source_column("id", "bigint", nullable=False),
        source_column("customer", "text"),
        source_column("amount", "numeric(10,2)"),
    ),
)
"""Orders of a PostgreSQL source, with the key `id`."""
CREATED = "CREATE TABLE orders (id BIGINT PRIMARY KEY, customer LONGTEXT, amount DECIMAL(10, 2))"
"""Makes the table that takes every row of SOURCE."""


@dataclass(frozen=True, kw_only=True)
class MySQLCopy:
    """A database that `role` may write to."""

    server: MySQLServer
    name: str
    role: str
    password: str = field(repr=False)

    def run(self, *statements: str) -> Sequence[tuple[Any, ...]]:
        """Runs statements as root, in this database; `{role}` and `{database}` are replaced by this one's."""
        filled = (one.replace("{role}", self.role).replace("{database}", self.name) for one in statements)
        return self.server.run(*filled, database=self.name)

    def grant(self, rights: str, on: str = "{database}.*") -> None:
        """Gives the role exactly these rights."""
        self.run("REVOKE ALL PRIVILEGES, GRANT OPTION FROM {role}", f"GRANT {rights} ON {on} TO {{role}}")

    def as_role(self, **options: Any) -> "pymysql.Connection[Any]":
        return self.server.connect(self.role, self.password, self.name, **options)

    @property
    def client(self) -> MySQL:
        address = DatabaseAddress(
            provider=DatabaseProvider.MYSQL, host=HOST, port=self.server.port, database_name=self.name,
            username=self.role, ssl_mode=SslMode.PREFER,
        )  # fmt: skip
        endpoint = OpenedEndpoint(address=address, secrets={"password": Secret(self.password)})
        return MySQL(endpoint=endpoint, check_host=lambda host: (host,))

    def table(self, name: str = "orders") -> TableName:
        return TableName(self.name, name)

    def facts(self, *tables: str) -> MySQLTargetFacts:
        return self.client.target_facts([self.table(name) for name in tables or ("orders",)], Deadline.after(15))

    def verdict(
        self, source: SourceTable = SOURCE, table: str = "orders", *, tasks_max: int = 1, **options: Any
    ) -> DeliveryVerdict:
        """The verdict on delivering the source's rows to the table."""
        mapping = TableMapping(topic="t.shop.orders", schema_name=self.name, table_name=table)
        writing = TableWriting(mappings=(mapping,), **options)
        return judge_target(writing, tasks_max, {mapping.topic: source}, self.facts(table))


def problems(judged: DeliveryVerdict) -> list[str]:
    """The sentences of all problems."""
    return [
        listed["message"]
        for problem in judged.problems
        if isinstance(problem.details, dict)
        for listed in problem.details["problems"]
    ]


def warned(judged: DeliveryVerdict) -> dict[str, str]:
    return {warning.code: warning.message for warning in judged.warnings}


@contextlib.contextmanager
def open_mysql_copy(server: MySQLServer) -> Iterator[MySQLCopy]:
    """A new, empty database with its own role. Afterwards both are dropped."""
    number = next(_numbers)
    copy = MySQLCopy(server=server, name=f"copy{number}", role=f"sink{number}", password=secrets.token_urlsafe(12))
    server.run(
        f"CREATE DATABASE {copy.name}",
        f"CREATE USER {copy.role} IDENTIFIED BY '{copy.password}'",
        f"GRANT {SINK_RIGHTS} ON {copy.name}.* TO {copy.role}",
    )
    try:
        yield copy
    finally:
        server.run(f"DROP DATABASE IF EXISTS {copy.name}", f"DROP USER IF EXISTS {copy.role}")


@pytest.fixture
def mysql_copy(mysql_server: MySQLServer) -> Iterator[MySQLCopy]:
    with open_mysql_copy(mysql_server) as opened:
        yield opened


def upsert(connection: "pymysql.Connection[Any]", table: str, **values: Any) -> None:
    """Writes a row as Debezium's sink 3.6 does on a server before 8.0.20."""
    names = ", ".join(f"`{name}`" for name in values)
    updates = ", ".join(f"`{name}` = VALUES(`{name}`)" for name in values)
    with connection.cursor() as cursor:
        places = ", ".join(["%s"] * len(values))
        cursor.execute(
            f"INSERT INTO `{table}` ({names}) VALUES ({places}) ON DUPLICATE KEY UPDATE {updates}", [*values.values()]
        )


def strict(copy: MySQLCopy) -> "pymysql.Connection[Any]":
    """A session of the role as the sink's are."""
    connection = copy.as_role(charset="utf8mb4")
    run(connection, "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO'")
    return connection
