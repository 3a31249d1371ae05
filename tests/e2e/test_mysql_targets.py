"""Deliveries to MySQL on the real stack: rows counted and compared on both sides."""

import pytest

from tests.e2e.awkward_mysql import COLUMNS, LONGEST, check_equal_rows, check_long_times, check_named_columns
from tests.e2e.equal_rows import Rows, in_mysql, in_postgresql, open_target, tick, until_equal, until_healthy
from tests.support.apps.real_headgate import Json, RealHeadgate
from tests.support.databases.mysql import MySQLServer
from tests.support.waiting import eventually

pytestmark = pytest.mark.real

LINES = (
    *("Größe", "id", "note", "amount", "at", "seen", "flag", "raw", "doc", "uid", "of day", "day", "ratio"),
    *("mood", "it's big"),
)
DOCUMENTS = (LINES.index("doc"),)
MAKE_LINES = (
    "CREATE TYPE shop.mood AS ENUM ('a,b', 'it''s', '\U0001f600')",
    """CREATE TABLE shop."Order Lines" ("Größe" varchar(40), id bigint, note text, amount numeric(38, 10),
    at timestamptz, seen timestamp, flag boolean, raw bytea, doc jsonb, uid uuid, "of day" time, day date,
    ratio double precision, mood shop.mood, "it's big" numeric(20), PRIMARY KEY ("Größe", id))""",
    'ALTER TABLE shop."Order Lines" OWNER TO {role}',
    'ALTER TABLE shop."Order Lines" REPLICA IDENTITY FULL',
)
FILL_LINES = """INSERT INTO shop."Order Lines" VALUES
    ('a', 1, 'plain', 1.5, '2024-02-29 23:59:59.999999+02', '1000-01-01 00:00:00', true, '\\x00ff00', '{"a": [1, 2]}',
     'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '23:59:59.999999', '0001-01-01', 0.1, 'a,b', 18446744073709551615),
    ('A', 1, 'emoji \U0001f600 ''quoted'' "twice" back\\slash `tick` ? :x', -0.0000000001, '1970-01-01 00:00:00+00',
     '9999-12-31 23:59:59.999999', false, '\\x', '{"x": null, "\U0001f600": "\\\\"}', NULL, '00:00:00', '9999-12-31',
     -1e300, '\U0001f600', -18446744073709551615),
    ('á', 1, '', 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    ('á', -9223372036854775808, NULL, 9999999999999999999999999999.9999999999, NULL, NULL, NULL, NULL, '[]', NULL, NULL,
     NULL, NULL, NULL, 0),
    ('', 0, repeat('long \U0001f600 ', 40000), NULL, NULL, NULL, NULL, decode(repeat('00ff', 50000), 'hex'), '"text"',
     NULL, NULL, NULL, NULL, 'it''s', NULL)"""
CHANGES_OF_LINES = (
    """UPDATE shop."Order Lines" SET note = 'changed', doc = '{"b": 1.5}', mood = 'a,b' WHERE "Größe" = 'A'""",
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
    # A sink of the other dialect beside it: rows are written alike.
    copy = headgate.database("lines_copy")
    beside = headgate.delivery_body(pipeline, {of_lines: "Order Lines"})
    until_healthy(headgate, headgate.post(f"/destinations/{headgate.destination(copy)['id']}/deploy", beside))

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


def test_awkward_rows_of_mysql_arrive_equal_in_another_database_of_mysql(
    headgate: RealHeadgate, real_mysql: MySQLServer
) -> None:
    # A table of the same name in another database that the account may see is not taken for the target.
    check_equal_rows(headgate, real_mysql, open_target(real_mysql, "my_copy"), COLUMNS)


def test_discovery_names_what_does_not_arrive_equal_in_mysql(headgate: RealHeadgate, real_mysql: MySQLServer) -> None:
    check_named_columns(headgate, real_mysql, open_target(real_mysql, "my_zeros"))


@pytest.mark.parametrize(("lasts", "streamed"), [(LONGEST[0], False), (LONGEST[1], True)])
def test_discovery_names_times_at_which_a_delivery_to_mysql_stops(
    headgate: RealHeadgate, real_mysql: MySQLServer, lasts: str, streamed: bool
) -> None:
    check_long_times(headgate, real_mysql, open_target(real_mysql, "my_long"), lasts, streamed=streamed)


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
        measured.until_looked()
        return dict(measured.get(f"/deliveries/{delivery['id']}/status?fresh=true"))

    # InnoDB brings the number of rows in its statistics up to date some seconds later.
    target.run("ANALYZE TABLE orders")
    measured.until_tables_are_known(destination, delivery)
    assert status()["reasons"] == []
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
