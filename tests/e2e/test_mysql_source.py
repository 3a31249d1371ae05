"""MySQL to PostgreSQL on the real stack: rows counted and compared on both sides."""

import pytest

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
    pipeline = headgate.captured(source, "orders", schema=source.name)
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
