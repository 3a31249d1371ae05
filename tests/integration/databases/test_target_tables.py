"""What a look at target tables of a real PostgreSQL finds after each kind of change."""

import pytest

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
from tests.support.databases.postgresql import ORDERS, Shop, client
from tests.support.waiting import eventually

PARTED = TableName("shop", "parted")
ROWS = 990
FILL = f"INSERT INTO shop.orders SELECT number, 'somebody', 1 FROM generate_series(1, {ROWS}) AS number"
NONE_OF_OURS = Deletes(enabled=True, records=0)
"""The delivery deletes, and has delivered nothing since."""

Found = list[tuple[LossKind, int | None]]


def tables(shop: Shop, name: TableName = ORDERS) -> dict[TableName, WatchedTable]:
    return dict(by_name(client(shop.endpoint).target_tables([name], Deadline.after(15))))


def remembered(shop: Shop, rows: int = ROWS, name: TableName = ORDERS) -> dict[TableName, WatchedTable]:
    """The table as a look finds it, once the server's statistics know of its rows."""
    report(shop)
    return eventually(lambda: tables(shop, name), lambda seen: name in seen and seen[name].rows == rows)


def compare(shop: Shop, before: dict[TableName, WatchedTable], deletes: Deletes = NONE_OF_OURS) -> Found:
    """What the next look finds: each loss with the rows that are left."""
    (name,) = before
    seen = tables(shop, name)
    suspected = suspicions(before, seen, deletes)
    counted = client(shop.endpoint).count_rows(rows_to_count(before, seen, suspected), Deadline.after(15))
    assert undecided(before, seen, suspected, counted) == frozenset()
    found = losses(before, seen, suspected, counted, deletes, utc_now())
    return [(loss.kind, loss.rows_after) for loss in found]


def report(shop: Shop) -> None:
    """The session tells the server's statistics what it has done: else it takes up to ten seconds."""
    shop.run("SELECT pg_stat_force_next_flush()")


@pytest.fixture
def filled(shop: Shop) -> dict[TableName, WatchedTable]:
    """990 orders that a look has seen."""
    shop.run(FILL)
    return remembered(shop)


def test_a_dropped_table_is_told_before_it_is_made_again(shop: Shop, filled: dict[TableName, WatchedTable]) -> None:
    shop.run("DROP TABLE shop.orders")
    assert compare(shop, filled) == [(LossKind.DROPPED, None)]


def test_a_table_that_was_dropped_and_made_again_with_one_row_is_told(
    shop: Shop, filled: dict[TableName, WatchedTable]
) -> None:
    shop.run(
        "DROP TABLE shop.orders",
        "CREATE TABLE shop.orders (id bigint PRIMARY KEY, customer text, amount numeric)",
        "ALTER TABLE shop.orders OWNER TO {role}",
        "INSERT INTO shop.orders VALUES (1, 'somebody', 2)",
    )
    assert compare(shop, filled) == [(LossKind.RECREATED, 1)]


@pytest.mark.parametrize("rows", [0, 1])
def test_a_truncate_is_told_also_when_a_row_has_come_since(
    shop: Shop, filled: dict[TableName, WatchedTable], rows: int
) -> None:
    shop.run("TRUNCATE shop.orders", f"INSERT INTO shop.orders SELECT 1, 'x', 1 FROM generate_series(1, {rows})")
    assert compare(shop, filled) == [(LossKind.TRUNCATED, rows)]


@pytest.mark.parametrize("deletes", [NONE_OF_OURS, Deletes(enabled=False)])
def test_rows_that_somebody_else_deletes_are_told(
    shop: Shop, filled: dict[TableName, WatchedTable], deletes: Deletes
) -> None:
    shop.run("DELETE FROM shop.orders")
    report(shop)
    assert compare(shop, filled, deletes) == [(LossKind.ROWS_DELETED, 0)]


def test_rows_that_are_vacuumed_before_their_deletion_is_reported_are_told(
    shop: Shop, filled: dict[TableName, WatchedTable]
) -> None:
    shop.run("DELETE FROM shop.orders")
    with shop.server.connect(shop.name) as other:
        other.execute("VACUUM ANALYZE shop.orders")
    assert compare(shop, filled) == [(LossKind.ROWS_DELETED, 0)]


@pytest.mark.parametrize("deletes", [Deletes(enabled=True, records=2 * ROWS), Deletes(enabled=True)])
def test_rows_that_the_delivery_may_have_deleted_are_no_loss(
    shop: Shop, filled: dict[TableName, WatchedTable], deletes: Deletes
) -> None:
    shop.run("DELETE FROM shop.orders")
    assert compare(shop, filled, deletes) == []
    report(shop)
    assert compare(shop, filled, deletes) == []
    shop.run("VACUUM shop.orders")
    assert compare(shop, filled, deletes) == []


def test_an_older_dump_is_told(shop: Shop, filled: dict[TableName, WatchedTable]) -> None:
    shop.run(
        "BEGIN", "TRUNCATE shop.orders",
        "INSERT INTO shop.orders SELECT number, 'older', 1 FROM generate_series(1, 900) AS number", "COMMIT",
    )  # fmt: skip
    assert compare(shop, filled) == [(LossKind.TRUNCATED, 900)]


def _swap(shop: Shop, rows: int) -> None:
    shop.run(
        "BEGIN", "CREATE TABLE shop.others (LIKE shop.orders INCLUDING ALL)", "ALTER TABLE shop.others OWNER TO {role}",
        f"INSERT INTO shop.others SELECT * FROM shop.orders LIMIT {rows}",
        "ALTER TABLE shop.orders RENAME TO former_orders", "ALTER TABLE shop.others RENAME TO orders", "COMMIT",
    )  # fmt: skip


@pytest.mark.parametrize(("rows", "kind"), [(ROWS, LossKind.SWAPPED), (ROWS - 50, LossKind.RECREATED)])
def test_a_swap_by_rename_is_told_as_such_and_as_a_loss_with_fewer_rows(
    shop: Shop, filled: dict[TableName, WatchedTable], rows: int, kind: LossKind
) -> None:
    _swap(shop, rows)
    assert compare(shop, filled) == [(kind, rows)]


@pytest.mark.parametrize(
    "statement",
    [
        "VACUUM FULL shop.orders",
        "CLUSTER shop.orders USING orders_pkey",
        "REINDEX TABLE shop.orders",
        "ALTER TABLE shop.orders ALTER amount TYPE text",
        "ALTER TABLE shop.orders ADD note text DEFAULT 'none'",
        "ANALYZE shop.orders",
        "VACUUM shop.orders",
        "UPDATE shop.orders SET amount = 5",
        "SELECT pg_stat_reset()",
    ],
)
def test_what_removes_no_row_is_no_loss(shop: Shop, filled: dict[TableName, WatchedTable], statement: str) -> None:
    shop.run(statement)
    assert compare(shop, filled) == []
    assert compare(shop, tables(shop)) == []


def test_rows_that_are_counted_twice_by_the_statistics_are_not_missed_later(shop: Shop) -> None:
    # One session reports its rows only after ANALYZE has counted them.
    shop.run(FILL, "ANALYZE shop.orders")
    before = remembered(shop)
    shop.run("VACUUM FULL shop.orders")
    assert compare(shop, before) == []


@pytest.fixture
def parted(shop: Shop) -> dict[TableName, WatchedTable]:
    """A table of three partitions with 100 rows each."""
    shop.run("CREATE TABLE shop.parted (id int PRIMARY KEY) PARTITION BY RANGE (id)")
    for number in range(3):
        bounds = f"FROM ({100 * number}) TO ({100 * number + 100})"
        shop.run(f"CREATE TABLE shop.parted_{number} PARTITION OF shop.parted FOR VALUES {bounds}")
    shop.run("INSERT INTO shop.parted SELECT generate_series(0, 299)")
    for name in ("parted", "parted_0", "parted_1", "parted_2"):
        shop.run(f"ALTER TABLE shop.{name} OWNER TO {{role}}")
    return remembered(shop, 300, PARTED)


@pytest.mark.parametrize(
    "statement", ["ALTER TABLE shop.parted DETACH PARTITION shop.parted_1", "DROP TABLE shop.parted_1"]
)
def test_a_partition_that_is_gone_is_told(shop: Shop, parted: dict[TableName, WatchedTable], statement: str) -> None:
    shop.run(statement)
    assert compare(shop, parted) == [(LossKind.PARTITIONS_REMOVED, 200)]


def test_a_partition_that_is_truncated_is_told(shop: Shop, parted: dict[TableName, WatchedTable]) -> None:
    shop.run("TRUNCATE shop.parted_1")
    assert compare(shop, parted) == [(LossKind.TRUNCATED, 200)]


def test_new_and_empty_partitions_are_no_loss(shop: Shop, parted: dict[TableName, WatchedTable]) -> None:
    shop.run("CREATE TABLE shop.parted_3 PARTITION OF shop.parted FOR VALUES FROM (300) TO (400)")
    assert compare(shop, parted) == []
    before = tables(shop, PARTED)
    shop.run("ALTER TABLE shop.parted DETACH PARTITION shop.parted_3")
    assert compare(shop, before) == []


def test_a_table_that_somebody_has_locked_is_read_and_not_counted(
    shop: Shop, filled: dict[TableName, WatchedTable]
) -> None:
    with shop.server.connect(shop.name) as other, other.transaction():
        other.execute("LOCK TABLE shop.orders IN ACCESS EXCLUSIVE MODE")
        assert tables(shop).keys() == {ORDERS}
        assert client(shop.endpoint).count_rows({ORDERS: 10}, Deadline.after(15)) == {}


def test_a_role_that_sees_not_all_rows_counts_none(shop: Shop, filled: dict[TableName, WatchedTable]) -> None:
    assert filled[ORDERS].countable
    shop.run("ALTER TABLE shop.orders ENABLE ROW LEVEL SECURITY", "ALTER TABLE shop.orders FORCE ROW LEVEL SECURITY")
    assert not tables(shop)[ORDERS].countable
    shop.run("ALTER TABLE shop.orders DISABLE ROW LEVEL SECURITY", "ALTER TABLE shop.orders OWNER TO postgres")
    assert not tables(shop)[ORDERS].countable


def test_one_statement_reads_five_hundred_tables(shop: Shop) -> None:
    names = [TableName("shop", f"table {number}") for number in range(500)]
    shop.run(*(f'CREATE TABLE shop."{name.table_name}" ()' for name in names))
    lines = len(shop.server.log.read_text().splitlines())
    seen = client(shop.endpoint).target_tables(names, Deadline.after(15))
    assert len(seen) == len(names)
    statements = shop.server.log.read_text().splitlines()[lines:]
    assert sum("WITH RECURSIVE members" in line for line in statements) == 1
