"""What a look at target tables of a real MySQL finds after each kind of change."""

import contextlib
from collections.abc import Iterator

import pytest

from chalicelib.clients.databases.mysql.target_tables import COUNTED_PER_LOOK
from chalicelib.domain.monitoring.target_tables import (
    Deletes,
    LossKind,
    WatchedTable,
    by_name,
    losses,
    rows_to_count,
    suspicions,
    undecided,
)
from chalicelib.domain.table import TableName
from chalicelib.kit.clock import Deadline, utc_now
from tests.support.databases.mysql import run
from tests.support.databases.mysql_target import SINK_RIGHTS, MySQLCopy

ROWS = 990
MADE = "CREATE TABLE orders (id INT PRIMARY KEY, customer VARCHAR(50), amount INT)"
A_MINUTE_AGO = "SET TIMESTAMP = UNIX_TIMESTAMP() - 60"
NONE_OF_OURS = Deletes(enabled=True, records=0)
"""The delivery deletes, and has delivered nothing since."""
_ROWS = "SELECT ROW_NUMBER() OVER () AS number FROM mysql.help_topic, mysql.help_category LIMIT {rows}"

Found = list[tuple[LossKind, int | None]]
Tables = dict[TableName, WatchedTable]


def fill(rows: int, table: str = "orders") -> str:
    return f"INSERT INTO {table} SELECT number, 'somebody', 1 FROM ({_ROWS.format(rows=rows)}) AS numbers"


def tables(copy: MySQLCopy, *names: str) -> Tables:
    return dict(
        by_name(copy.client.target_tables([copy.table(one) for one in names or ("orders",)], Deadline.after(15)))
    )


def compare(copy: MySQLCopy, before: Tables, deletes: Deletes = NONE_OF_OURS) -> Found:
    """What the next look finds: each loss with the rows that are left."""
    seen = tables(copy, *(name.table_name for name in before))
    suspected = suspicions(before, seen, deletes)
    counted = copy.client.count_rows(rows_to_count(before, seen, suspected), Deadline.after(15))
    assert undecided(before, seen, suspected, counted) == frozenset()
    found = losses(before, seen, suspected, counted, deletes, utc_now())
    return [(loss.kind, loss.rows_after) for loss in found]


@pytest.fixture
def filled(mysql_copy: MySQLCopy) -> Tables:
    """990 orders that a look has seen, a minute after the table was made: its time has whole seconds."""
    mysql_copy.run(A_MINUTE_AGO, MADE, fill(ROWS))
    seen = tables(mysql_copy)
    assert [table.rows for table in seen.values()] == [ROWS]
    return seen


def test_a_dropped_table_is_told_before_it_is_made_again(mysql_copy: MySQLCopy, filled: Tables) -> None:
    mysql_copy.run("DROP TABLE orders")
    assert compare(mysql_copy, filled) == [(LossKind.DROPPED, None)]


def test_a_table_that_was_dropped_and_made_again_with_one_row_is_told(mysql_copy: MySQLCopy, filled: Tables) -> None:
    mysql_copy.run("DROP TABLE orders", MADE, "INSERT INTO orders VALUES (1, 'somebody', 2)")
    assert compare(mysql_copy, filled) == [(LossKind.TRUNCATED, 1)]


@pytest.mark.parametrize("rows", [0, 1])
def test_a_truncate_is_told_also_when_a_row_has_come_since(mysql_copy: MySQLCopy, filled: Tables, rows: int) -> None:
    mysql_copy.run("TRUNCATE orders", fill(rows))
    # The server keeps the time at which the table was made.
    assert compare(mysql_copy, filled) == [(LossKind.ROWS_DELETED, rows)]


@pytest.mark.parametrize("deletes", [NONE_OF_OURS, Deletes(enabled=False)])
def test_rows_that_somebody_else_deletes_are_told(mysql_copy: MySQLCopy, filled: Tables, deletes: Deletes) -> None:
    mysql_copy.run("DELETE FROM orders")
    assert compare(mysql_copy, filled, deletes) == [(LossKind.ROWS_DELETED, 0)]


@pytest.mark.parametrize("deletes", [Deletes(enabled=True, records=2 * ROWS), Deletes(enabled=True)])
@pytest.mark.parametrize("also", ["SELECT 1", "ALTER TABLE orders ADD note INT"])
def test_rows_that_the_delivery_may_have_deleted_are_no_loss(
    mysql_copy: MySQLCopy, filled: Tables, deletes: Deletes, also: str
) -> None:
    mysql_copy.run("DELETE FROM orders", also)
    assert compare(mysql_copy, filled, deletes) == []


@pytest.mark.parametrize(("rows", "found"), [(900, [(LossKind.TRUNCATED, 900)]), (ROWS, [])])
def test_a_restored_dump_is_told_where_it_has_fewer_rows(
    mysql_copy: MySQLCopy, filled: Tables, rows: int, found: Found
) -> None:
    mysql_copy.run("DROP TABLE orders", MADE, fill(rows))
    assert compare(mysql_copy, filled) == found


@pytest.mark.parametrize(("rows", "found"), [(ROWS, []), (ROWS - 50, [(LossKind.TRUNCATED, ROWS - 50)])])
def test_a_swap_by_rename_is_told_where_it_has_fewer_rows(
    mysql_copy: MySQLCopy, filled: Tables, rows: int, found: Found
) -> None:
    mysql_copy.run(
        "CREATE TABLE others LIKE orders", f"INSERT INTO others SELECT * FROM orders LIMIT {rows}",
        "RENAME TABLE orders TO former, others TO orders",
    )  # fmt: skip
    assert compare(mysql_copy, filled) == found


REMOVES_NOTHING = (
    "OPTIMIZE TABLE orders",
    "ANALYZE TABLE orders",
    "ALTER TABLE orders ENGINE = InnoDB",
    "ALTER TABLE orders MODIFY amount BIGINT",
    "ALTER TABLE orders ADD note VARCHAR(9) DEFAULT 'none', ALGORITHM = INSTANT",
    "ALTER TABLE orders ADD INDEX (customer)",
    "ALTER TABLE orders CONVERT TO CHARACTER SET latin1",
    "UPDATE orders SET amount = 5",
    "RENAME TABLE orders TO others, others TO orders",
    "FLUSH TABLES",
)


def test_what_removes_no_row_is_no_loss_in_twenty_looks(mysql_copy: MySQLCopy, filled: Tables) -> None:
    for statement in REMOVES_NOTHING:
        mysql_copy.run(statement)
        assert compare(mysql_copy, filled) == [], statement
        assert compare(mysql_copy, tables(mysql_copy)) == [], statement


def test_rows_that_are_being_written_are_no_loss(mysql_copy: MySQLCopy, filled: Tables) -> None:
    with mysql_copy.as_role(autocommit=False) as writer:
        run(writer, "DELETE FROM orders", fill(5).replace("mysql.help_topic, mysql.help_category", "orders"))
        # Not committed: a look sees the rows before.
        assert compare(mysql_copy, filled) == []
        writer.rollback()
    assert compare(mysql_copy, filled) == []


def test_of_a_large_table_the_first_rows_are_counted(mysql_copy: MySQLCopy) -> None:
    rows = COUNTED_PER_LOOK + 20_000
    numbers = f"WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < {rows})"
    mysql_copy.run(
        A_MINUTE_AGO,
        "SET SESSION cte_max_recursion_depth = 1000000",
        MADE.replace("orders", "large"),
        f"INSERT INTO large {numbers} SELECT id, 'somebody', 1 FROM n",
    )
    before = tables(mysql_copy, "large")
    assert [table.rows for table in before.values()] == [COUNTED_PER_LOOK]
    mysql_copy.run("OPTIMIZE TABLE large")
    assert compare(mysql_copy, before) == []
    mysql_copy.run("DELETE FROM large WHERE id > 50000")
    assert compare(mysql_copy, before) == [(LossKind.TRUNCATED, 50_000)]


@pytest.fixture
def parted(mysql_copy: MySQLCopy) -> Tables:
    """A table of three partitions with 100 rows each."""
    bounds = ", ".join(f"PARTITION p{number} VALUES LESS THAN ({100 * number + 100})" for number in range(3))
    mysql_copy.run(f"CREATE TABLE orders (id INT PRIMARY KEY) PARTITION BY RANGE (id) ({bounds})")
    mysql_copy.run(f"INSERT INTO orders SELECT number - 1 FROM ({_ROWS.format(rows=300)}) AS numbers")
    return tables(mysql_copy)


def test_a_partition_that_is_gone_is_told(mysql_copy: MySQLCopy, parted: Tables) -> None:
    mysql_copy.run("ALTER TABLE orders DROP PARTITION p1")
    assert compare(mysql_copy, parted) == [(LossKind.PARTITIONS_REMOVED, 200)]


def test_a_partition_that_is_truncated_is_told(mysql_copy: MySQLCopy, parted: Tables) -> None:
    mysql_copy.run("ALTER TABLE orders TRUNCATE PARTITION p1")
    assert [rows for _, rows in compare(mysql_copy, parted)] == [200]


def test_new_and_empty_partitions_are_no_loss(mysql_copy: MySQLCopy, parted: Tables) -> None:
    mysql_copy.run("ALTER TABLE orders ADD PARTITION (PARTITION p3 VALUES LESS THAN (400))")
    assert compare(mysql_copy, parted) == []
    before = tables(mysql_copy)
    mysql_copy.run("ALTER TABLE orders DROP PARTITION p3")
    assert compare(mysql_copy, before) == []


@contextlib.contextmanager
def locked(copy: MySQLCopy) -> Iterator[None]:
    with copy.server.connect(database=copy.name) as other:
        run(other, "LOCK TABLES orders WRITE")
        yield
        run(other, "UNLOCK TABLES")


def test_a_table_that_somebody_has_locked_is_read_and_not_counted(mysql_copy: MySQLCopy, filled: Tables) -> None:
    name = mysql_copy.table()
    with locked(mysql_copy):
        (seen,) = tables(mysql_copy).values()
        assert (seen.name, seen.countable) == (name, False)
        assert mysql_copy.client.count_rows({name: 10}, Deadline.after(15)) == {}
    # What is remembered of such a look is too low, and never too high.
    assert seen.rows <= ROWS
    assert compare(mysql_copy, {name: seen}) == []


def test_an_account_that_may_not_read_the_rows_counts_none(mysql_copy: MySQLCopy, filled: Tables) -> None:
    mysql_copy.grant("INSERT, UPDATE")
    (seen,) = tables(mysql_copy).values()
    assert not seen.countable
    assert mysql_copy.client.count_rows({mysql_copy.table(): 10}, Deadline.after(15)) == {}
    mysql_copy.grant(SINK_RIGHTS)
    assert [table.countable for table in tables(mysql_copy).values()] == [True]


def test_views_and_tables_that_do_not_exist_are_not_seen(mysql_copy: MySQLCopy, filled: Tables) -> None:
    mysql_copy.run("CREATE VIEW seen AS SELECT * FROM orders")
    assert tables(mysql_copy, "seen", "missing").keys() == set()


def test_five_hundred_tables_are_read_in_time(mysql_copy: MySQLCopy) -> None:
    names = [f"table {number}" for number in range(500)]
    mysql_copy.run(*(f"CREATE TABLE `{name}` (id INT PRIMARY KEY)" for name in names))
    with mysql_copy.server.general_log() as statements:
        assert len(tables(mysql_copy, *names)) == len(names)
    assert len([one for one in statements if "information_schema" in one.text]) < 10
