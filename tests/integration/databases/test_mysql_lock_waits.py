"""Who is in the way of a delivery that waits for a lock, as a real MySQL shows it to the account of the delivery."""

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import pymysql
import pytest

from chalicelib.domain.monitoring.lock_waits import Blocker, LockWait, wait_hint
from chalicelib.kit.clock import Deadline, utc_now
from tests.support.databases.mysql import run
from tests.support.databases.mysql_target import MySQLCopy
from tests.support.waiting import eventually

MADE = "CREATE TABLE Orders (id INT PRIMARY KEY, amount INT)"
WRITES = "INSERT INTO Orders VALUES (1, 2) ON DUPLICATE KEY UPDATE amount = 2"


@pytest.fixture
def orders(mysql_copy: MySQLCopy) -> MySQLCopy:
    """A table with a row, and an account that sees locks."""
    mysql_copy.run(MADE, "INSERT INTO Orders VALUES (1, 1)", "GRANT SELECT ON performance_schema.* TO {role}")
    return mysql_copy


@contextlib.contextmanager
def holding(copy: MySQLCopy, *statements: str, application: str = "nightly report") -> Iterator[int]:
    """A session of root that has executed the statements and does nothing since: its number."""
    with copy.server.connect(database=copy.name, program_name=application) as connection:
        run(connection, *statements)
        yield connection.thread_id()


@contextlib.contextmanager
def executing(copy: MySQLCopy, connection: "pymysql.Connection[Any]", statement: str) -> Iterator[None]:
    """The statement is executed, and may have to wait. It is over at the end."""

    def execute() -> None:
        with contextlib.suppress(pymysql.Error):
            run(connection, statement)

    thread = threading.Thread(target=execute)
    thread.start()
    try:
        yield
    finally:
        copy.server.end_connection(connection.thread_id())
        thread.join()


def lock_waits(copy: MySQLCopy, *tables: str) -> list[LockWait]:
    targets = [copy.table(name) for name in tables or ("Orders",)]
    return list(copy.client.lock_waits(targets, utc_now(), Deadline.after(10)))


def found(copy: MySQLCopy) -> LockWait:
    (wait,) = eventually(lambda: lock_waits(copy))
    return wait


@pytest.mark.parametrize(
    ("statements", "state"),
    [
        (("LOCK TABLES Orders WRITE",), "idle"),
        (("BEGIN", "UPDATE Orders SET amount = 3"), "idle in transaction"),
    ],
)
def test_a_session_that_holds_the_lock_is_named_with_the_statement_that_ends_it(
    orders: MySQLCopy, statements: tuple[str, ...], state: str
) -> None:
    with holding(orders, *statements) as session, executing(orders, orders.as_role(), WRITES):
        wait = found(orders)
        (blocker,) = wait.blockers
        assert blocker.since
        assert abs((utc_now() - blocker.since).total_seconds()) < 120
        assert wait.table == orders.table("Orders")
        assert blocker == Blocker(
            session=session, ending=f"KILL {session};", application="nightly report", user="root", state=state,
            since=blocker.since,
        )  # fmt: skip
        orders.run(blocker.ending)
        eventually(lambda: lock_waits(orders), lambda waits: not waits)


def test_who_blocks_a_change_of_the_table_comes_before_that_change(orders: MySQLCopy) -> None:
    alters = orders.server.connect(database=orders.name)
    with (
        holding(orders, "BEGIN", "SELECT * FROM Orders") as reader,
        executing(orders, alters, "ALTER TABLE Orders ADD note INT"),
    ):
        eventually(lambda: orders.run("SELECT 1 FROM performance_schema.metadata_locks WHERE LOCK_STATUS = 'PENDING'"))
        with executing(orders, orders.as_role(), WRITES):
            assert [blocker.session for blocker in found(orders).blockers] == [reader, alters.thread_id()]


def test_a_lock_of_the_whole_server_is_told_without_a_table(orders: MySQLCopy) -> None:
    with holding(orders, "FLUSH TABLES WITH READ LOCK") as session, executing(orders, orders.as_role(), WRITES):
        wait = found(orders)
        assert (wait.table, [blocker.session for blocker in wait.blockers]) == (None, [session])


def test_a_name_that_is_not_plain_or_has_the_password_in_it_is_not_shown(orders: MySQLCopy) -> None:
    for application in ("a\nb", "<!channel> look", f"job {orders.password}"):
        with (
            holding(orders, "LOCK TABLES Orders WRITE", application=application),
            executing(orders, orders.as_role(), WRITES),
        ):
            (blocker,) = found(orders).blockers
            assert blocker.application is None


def test_an_account_that_may_not_see_locks_is_told_which_right_it_needs(mysql_copy: MySQLCopy) -> None:
    mysql_copy.run(MADE)
    with (
        holding(mysql_copy, "LOCK TABLES Orders WRITE"),
        executing(mysql_copy, mysql_copy.as_role(), WRITES),
    ):
        wait = found(mysql_copy)
        assert (wait.table, wait.blockers) == (None, ())
        assert "SELECT on performance_schema.*" in wait_hint(wait)


def test_nothing_is_told_of_other_tables_and_of_what_waits_for_nothing(orders: MySQLCopy) -> None:
    orders.run("CREATE TABLE others (id INT PRIMARY KEY)")
    assert lock_waits(orders) == []
    with holding(orders, "LOCK TABLES Orders WRITE"), executing(orders, orders.as_role(), WRITES):
        found(orders)
        assert lock_waits(orders, "others") == []
