"""The databases of a demonstration, each with its own role: a source whose tables are hard to capture, and a target."""

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.sql import SQL, Identifier, Literal

PREFIX = "headgate_demo_"
PUBLICATION = "headgate_demo"
HEARTBEAT = {"schema_name": "public", "table_name": "headgate_heartbeat"}
TARGET_SCHEMA = "Lager Süd"
MAX_WAIT_MS = 30_000

_CUSTOMERS = """
    id integer PRIMARY KEY,
    name varchar(80) NOT NULL,
    note text,
    "Guthaben €" numeric(12,2),
    joined timestamptz NOT NULL,
    birthday date,
    active boolean NOT NULL,
    token uuid NOT NULL,
    profile jsonb,
    photo bytea,
    tags text[],
    scores integer[]
"""
_CUSTOMER_ROWS = """
    SELECT g,
           (ARRAY['Zoë', 'Łukasz', 'Jürgen', 'Νίκη', '李娜', 'Søren 🙂'])[1 + g %% 6] || ' ' || g,
           CASE g %% 3 WHEN 0 THEN NULL WHEN 1 THEN '' ELSE 'übrig ' || g END,
           CASE WHEN g %% 7 > 0 THEN g * 1234.56 - 300000 END,
           timestamptz '2001-02-03 04:05:06.789+02' + g * interval '7 hours',
           CASE WHEN g %% 5 > 0 THEN date '1970-01-01' + g * 9 END,
           g %% 2 = 0,
           md5('token ' || g)::uuid,
           jsonb_build_object('n', g, 'städte', jsonb_build_array('Zürich', 'Łódź'), 'none', NULL),
           CASE WHEN g %% 4 > 0 THEN decode(md5('photo ' || g), 'hex') END,
           CASE g %% 4 WHEN 0 THEN NULL WHEN 1 THEN ARRAY[]::text[] ELSE ARRAY['a b', 'ö"ß', ''] END,
           ARRAY[g, -g, 0]
    FROM generate_series(%(first)s::integer, %(last)s::integer) g
"""


@dataclass(frozen=True, kw_only=True)
class DemoTable:
    """A table of the source. `columns` and `rows` are SQL: what CREATE TABLE and INSERT take.

    `full_identity`: its key needs quotes, so that Debezium could not read large values again.
    """

    schema: str
    name: str
    key: tuple[str, ...]
    columns: str
    rows: str
    count: int
    full_identity: bool = False

    @property
    def label(self) -> str:
        """The name for people."""
        return f"{self.schema}.{self.name}"


TABLES = (
    DemoTable(schema="public", name="customers", key=("id",), columns=_CUSTOMERS, rows=_CUSTOMER_ROWS, count=600),
    DemoTable(
        schema="Verkauf Süd",
        name="Order Lines",
        key=("Order No", "Line"),
        columns="""
            "Order No" bigint, "Line" smallint, "Größe" text, price numeric(10,3) NOT NULL, "order" integer,
            PRIMARY KEY ("Order No", "Line")
        """,
        rows="""
            SELECT 5000000000 + (g + 3) / 4, 1 + (g + 3) %% 4, (ARRAY['S', 'M', 'Ü-Größe', NULL])[1 + g %% 4],
                   g * 0.125, g
            FROM generate_series(%(first)s::integer, %(last)s::integer) g
        """,
        count=400,
        full_identity=True,
    ),
    DemoTable(
        schema="public",
        name="select",
        key=("from",),
        columns='"from" text PRIMARY KEY, "group" integer, "user" boolean, "Where" double precision',
        rows="""
            SELECT 'straße ' || g, nullif(g %% 9, 0), g %% 2 = 0, g / 8.0
            FROM generate_series(%(first)s::integer, %(last)s::integer) g
        """,
        count=80,
    ),
    DemoTable(
        schema="public",
        name="documents",
        key=("id",),
        columns="id uuid PRIMARY KEY, title text NOT NULL, body text, checked boolean NOT NULL DEFAULT false",
        rows="""
            SELECT md5('document ' || g)::uuid, 'Akte № ' || g, repeat('Füllung ', g)
            FROM generate_series(%(first)s::integer, %(last)s::integer) g
        """,
        count=20,
    ),
)
ROWS = sum(table.count for table in TABLES)
MADE_BEFOREHAND = TABLES[:1]
"""Target tables that the owner of the target makes; the sink makes the others."""


@dataclass(frozen=True, kw_only=True)
class DemoDatabase:
    """One database and the role that Headgate uses for it."""

    name: str
    role: str
    password: str = field(repr=False)
    superuser: str = field(repr=False)

    @contextmanager
    def as_superuser(self) -> Iterator[psycopg.Connection[Any]]:
        """A connection that commits after each statement."""
        with connected(make_conninfo(self.superuser, dbname=self.name)) as connection:
            yield connection

    @property
    def config(self) -> dict[str, Any]:
        """The connection as the API takes it."""
        place = conninfo_to_dict(self.superuser)
        return {
            "host": place["host"],
            "port": int(place["port"] or 5432),
            "database_name": self.name,
            "username": self.role,
        }

    @property
    def credentials(self) -> Mapping[str, str]:
        """The secret as the API takes it."""
        return {"password": self.password}


@contextmanager
def connected(conninfo: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection in autocommit, with a time limit for each statement."""
    options = f"-c statement_timeout={MAX_WAIT_MS}"
    with psycopg.connect(conninfo, autocommit=True, connect_timeout=10, options=options) as connection:
        yield connection


def make_source(superuser: str, stamp: str) -> DemoDatabase:
    """A database with filled tables, a publication of them, and a role that may replicate and read.

    Beside them it has the table of the heartbeat, the only one that the role may write.
    """
    database = _make(superuser, f"{PREFIX}{stamp}_shop", f"{PREFIX}{stamp}_capture", "REPLICATION")
    with database.as_superuser() as connection:
        for table in TABLES:
            _make_table(connection, table.schema, table)
            insert(connection, table, 1, table.count)
            if table.full_identity:
                qualified = Identifier(table.schema, table.name)
                connection.execute(SQL("ALTER TABLE {} REPLICA IDENTITY FULL").format(qualified))
        for schema in sorted({table.schema for table in TABLES}):
            grant = SQL("GRANT USAGE ON SCHEMA {0} TO {1}; GRANT SELECT ON ALL TABLES IN SCHEMA {0} TO {1}")
            connection.execute(grant.format(Identifier(schema), Identifier(database.role)))
        names = SQL(", ").join(Identifier(table.schema, table.name) for table in TABLES)
        heartbeat = Identifier(*HEARTBEAT.values())
        connection.execute(SQL("CREATE TABLE {} (id integer PRIMARY KEY, ts timestamptz NOT NULL)").format(heartbeat))
        grant = SQL("GRANT SELECT, INSERT, UPDATE ON TABLE {} TO {}")
        connection.execute(grant.format(heartbeat, Identifier(database.role)))
        publish = SQL("CREATE PUBLICATION {} FOR TABLE {}, {}")
        connection.execute(publish.format(Identifier(PUBLICATION), names, heartbeat))
        connection.execute("ANALYZE")
    return database


def make_target(superuser: str, stamp: str) -> DemoDatabase:
    """A database with one schema, of the writing role, and one empty table."""
    database = _make(superuser, f"{PREFIX}{stamp}_lake", f"{PREFIX}{stamp}_writer", "")
    with database.as_superuser() as connection:
        role = Identifier(database.role)
        connection.execute(SQL("CREATE SCHEMA {} AUTHORIZATION {}").format(Identifier(TARGET_SCHEMA), role))
        for table in MADE_BEFOREHAND:
            _make_table(connection, TARGET_SCHEMA, table)
            qualified = Identifier(TARGET_SCHEMA, table.name)
            connection.execute(SQL("ALTER TABLE {} OWNER TO {}").format(qualified, role))
    return database


def insert(connection: psycopg.Connection[Any], table: DemoTable, first: int, last: int) -> int:
    """Inserts the rows numbered first to last, in one transaction; returns how many."""
    statement = SQL("INSERT INTO {} {}").format(Identifier(table.schema, table.name), _sql(table.rows))
    return connection.execute(statement, {"first": first, "last": last}).rowcount


def _make(superuser: str, name: str, role: str, attributes: str) -> DemoDatabase:
    password = secrets.token_urlsafe(24)
    with connected(superuser) as connection:
        create = SQL("CREATE ROLE {} LOGIN {} PASSWORD {}")
        connection.execute(create.format(Identifier(role), _sql(attributes), Literal(password)))
        connection.execute(SQL("CREATE DATABASE {}").format(Identifier(name)))
        connection.execute(SQL("GRANT CONNECT ON DATABASE {} TO {}").format(Identifier(name), Identifier(role)))
    return DemoDatabase(name=name, role=role, password=password, superuser=superuser)


def _make_table(connection: psycopg.Connection[Any], schema: str, table: DemoTable) -> None:
    connection.execute(SQL("CREATE SCHEMA IF NOT EXISTS {}").format(Identifier(schema)))
    create = SQL("CREATE TABLE {} ({})").format(Identifier(schema, table.name), _sql(table.columns))
    connection.execute(create)


def _sql(constant: str) -> SQL:
    """A constant of this file as a part of a statement."""
    return SQL(constant)
