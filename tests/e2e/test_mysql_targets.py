"""Deliveries to MySQL on the real stack: rows counted and compared on both sides; sinks of two dialects at once."""

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, time, timedelta
from decimal import Decimal
from time import sleep as pause
from typing import Any
from uuid import UUID

import psycopg
import pymysql
import pytest

from chalicelib.domain.connectors.sink_starts import MAKES_TABLES_FOR
from tests.support.apps.real_headgate import Json, RealDatabase, RealHeadgate
from tests.support.apps.real_mysql import RealMySQLDatabase, open_database
from tests.support.databases.mysql import MySQLServer
from tests.support.databases.mysql_target import SINK_RIGHTS
from tests.support.waiting import eventually

pytestmark = pytest.mark.real

Rows = list[str]
_DAY = datetime(2024, 1, 1)  # noqa: DTZ001 - to make a duration of a time


def as_text(value: Any) -> str:
    """A value in one spelling, from whichever driver it comes."""
    if isinstance(value, datetime):
        return (value.replace(tzinfo=None) - (value.utcoffset() or timedelta())).isoformat(timespec="microseconds")
    spellings: tuple[tuple[Any, Callable[[Any], str]], ...] = (
        (bool, lambda flag: str(int(flag))),
        ((float, Decimal), lambda number: str(Decimal(number).normalize())),
        (time, lambda at: str(_DAY.combine(_DAY, at) - _DAY)),
        ((bytes, memoryview), lambda raw: bytes(raw).hex()),
        (UUID, lambda one: repr(str(one))),
        (str, repr),
    )
    text = next((spell(value) for kind, spell in spellings if isinstance(value, kind)), str(value))
    return text if len(text) < 200 else f"{len(text)} characters {hashlib.sha256(text.encode()).hexdigest()}"


def lines(rows: Sequence[Sequence[Any]], documents: Sequence[int] = ()) -> Rows:
    """Rows as text, ordered. `documents` are the columns with JSON."""
    return sorted(
        " | ".join(
            json.dumps(json.loads(one), sort_keys=True) if at in documents and one is not None else as_text(one)
            for at, one in enumerate(row)
        )
        for row in rows
    )


def in_mysql(database: RealMySQLDatabase, table: str, columns: Sequence[str], documents: Sequence[int] = ()) -> Rows:
    """The rows there; none while the table does not exist."""
    listed = ", ".join(f"`{column}`" for column in columns)
    try:
        return lines(database.run(f"SELECT {listed} FROM `{table}`"), documents)
    except pymysql.Error:
        return []


def in_postgresql(database: RealDatabase, table: str, columns: Sequence[str], documents: Sequence[int] = ()) -> Rows:
    listed = ", ".join(f'"{column}"' + "::text" * (at in documents) for at, column in enumerate(columns))
    try:
        return lines(database.run(f'SELECT {listed} FROM shop."{table}"'), documents)
    except psycopg.Error:
        return []


def tick(headgate: RealHeadgate) -> None:
    """A tick, and some time for it."""
    headgate.tick()
    pause(1)


def open_target(server: MySQLServer, purpose: str) -> RealMySQLDatabase:
    """A database that a delivery may write to and make tables in."""
    return open_database(server, purpose, rights=SINK_RIGHTS)


def until_equal(expected: Callable[[], Rows], arrived: Callable[[], Rows], seconds: float = 60) -> None:
    def differing() -> list[Rows]:
        wanted, found = expected(), arrived()
        return [[row for row in one if row not in other] for one, other in ((wanted, found), (found, wanted))]

    eventually(differing, lambda rows: rows == [[], []], seconds=seconds)
    assert len(arrived()) == len(expected())


LINES = ("Größe", "id", "note", "amount", "at", "seen", "flag", "raw", "doc", "uid", "of day", "day", "ratio")
DOCUMENTS = (LINES.index("doc"),)
MAKE_LINES = (
    """CREATE TABLE shop."Order Lines" ("Größe" varchar(40), id bigint, note text, amount numeric(38, 10),
    at timestamptz, seen timestamp, flag boolean, raw bytea, doc jsonb, uid uuid, "of day" time, day date,
    ratio double precision, PRIMARY KEY ("Größe", id))""",
    'ALTER TABLE shop."Order Lines" OWNER TO {role}',
    'ALTER TABLE shop."Order Lines" REPLICA IDENTITY FULL',
)
FILL_LINES = """INSERT INTO shop."Order Lines" VALUES
    ('a', 1, 'plain', 1.5, '2024-02-29 23:59:59.999999+02', '1000-01-01 00:00:00', true, '\\x00ff00', '{"a": [1, 2]}',
     'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '23:59:59.999999', '0001-01-01', 0.1),
    ('A', 1, 'emoji \U0001f600 ''quoted'' "twice" back\\slash `tick` ? :x', -0.0000000001, '1970-01-01 00:00:00+00',
     '9999-12-31 23:59:59.999999', false, '\\x', '{"x": null, "\U0001f600": "\\\\"}', NULL, '00:00:00', '9999-12-31',
     -1e300),
    ('á', 1, '', 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    ('á', -9223372036854775808, NULL, 9999999999999999999999999999.9999999999, NULL, NULL, NULL, NULL, '[]', NULL, NULL,
     NULL, NULL),
    ('', 0, repeat('long \U0001f600 ', 40000), NULL, NULL, NULL, NULL, decode(repeat('00ff', 50000), 'hex'), '"text"',
     NULL, NULL, NULL, NULL)"""
CHANGES_OF_LINES = (
    """UPDATE shop."Order Lines" SET note = 'changed', doc = '{"b": 1.5}' WHERE "Größe" = 'A'""",
    """UPDATE shop."Order Lines" SET "Größe" = 'ä' WHERE "Größe" = 'á' AND id = 1""",
    """DELETE FROM shop."Order Lines" WHERE "Größe" = 'á'""",
    """INSERT INTO shop."Order Lines" ("Größe", id, note) VALUES ('漢', 2, NULL)""",
)
BULK = 5_000


def test_awkward_rows_of_postgresql_arrive_equal_in_mysql(headgate: RealHeadgate, real_mysql: MySQLServer) -> None:
    source = headgate.database(
        "lines", *MAKE_LINES, FILL_LINES,
        "CREATE TABLE shop.bulk (id int PRIMARY KEY, note text, at timestamp)", "ALTER TABLE shop.bulk OWNER TO {role}",
        f"INSERT INTO shop.bulk SELECT n, 'row ' || n, now() FROM generate_series(1, {BULK}) AS n",
        "CREATE TABLE shop.events (id int, what text)", "ALTER TABLE shop.events OWNER TO {role}",
        "INSERT INTO shop.events VALUES (1, 'one'), (1, 'one')", "ALTER TABLE shop.events REPLICA IDENTITY FULL",
    )  # fmt: skip
    target = open_target(real_mysql, "my_target")
    pipeline = headgate.captured(source, "Order Lines", "bulk", "events")
    of_lines, of_bulk, of_events = pipeline["topics"]
    destination = headgate.destination(target)
    headgate.until_records(of_bulk, BULK)
    upserts = headgate.delivery_body(pipeline, {of_lines: "Order Lines", of_bulk: "bulk"}, target.name)
    # A text key in a database whose collation takes a and A for one is refused, with the table that tells them apart.
    refused = headgate.refused(f"/destinations/{destination['id']}/preview", upserts)
    assert "a, A and á are one key" in refused["message"]
    proposed = {one["table_name"]: one["statement"] for one in refused["details"]["target_ddl"]}
    target.run(proposed["Order Lines"])
    delivery = headgate.deliver(destination, upserts)
    inserts = headgate.delivery_body(pipeline, {of_events: "events"}, target.name, write_mode="insert")
    headgate.deliver(destination, inserts)

    def expected() -> Rows:
        return in_postgresql(source, "Order Lines", LINES, DOCUMENTS)

    def arrived() -> Rows:
        return in_mysql(target, "Order Lines", LINES, DOCUMENTS)

    assert len(expected()) == 5
    until_equal(expected, arrived)
    until_equal(lambda: in_postgresql(source, "bulk", ["id", "note", "at"]),
                lambda: in_mysql(target, "bulk", ["id", "note", "at"]))  # fmt: skip
    # A sink of the other dialect beside it, started once those of MySQL have had their time to make tables: rows are
    # written alike.
    pause(MAKES_TABLES_FOR.total_seconds())
    copy = headgate.database("lines_copy")
    headgate.deliver(headgate.destination(copy), headgate.delivery_body(pipeline, {of_lines: "Order Lines"}))

    def copied() -> Rows:
        return in_postgresql(copy, "Order Lines", LINES, DOCUMENTS)

    until_equal(expected, copied)
    source.run(
        *CHANGES_OF_LINES,
        "DELETE FROM shop.bulk WHERE id % 3 = 0",
        "ALTER TABLE shop.bulk ADD added numeric(10, 2)",
        "UPDATE shop.bulk SET added = id / 4.0 WHERE id % 5 = 0",
        "INSERT INTO shop.events VALUES (2, 'two')",
    )
    until_equal(expected, arrived)
    assert len(arrived()) == 5
    until_equal(lambda: in_postgresql(source, "bulk", ["id", "note", "added"]),
                lambda: in_mysql(target, "bulk", ["id", "note", "added"]))  # fmt: skip
    assert in_mysql(target, "bulk", ["id"]) == in_postgresql(source, "bulk", ["id"])
    until_equal(lambda: ["1 | 'one'", "1 | 'one'", "2 | 'two'"], lambda: in_mysql(target, "events", ["id", "what"]))
    until_equal(expected, copied)
    headgate.post(f"/deliveries/{delivery['id']}/restart")
    headgate.until_state(f"/deliveries/{delivery['id']}/status?fresh=true", "RUNNING")
    source.run('DELETE FROM shop."Order Lines"', FILL_LINES)
    until_equal(expected, copied)
    until_equal(expected, arrived)


TYPED = (
    "code",
    "big",
    "exact",
    "at",
    "stamp",
    "of day",
    "bits",
    "fixed",
    "raw",
    "doc",
    "mood",
    "tags",
    "note",
    "ratio",
)
TYPED_DOCUMENTS = (TYPED.index("doc"),)
MAKE_TYPED = (
    "CREATE TABLE `Odd 'name'` (code VARCHAR(50) COLLATE utf8mb4_bin, big BIGINT UNSIGNED, exact DECIMAL(30, 10),"
    " at DATETIME(6), stamp TIMESTAMP(6) NULL, `of day` TIME(3), bits BIT(8), fixed BINARY(8), raw VARBINARY(300),"
    " doc JSON, mood ENUM('sad', 'so so', 'happy'), tags SET('x', 'y'), note LONGTEXT, ratio DOUBLE,"
    " PRIMARY KEY (code))"
)
FILL_TYPED = (
    "INSERT INTO `Odd 'name'` VALUES"
    " ('a', 18446744073709551615, -99999999999999999999.9999999999, '1000-01-01', '2038-01-19 03:14:07.999999',"
    " '23:59:59.999', b'10000001', X'0102030000000000', X'00ff', '{\"a\": [1, 2.5]}', 'so so', 'x,y',"
    " 'emoji \U0001f600 \\'quoted\\' \\\\ ? :x', 0.1),"
    " ('A', 0, 0, '9999-12-31 23:59:59.999999', '1970-01-01 00:00:01', '00:00:00', b'0', X'00', X'', 'null', 'sad', '',"
    " '', -1e300),"
    " ('á', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)"
)


def test_awkward_rows_of_mysql_arrive_equal_in_another_database_of_mysql(
    headgate: RealHeadgate, real_mysql: MySQLServer
) -> None:
    source = open_database(real_mysql, "my_source", MAKE_TYPED, FILL_TYPED)
    target = open_target(real_mysql, "my_copy")
    # A table of the same name in another database that the account may see is not taken for the target.
    table = "Odd 'name'"
    pipeline = headgate.captured(source, table, schema=source.name)
    destination = headgate.destination(target)
    body = headgate.delivery_body(pipeline, {pipeline["topics"][0]: table}, target.name)
    headgate.until_records(pipeline["topics"][0], 3)
    refused = headgate.refused(f"/destinations/{destination['id']}/preview", body)
    for proposed in refused["details"]["target_ddl"]:
        target.run(proposed["statement"])
    headgate.deliver(destination, body)

    def expected() -> Rows:
        return in_mysql(source, table, TYPED, TYPED_DOCUMENTS)

    def arrived() -> Rows:
        return in_mysql(target, table, TYPED, TYPED_DOCUMENTS)

    assert len(expected()) == 3
    until_equal(expected, arrived)
    source.run(
        f"UPDATE `{table}` SET note = 'changed', fixed = X'ff00', doc = '[true]' WHERE code = 'A'",
        f"UPDATE `{table}` SET code = 'ä' WHERE code = 'á'",
        f"DELETE FROM `{table}` WHERE code = 'a'",
        f"INSERT INTO `{table}` (code, big) VALUES ('漢 \U0001f600', 9223372036854775808)",
    )
    until_equal(expected, arrived)
    assert len(arrived()) == 3


COLUMNS = "id int PRIMARY KEY, name text, at timestamp, raw bytea"
RIGHT: Mapping[str, list[str]] = {
    "postgresql": ["integer", "text", "timestamp(6) without time zone", "bytea"],
    "mysql": ["int(11)", "longtext", "datetime(6)", "longblob"],
}
TYPES_IN_POSTGRESQL = (
    "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'shop.{table}'::regclass AND attnum > 0"
    " ORDER BY attnum"
)


def types_made(database: RealDatabase | RealMySQLDatabase, table: str) -> list[str]:
    """The types of the columns of a table that a sink has made; none while it does not exist."""
    if isinstance(database, RealMySQLDatabase):
        query = (
            "SELECT COLUMN_TYPE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND"
            f" TABLE_NAME = '{table}' ORDER BY ORDINAL_POSITION"
        )
        return [name for (name,) in database.run(query)]
    try:
        return [name for (name,) in database.run(TYPES_IN_POSTGRESQL.replace("{table}", table))]
    except psycopg.Error:
        return []


class TwoKinds:
    """A destination of each kind on one Connect cluster, and a pipeline with a table for each round."""

    def __init__(self, headgate: RealHeadgate, server: MySQLServer, rounds: int) -> None:
        self.headgate = headgate
        tables = [f"round_{number}" for number in range(rounds)]
        self.source = headgate.database(
            "kinds",
            *(
                statement
                for table in tables
                for statement in (
                    f"CREATE TABLE shop.{table} ({COLUMNS})",
                    f"ALTER TABLE shop.{table} OWNER TO {{role}}",
                    f"INSERT INTO shop.{table} VALUES (1, 'x', now(), 'x')",
                )
            ),
        )
        self.targets = {"postgresql": headgate.database("kind_pg"), "mysql": open_target(server, "kind_my")}
        self.pipeline = headgate.captured(self.source, *tables)
        self.topics = dict(zip(tables, self.pipeline["topics"], strict=True))
        for topic in self.topics.values():
            headgate.until_records(topic, 1)
        self.destinations = {kind: headgate.destination(target) for kind, target in self.targets.items()}

    def deploy(self, kind: str, *tables: str) -> Json:
        schema = "shop" if kind == "postgresql" else self.targets[kind].name
        mapped = {self.topics[table]: table for table in tables}
        body = self.headgate.delivery_body(self.pipeline, mapped, schema)
        return dict(self.headgate.post(f"/destinations/{self.destinations[kind]['id']}/deploy", body))

    def deploy_both(self, table: str) -> dict[str, Json]:
        """Deploys a delivery of the table to each kind in the same moment."""
        made: dict[str, Json] = {}
        starts = [
            threading.Thread(target=lambda kind=kind: made.update({kind: self.deploy(kind, table)})) for kind in RIGHT
        ]
        for thread in starts:
            thread.start()
        for thread in starts:
            thread.join()
        return made

    def until_made(self, table: str) -> dict[str, list[str]]:
        """The types of the table in each target, once both have made it."""

        def made() -> dict[str, list[str]]:
            tick(self.headgate)
            return {kind: types_made(target, table) for kind, target in self.targets.items()}

        return eventually(made, lambda types: all(types.values()), seconds=90)

    def end(self) -> None:
        self.headgate.delete_pipeline(self.pipeline, self.source)


def run_rounds(kinds: TwoKinds) -> None:
    for table in kinds.topics:
        deliveries = kinds.deploy_both(table)
        assert kinds.until_made(table) == RIGHT
        for delivery in deliveries.values():
            kinds.headgate.delete(f"/deliveries/{delivery['id']}")


@pytest.fixture
def two_kinds(headgate: RealHeadgate, real_mysql: MySQLServer, request: pytest.FixtureRequest) -> Iterator[TwoKinds]:
    kinds = TwoKinds(headgate, real_mysql, request.param)
    yield kinds
    kinds.end()


@pytest.mark.parametrize("two_kinds", [5], indirect=True)
def test_sinks_of_two_kinds_that_are_deployed_at_once_make_the_right_tables(two_kinds: TwoKinds) -> None:
    run_rounds(two_kinds)


@pytest.mark.long
@pytest.mark.parametrize("two_kinds", [20], indirect=True)
def test_sinks_of_two_kinds_make_the_right_tables_twenty_times(two_kinds: TwoKinds) -> None:
    run_rounds(two_kinds)


@pytest.mark.parametrize("two_kinds", [2], indirect=True)
def test_a_sink_whose_later_table_would_get_types_of_the_other_kind_is_restarted_and_makes_the_right_one(
    two_kinds: TwoKinds,
) -> None:
    headgate = two_kinds.headgate
    source = two_kinds.source
    first, later = two_kinds.topics
    # The topic of the second table has no record when the sink starts.
    source.run(f"CREATE TABLE shop.empty ({COLUMNS})", "ALTER TABLE shop.empty OWNER TO {role}")
    pipeline = headgate.captured(source, "empty")
    delivered = two_kinds.deploy("postgresql", first)
    topic = pipeline["topics"][0]
    source.run("INSERT INTO shop.empty VALUES (0, 'x', now(), 'x')", "DELETE FROM shop.empty")
    headgate.until_records(topic, 2)
    body = headgate.delivery_body(pipeline, {topic: "empty"})
    eventually(lambda: types_made(two_kinds.targets["postgresql"], first), bool)
    of_empty = headgate.deliver(two_kinds.destinations["postgresql"], body)
    eventually(lambda: types_made(two_kinds.targets["postgresql"], "empty"), bool)
    two_kinds.targets["postgresql"].run("DROP TABLE shop.empty")
    in_mysql_too = two_kinds.deploy("mysql", later)
    eventually(lambda: types_made(two_kinds.targets["mysql"], later), bool)
    preview = headgate.post(f"/destinations/{two_kinds.destinations['mysql']['id']}/preview",
                            headgate.delivery_body(two_kinds.pipeline, {two_kinds.topics[first]: first},
                                                   two_kinds.targets["mysql"].name))  # fmt: skip
    assert "SINKS_OF_TWO_KINDS" in {warning["code"] for warning in preview["warnings"]}
    source.run("INSERT INTO shop.empty VALUES (1, 'x', now(), 'x')")

    def made() -> list[str]:
        tick(headgate)
        return types_made(two_kinds.targets["postgresql"], "empty")

    assert eventually(made, bool, seconds=120) == RIGHT["postgresql"]
    headgate.until_state(f"/deliveries/{of_empty['id']}/status?fresh=true", "RUNNING")
    audited = headgate.get(f"/audit?resource_id={of_empty['id']}")
    assert "delivery.restart_failed" in {record["action"] for record in audited}
    for delivery in (delivered, of_empty, in_mysql_too):
        headgate.delete(f"/deliveries/{delivery['id']}")
    headgate.delete_pipeline(pipeline, source)


ROWS = 990


def test_a_dropped_table_in_mysql_that_the_sink_makes_again_is_told(
    measured: RealHeadgate, real_mysql: MySQLServer
) -> None:
    source = measured.database(
        "lost", "CREATE TABLE shop.orders (id int PRIMARY KEY, note text)", "ALTER TABLE shop.orders OWNER TO {role}",
        f"INSERT INTO shop.orders SELECT n, 'a note' FROM generate_series(1, {ROWS}) AS n",
    )  # fmt: skip
    target = open_target(real_mysql, "my_lost")
    pipeline = measured.captured(source, "orders")
    measured.until_records(pipeline["topics"][0], ROWS)
    destination = measured.destination(target)
    body = measured.delivery_body(pipeline, {pipeline["topics"][0]: "orders"}, target.name)
    delivery = measured.deliver(destination, body)
    eventually(lambda: len(in_mysql(target, "orders", ["id"])), lambda rows: rows == ROWS, seconds=60)

    def status() -> Json:
        tick(measured)
        measured.look_at_destination(destination)
        return dict(measured.get(f"/deliveries/{delivery['id']}/status?fresh=true"))

    for _ in range(4):
        source.run("UPDATE shop.orders SET note = note || '.' WHERE id <= 3")
        eventually(status, lambda seen: seen["observed_state"] == "RUNNING", seconds=60)
    target.run("DROP TABLE orders")
    source.run("UPDATE shop.orders SET note = 'another' WHERE id = 7")
    eventually(lambda: len(in_mysql(target, "orders", ["id"])), lambda rows: rows == 1, seconds=60)
    # A look that came before the sink has seen it dropped.
    lost = f"Somebody else has removed rows from the target: {target.name}.orders was "
    seen = eventually(status, lambda seen: any(lost in reason for reason in seen["reasons"]), seconds=90)
    assert seen["observed_state"] == "DEGRADED"
    assert "about 990 rows" in seen["reasons"][0]
    measured.delete(f"/deliveries/{delivery['id']}")
    measured.delete_pipeline(pipeline, source)
