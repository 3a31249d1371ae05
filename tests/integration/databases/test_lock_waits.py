"""Who is in the way of a delivery that waits for a lock, as a real PostgreSQL shows it to the user of the delivery."""

import contextlib
import threading
from collections.abc import Iterator

import psycopg
import pytest

from chalicelib.domain.monitoring.lock_waits import Blocker, LockWait
from chalicelib.domain.table import TableName
from chalicelib.kit.clock import Deadline, utc_now
from tests.support.databases.postgresql import ORDERS, Shop, client
from tests.support.waiting import eventually

ROW = "INSERT INTO shop.orders VALUES (1, 'somebody', 1)"
WRITES = "INSERT INTO shop.orders VALUES (1, 'somebody', 2) ON CONFLICT (id) DO UPDATE SET amount = 2"
TABLE_LOCK = "LOCK TABLE shop.orders IN ACCESS EXCLUSIVE MODE"
ROW_LOCK = "UPDATE shop.orders SET amount = 3 WHERE id = 1"
OTHER = TableName("shop", "others")


@contextlib.contextmanager
def holding(shop: Shop, statement: str, application: str = "nightly report") -> Iterator[int]:
    """A session of the superuser whose transaction has executed the statement and does nothing since: its number."""
    with contextlib.closing(shop.server.connect(shop.name, application_name=application)) as connection:
        connection.execute(b"BEGIN")
        connection.execute(statement.encode())
        yield connection.info.backend_pid


@contextlib.contextmanager
def executing(connection: "psycopg.Connection[tuple[object, ...]]", statement: str) -> Iterator[None]:
    """The statement is executed, and may have to wait. It is over at the end."""

    def execute() -> None:
        with contextlib.suppress(psycopg.Error):
            connection.execute(statement.encode())

    thread = threading.Thread(target=execute)
    thread.start()
    try:
        yield
    finally:
        connection.cancel()
        thread.join()
        connection.close()


def lock_waits(shop: Shop, *tables: TableName) -> list[LockWait]:
    return list(client(shop.endpoint).lock_waits(tables or (ORDERS,), utc_now(), Deadline.after(10)))


def found_blocker(shop: Shop) -> Blocker:
    """The only one who is in the way of a write to the orders."""
    (wait,) = eventually(lambda: lock_waits(shop))
    assert wait.table == ORDERS
    (blocker,) = wait.blockers
    return blocker


@pytest.mark.parametrize("statement", [TABLE_LOCK, ROW_LOCK])
def test_an_idle_transaction_that_holds_the_lock_is_named_with_the_statement_that_ends_it(
    shop: Shop, statement: str
) -> None:
    shop.run(ROW, "GRANT pg_read_all_stats TO {role}")
    with holding(shop, statement) as session, executing(shop.as_role(), WRITES):
        blocker = found_blocker(shop)
        assert blocker.since
        assert blocker == Blocker(
            session=session, ending=f"SELECT pg_terminate_backend({session});", application="nightly report",
            user="postgres", state="idle in transaction", since=blocker.since,
        )  # fmt: skip
        shop.admin.execute(blocker.ending.encode())
        eventually(lambda: lock_waits(shop), lambda waits: not waits)


def test_what_the_user_may_not_see_of_a_session_is_null(shop: Shop) -> None:
    with holding(shop, TABLE_LOCK), executing(shop.as_role(), WRITES):
        blocker = found_blocker(shop)
        assert (blocker.application, blocker.state, blocker.since) == ("nightly report", None, None)


@pytest.mark.parametrize("application", ["a\nb", "password=topsecret", "<!channel> look", "уборка"])
def test_a_name_that_is_not_plain_is_not_shown(shop: Shop, application: str) -> None:
    with holding(shop, TABLE_LOCK, application), executing(shop.as_role(), WRITES):
        assert found_blocker(shop).application is None


def test_a_name_that_has_the_password_of_the_destination_in_it_is_not_shown(shop: Shop) -> None:
    with holding(shop, TABLE_LOCK, f"job {shop.password}"), executing(shop.as_role(), WRITES):
        assert found_blocker(shop).application is None


def test_who_blocks_a_session_that_is_in_the_way_comes_first(shop: Shop) -> None:
    alters = shop.server.connect(shop.name, application_name="migration")
    with (
        holding(shop, "SELECT * FROM shop.orders") as reader,
        executing(alters, "ALTER TABLE shop.orders ADD note text"),
    ):
        eventually(lambda: shop.admin.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchall())
        with executing(shop.as_role(), WRITES):
            (wait,) = eventually(lambda: lock_waits(shop))
            assert [blocker.session for blocker in wait.blockers] == [reader, alters.info.backend_pid]


def test_of_many_sessions_at_most_three_are_named(shop: Shop) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(5):
            stack.enter_context(holding(shop, "LOCK TABLE shop.orders IN SHARE MODE"))
        stack.enter_context(executing(shop.as_role(), WRITES))
        (wait,) = eventually(lambda: lock_waits(shop))
        assert len(wait.blockers) == 3


def test_a_partition_that_is_locked_is_told_as_its_table(shop: Shop) -> None:
    shop.run(
        "DROP TABLE shop.orders",
        "CREATE TABLE shop.orders (id bigint PRIMARY KEY, customer text, amount numeric) PARTITION BY RANGE (id)",
        "CREATE TABLE shop.first PARTITION OF shop.orders FOR VALUES FROM (0) TO (10)",
        "ALTER TABLE shop.orders OWNER TO {role}",
    )
    with holding(shop, "LOCK TABLE shop.first"), executing(shop.as_role(), WRITES):
        assert found_blocker(shop).application == "nightly report"


def test_nothing_is_told_of_other_tables_and_of_what_waits_for_nothing(shop: Shop) -> None:
    shop.run("CREATE TABLE shop.others (id bigint PRIMARY KEY)")
    assert lock_waits(shop) == []
    with holding(shop, TABLE_LOCK), executing(shop.as_role(), WRITES):
        found_blocker(shop)
        assert lock_waits(shop, OTHER) == []
