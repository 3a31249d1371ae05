"""What discovery reads from a real MySQL server, and that nothing of the server is ever changed or locked."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from chalicelib.clients.databases.errors import DatabaseFailure, FailureCode
from chalicelib.clients.databases.mysql import session
from chalicelib.domain.providers.mysql.facts import ForeignKey, MySQLGenerated, UniqueKey
from chalicelib.domain.readiness import CheckOutcome
from chalicelib.domain.table import CapturedType, IssueCode, IssueSeverity, TableName, TypeKind
from chalicelib.kit.clock import Deadline
from infra.local.stack import mysql_home, mysql_programs
from infra.local.stack.folders import Folders
from tests.support.databases.mysql import MySQLServer, MySQLShop, Statement, mysql_in, open_mysql_shop, running_mysql
from tests.support.databases.mysql_capture import (
    client_of,
    discovered,
    endpoint_of,
    facts_of,
    listing_of,
    orders,
    plan_of,
    readiness_of,
    table_of,
    version_number,
)
from tests.support.databases.readiness import check_of, failing
from tests.support.databases.server_state import fresh_state


def issues(shop: MySQLShop, name: str = "orders") -> set[tuple[IssueCode, IssueSeverity, str | None]]:
    """The warnings and failures of a table, without severity INFO."""
    severe = [issue for issue in discovered(shop, name).issues if issue.severity is not IssueSeverity.INFO]
    return {(issue.code, issue.severity, issue.column) for issue in severe}


def test_columns_and_keys_of_a_table_are_read(mysql_shop: MySQLShop) -> None:
    table = discovered(mysql_shop)
    width = "(20)" if version_number(mysql_shop.server) < 80019 else ""
    assert [(c.name, c.type.replace(width, ""), c.nullable, c.ordinal) for c in table.columns] == [
        ("id", "bigint", False, 1),
        ("customer", "varchar(100)", False, 2),
        ("amount", "decimal(10,2)", True, 3),
    ]
    assert table.primary_key_columns == ("id",)
    assert table.replica_identity is None
    assert issues(mysql_shop) == set()


def test_only_tables_are_listed_those_of_the_database_first(mysql_shop: MySQLShop) -> None:
    mysql_shop.run("CREATE VIEW seen AS SELECT 1 AS one", "CREATE TEMPORARY TABLE temporary_ (id INT)")
    with open_mysql_shop(mysql_shop.server) as other:
        other.run("CREATE TABLE a (id INT)")
        names = [str(table.name) for table in listing_of(mysql_shop).tables]
        assert names == sorted(names)
        assert [name for name in names if name.startswith((f"{mysql_shop.name}.", f"{other.name}."))] == [
            f"{mysql_shop.name}.orders", f"{other.name}.a", f"{other.name}.orders",
        ]  # fmt: skip
        assert {name.partition(".")[0] for name in names}.isdisjoint({"mysql", "sys", "performance_schema"})
        cut = listing_of(other, bound=2)
        assert cut.truncated
        assert [str(table.name) for table in cut.tables] == [f"{other.name}.a", f"{other.name}.orders"]


def test_odd_names_are_read_as_they_are_and_those_that_share_a_topic_are_named(mysql_shop: MySQLShop) -> None:
    names = ["a b", "a_b", "ä", "it's", "50%", "b`tick", 'q"uote', "n" * 64]
    for name in names:
        mysql_shop.run(f"CREATE TABLE `{name.replace('`', '``')}` (`i d` INT PRIMARY KEY)")
    listed = {table.name.table_name: table for table in listing_of(mysql_shop).tables}
    assert set(names) <= set(listed)
    assert {listed[name].raw_columns[0].name for name in names} == {"i d"}
    assert IssueCode.TOPIC_COLLISION in {code for code, _, _ in issues(mysql_shop, "a b")}
    assert IssueCode.TOPIC_COLLISION not in {code for code, _, _ in issues(mysql_shop, "50%")}
    assert failing(readiness_of(mysql_shop, plan_of(mysql_shop, "b`tick", "it's", "50%"))) == set()


def test_engines_keys_and_columns_are_read(mysql_shop: MySQLShop) -> None:
    mysql_shop.run(
        "CREATE TABLE odd (a INT, b INT, c VARCHAR(20) CHARACTER SET latin1 COLLATE latin1_german1_ci NOT NULL,"
        " d ENUM('x', 'y'), twice INT GENERATED ALWAYS AS (a * 2) STORED, thrice INT AS (a * 3) VIRTUAL,"
        " e BIGINT UNSIGNED NOT NULL DEFAULT 7, g POINT SRID 4326, orders_id BIGINT,"
        " PRIMARY KEY (b, a), UNIQUE KEY one (c), UNIQUE KEY two (d, a),"
        " CONSTRAINT fk FOREIGN KEY (orders_id) REFERENCES orders (id) ON DELETE SET NULL ON UPDATE CASCADE)"
        " DEFAULT CHARACTER SET utf8mb4"
    )
    table = table_of(mysql_shop, "odd")
    columns = {column.name: column for column in table.raw_columns}
    assert (table.engine, table.primary_key_columns) == ("InnoDB", ("b", "a"))
    assert (table.collation or "").startswith("utf8mb4_")
    assert table.unique_keys == (UniqueKey(name="one", columns=("c",)), UniqueKey(name="two", columns=("d", "a")))
    assert table.foreign_keys == (
        ForeignKey(name="fk", referenced=orders(mysql_shop), update_rule="CASCADE", delete_rule="SET NULL"),
    )
    assert (columns["c"].character_set, columns["c"].collation) == ("latin1", "latin1_german1_ci")
    assert (columns["twice"].generated, columns["thrice"].generated) == (MySQLGenerated.STORED, MySQLGenerated.VIRTUAL)
    assert columns["e"].default == "7"
    assert columns["g"].spatial_reference == 4326
    assert columns["a"].character_set is None
    captured = {column.name: column.captured for column in discovered(mysql_shop, "odd").columns}
    assert captured["d"] == CapturedType(name="enum('x','y')", kind=TypeKind.ENUM)
    assert captured["twice"] is not None
    assert captured["twice"].generated
    assert captured["b"] is None


def test_partitions_and_other_engines_are_read(mysql_shop: MySQLShop) -> None:
    mysql_shop.run(
        "CREATE TABLE parts (id INT PRIMARY KEY) PARTITION BY HASH (id) PARTITIONS 3",
        "CREATE TABLE remembered (id INT PRIMARY KEY) ENGINE = MEMORY",
        "CREATE TABLE swallowed (id INT PRIMARY KEY) ENGINE = BLACKHOLE",
        "CREATE TABLE old (id INT PRIMARY KEY) ENGINE = MyISAM",
    )
    assert table_of(mysql_shop, "parts").partitioned
    assert not table_of(mysql_shop, "old").partitioned
    assert [issue.code for issue in discovered(mysql_shop, "parts").issues] == [IssueCode.UNLOGGED]
    for name in ("remembered", "swallowed", "old"):
        assert issues(mysql_shop, name) == {(IssueCode.UNLOGGED, IssueSeverity.WARN, None)}
        assert discovered(mysql_shop, name).cdc_ready


def test_invisible_columns_are_read(mysql_9: MySQLServer) -> None:
    with open_mysql_shop(mysql_9) as shop:
        shop.run("CREATE TABLE veiled (id INT PRIMARY KEY, hidden INT INVISIBLE)")
        assert [column.invisible for column in table_of(shop, "veiled").raw_columns] == [False, True]


def test_a_foreign_key_that_changes_rows_is_an_issue_of_the_child_where_the_log_does_not_have_them(
    mysql_shop: MySQLShop,
) -> None:
    mysql_shop.run(
        "CREATE TABLE items (id INT PRIMARY KEY, orders_id BIGINT)",
        "ALTER TABLE items ADD FOREIGN KEY (orders_id) REFERENCES orders (id) ON DELETE CASCADE",
    )
    logged = version_number(mysql_shop.server) >= 90600
    assert issues(mysql_shop, "items") == (set() if logged else {(IssueCode.UNLOGGED, IssueSeverity.WARN, None)})
    assert issues(mysql_shop) == set()


RIGHTS = {
    "all of the table": (["GRANT SELECT ON orders TO {role}"], True),
    "the database": (["GRANT SELECT ON {database}.* TO {role}"], True),
    "two columns": (["GRANT SELECT (id, customer) ON orders TO {role}"], False),
    "each column by its name": (["GRANT SELECT (id, customer, amount) ON orders TO {role}"], False),
    "two columns and the database": (
        ["GRANT SELECT (id) ON orders TO {role}", "GRANT SELECT ON {database}.* TO {role}"],
        True,
    ),
    "writing only": (["GRANT INSERT, UPDATE, DELETE ON orders TO {role}"], False),
}


@pytest.mark.parametrize("name", RIGHTS)
def test_privileges_are_those_of_the_account(mysql_shop: MySQLShop, name: str) -> None:
    statements, readable = RIGHTS[name]
    mysql_shop.run("REVOKE SELECT ON *.* FROM {role}", *statements)
    expected = set() if readable else {(IssueCode.NO_PRIVILEGE, IssueSeverity.FAIL, None)}
    assert issues(mysql_shop) == expected
    assert (failing(readiness_of(mysql_shop, plan_of(mysql_shop))) == set()) is readable


def test_server_facts_have_only_the_requested_tables(mysql_shop: MySQLShop) -> None:
    nothing, other_case = TableName(mysql_shop.name, "nothing"), TableName(mysql_shop.name, "Orders")
    facts = facts_of(mysql_shop, orders(mysql_shop), nothing, other_case)
    assert [table.name for table in facts.tables] == [orders(mysql_shop)]
    # The account has a right on all databases: so the server says that they do not exist.
    assert facts.denied == frozenset()


def test_a_table_whose_definition_is_being_changed_does_not_delay_the_others(mysql_shop: MySQLShop) -> None:
    with mysql_shop.server.connect(database=mysql_shop.name) as altering, altering.cursor() as cursor:
        cursor.execute("LOCK TABLES orders WRITE")
        start = time.monotonic()
        assert discovered(mysql_shop).columns
        assert failing(readiness_of(mysql_shop, plan_of(mysql_shop))) == set()
        assert time.monotonic() - start < 8
        cursor.execute("UNLOCK TABLES")


def test_unreadable_server_raises_our_own_error(mysql_shop: MySQLShop) -> None:
    mysql_shop.run("ALTER USER {role} ACCOUNT LOCK")
    with pytest.raises(DatabaseFailure) as caught:
        listing_of(mysql_shop)
    assert caught.value.failure_code is FailureCode.ACCESS_NOT_ALLOWED


# nothing is changed, and little is asked

READS = re.compile(r"(SELECT|SHOW|SET SESSION|SET NAMES)\b")
WRITES = re.compile(r"\bFOR UPDATE\b|\bFOR SHARE\b|\bLOCK\b|\bINTO\b|\bCALL\b", re.IGNORECASE)


def asked(statements: list[Statement], shop: MySQLShop) -> list[str]:
    """All that the account has asked the server for, but for signing in and out."""
    own = [one for one in statements if one.user == shop.role]
    assert {one.command for one in own} <= {"Connect", "Query", "Init DB", "Quit"}
    return [one.text for one in own if one.command == "Query"]


def test_nothing_is_ever_written_or_locked(mysql_shop: MySQLShop) -> None:
    mysql_shop.run("CREATE TABLE items (id INT PRIMARY KEY)", "GRANT SELECT (id) ON items TO {role}")
    mysql_shop.run("GRANT ALL PRIVILEGES ON *.* TO {role}")
    with mysql_shop.server.general_log() as statements:
        client_of(endpoint_of(mysql_shop)).test(Deadline.after(15))
        listing_of(mysql_shop)
        readiness_of(mysql_shop, None)
        readiness_of(mysql_shop, plan_of(mysql_shop, "orders", "items", "nothing"))
    texts = asked(statements, mysql_shop)
    assert len(texts) > 40
    for text in texts:
        assert READS.match(text), text
        assert not WRITES.search(text), text
    assert len([text for text in texts if text == "SET SESSION TRANSACTION READ ONLY"]) == 4


def test_a_session_could_not_write_by_mistake(mysql_shop: MySQLShop) -> None:
    mysql_shop.run("GRANT ALL PRIVILEGES ON *.* TO {role}")
    endpoint = endpoint_of(mysql_shop)
    with session.open_session(endpoint, lambda host: (host,), None, Deadline.after(10)) as opened:
        for statement in ("INSERT INTO orders VALUES (1, 'x', 1)", "DROP TABLE orders", "UPDATE orders SET amount = 0"):
            with pytest.raises(DatabaseFailure):
                opened.rows(statement, max_rows=1)
    assert mysql_shop.run("SELECT COUNT(*) FROM orders") == ((0,),)


TABLES = 500


@pytest.fixture(scope="module")
def large() -> Iterator[MySQLShop]:
    """A shop with 500 tables of 21 columns, 3 keys and a foreign key."""
    with running_mysql() as server, open_mysql_shop(server) as shop:
        columns = ", ".join(f"c{number} {('INT', 'VARCHAR(200)', 'TEXT')[number % 3]}" for number in range(20))
        made = []
        for number in range(TABLES - 1):
            foreign = f", FOREIGN KEY (c0) REFERENCES t{number - 1} (id) ON DELETE CASCADE" if number else ""
            keys = f"UNIQUE KEY u0 (c0), UNIQUE KEY u1 (c1, c3){foreign}"
            made.append(f"CREATE TABLE t{number} (id INT PRIMARY KEY, {columns}, {keys})")
        shop.run(*made)
        yield shop


def test_500_tables_are_discovered_and_judged_with_few_statements(large: MySQLShop) -> None:
    with large.server.general_log() as statements:
        start = time.monotonic()
        listing = listing_of(large)
        listed = time.monotonic() - start
        names = tuple(table.name.table_name for table in listing.tables)
        report = readiness_of(large, plan_of(large, *names))
        judged = time.monotonic() - start - listed
    print(
        f"\n500 tables: listed in {listed:.2f} s, judged in {judged:.2f} s, {len(asked(statements, large))} statements"
    )
    assert (len(listing.tables), listing.truncated) == (TABLES, False)
    assert sum(len(table.raw_columns) for table in listing.tables) == (TABLES - 1) * 21 + 3
    assert failing(report) == set()
    # A function has 60 s; not a benchmark.
    assert listed < 15
    assert judged < 15
    assert len(asked(statements, large)) < 150


def test_tables_that_are_denied_are_not_all_asked_for(large: MySQLShop) -> None:
    large.run("REVOKE SELECT ON *.* FROM {role}")
    try:
        with large.server.general_log() as statements:
            report = readiness_of(large, plan_of(large, *(f"t{number}" for number in range(TABLES - 1))))
    finally:
        large.run("GRANT SELECT ON *.* TO {role}")
    assert "grant_select" in failing(report)
    assert len(asked(statements, large)) < 150


# servers that spell names in lower case, and servers that make keys


FOLDED = "--lower-case-table-names=1"


@contextmanager
def folding_server() -> Iterator[MySQLServer]:
    """A server with lower_case_table_names = 1, which it takes only when its data are made."""
    programs = mysql_programs.find_programs()
    with fresh_state("mysql") as state:
        home = mysql_home.prepare(Folders(state).of("mysql"), programs)
        command = [*programs.command, "--initialize-insecure", f"--datadir={home.folder / 'data'}", FOLDED]
        made = home.run(command, programs.environment)
        assert made.returncode == 0, made.stderr
        with mysql_in(state, {FOLDED.split("=", maxsplit=1)[0].lstrip("-"): "1"}) as server:
            yield server


def test_names_are_captured_as_a_server_spells_them_that_folds_case() -> None:
    with folding_server() as server, open_mysql_shop(server) as shop:
        shop.run("CREATE TABLE Items (Id INT PRIMARY KEY)", "INSERT INTO ITEMS VALUES (1)")
        assert [table.name.table_name for table in listing_of(shop).tables] == ["items", "orders"]
        assert table_of(shop, "items").primary_key_columns == ("Id",)
        report = readiness_of(shop, plan_of(shop, "items"))
        assert failing(report) == set()
        assert check_of(report, "case").status is CheckOutcome.PASS
