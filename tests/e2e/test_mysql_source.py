"""MySQL to PostgreSQL on the real stack: rows counted and compared on both sides."""

import pytest

from tests.e2e.awkward_mysql import COLUMNS, LONGEST, check_equal_rows, check_long_times, check_named_columns
from tests.support.apps.real_headgate import RealHeadgate
from tests.support.apps.real_mysql import open_database
from tests.support.databases.mysql import MySQLServer
from tests.support.waiting import eventually

pytestmark = pytest.mark.real


def test_rows_of_the_snapshot_and_changes_arrive_in_postgresql(headgate: RealHeadgate, real_mysql: MySQLServer) -> None:
    source = open_database(
        real_mysql,
        "shop",
        "CREATE TABLE orders (id INT PRIMARY KEY, note VARCHAR(100), total DECIMAL(10, 2), big BIGINT UNSIGNED)",
        "INSERT INTO orders VALUES (1, 'first', 1.50, 18446744073709551615), (2, 'emoji \U0001f600', NULL, 0)",
    )
    target = headgate.database("target")
    with real_mysql.general_log() as statements:
        pipeline = headgate.captured(source, "orders", schema=source.name)
        headgate.until_topics({"mappings": [{"topic": pipeline["topics"][0]}]})
    assert [one for one in statements if one.locks_a_table] == []
    destination = headgate.destination(target)
    body = headgate.delivery_body(pipeline, {pipeline["topics"][0]: "orders"}, auto_create=True, auto_evolve=True)
    headgate.deliver(destination, body)
    columns = ["id", "note", "total", "big"]
    snapshot = ["(1,first,1.50,18446744073709551615)", '(2,"emoji \U0001f600",,0)']
    eventually(lambda: target.content("shop", "orders", columns), lambda rows: rows == snapshot)

    source.run(
        "INSERT INTO orders VALUES (3, 'third', -0.01, 1)",
        "UPDATE orders SET note = 'changed' WHERE id = 1",
        "DELETE FROM orders WHERE id = 2",
    )

    changed = ["(1,changed,1.50,18446744073709551615)", "(3,third,-0.01,1)"]
    eventually(lambda: target.content("shop", "orders", columns), lambda rows: rows == changed)


def test_awkward_rows_of_mysql_arrive_equal_in_postgresql(headgate: RealHeadgate, real_mysql: MySQLServer) -> None:
    # Bits are bits in PostgreSQL, and bytes in MySQL.
    columns = [column for column in COLUMNS if column != "bits"]
    check_equal_rows(headgate, real_mysql, headgate.database("awkward"), columns)


def test_discovery_names_what_does_not_arrive_equal_in_postgresql(
    headgate: RealHeadgate, real_mysql: MySQLServer
) -> None:
    check_named_columns(headgate, real_mysql, headgate.database("zeros"))


@pytest.mark.parametrize(("lasts", "streamed"), [(LONGEST[0], True), (LONGEST[1], False)])
def test_discovery_names_times_at_which_a_delivery_to_postgresql_stops(
    headgate: RealHeadgate, real_mysql: MySQLServer, lasts: str, streamed: bool
) -> None:
    check_long_times(headgate, real_mysql, headgate.database("long"), lasts, streamed=streamed)
