"""What discovery reads from a real server: names, keys, types, sizes and everything that prevents a capture."""

import pytest

from chalicelib.clients.databases.errors import DatabaseFailure, FailureCode
from chalicelib.domain.providers.postgresql.facts import Generated, RelationKind, ReplicaIdentity
from chalicelib.domain.source import MAX_DISCOVERY_BOUND
from chalicelib.domain.table import CapturedType, IssueCode, IssueSeverity, TableName, TypeKind
from chalicelib.kit.clock import Deadline
from tests.support.databases.postgresql import ORDERS, Shop, client


def issues(shop: Shop, name: str) -> set[tuple[IssueCode, IssueSeverity, str | None]]:
    """The warnings and failures of a table, without severity INFO."""
    severe = [issue for issue in shop.discovered(name).issues if issue.severity is not IssueSeverity.INFO]
    return {(issue.code, issue.severity, issue.column) for issue in severe}


def test_columns_and_keys_of_a_table_are_read(shop: Shop) -> None:
    orders = shop.discovered()
    assert [(c.name, c.type, c.nullable, c.ordinal) for c in orders.columns] == [
        ("id", "bigint", False, 1),
        ("customer", "text", False, 2),
        ("amount", "numeric(10,2)", True, 3),
    ]
    assert orders.primary_key_columns == ("id",)
    assert orders.replica_identity is ReplicaIdentity.DEFAULT
    assert issues(shop, "orders") == set()


def test_only_permanent_user_tables_are_listed(shop: Shop) -> None:
    shop.run(
        "CREATE VIEW shop.seen AS SELECT 1 AS one",
        "CREATE MATERIALIZED VIEW shop.stored AS SELECT 1 AS one",
        "CREATE TEMPORARY TABLE temporary (id int)",
        "CREATE SEQUENCE shop.counter",
        "CREATE TABLE shop.parts (id int PRIMARY KEY) PARTITION BY RANGE (id)",
        "CREATE TABLE shop.parts1 PARTITION OF shop.parts FOR VALUES FROM (1) TO (9)",
    )
    assert [str(table.name) for table in shop.listing().tables] == ["shop.orders", "shop.parts"]
    assert shop.table("parts").kind is RelationKind.PARTITIONED


def test_tables_are_ordered_and_the_listing_reports_when_its_bound_cut_it(shop: Shop) -> None:
    shop.run(*[f'CREATE TABLE shop."{name}" (id int)' for name in ("b", "A", "ä", "a b")])
    complete = shop.listing()
    assert [table.name.table_name for table in complete.tables] == ["A", "a b", "b", "orders", "ä"]
    assert not complete.truncated
    cut = shop.listing(bound=2)
    assert [table.name.table_name for table in cut.tables] == ["A", "a b"]
    assert cut.truncated
    assert not shop.listing(bound=5).truncated


def test_more_tables_than_one_statement_reads_the_columns_of_are_listed_each_with_its_own(shop: Shop) -> None:
    shop.run(
        "DO $$ BEGIN FOR n IN 100..1199 LOOP EXECUTE format("
        "'CREATE TABLE shop.t%s (id int PRIMARY KEY, c%s text)', n, n); END LOOP; END $$"
    )
    assert len(shop.listing().tables) == 500
    listing = shop.listing(bound=MAX_DISCOVERY_BOUND)
    assert (len(listing.tables), listing.truncated) == (1_101, False)
    made = [table for table in listing.tables if table.name != ORDERS]
    columns = {table.name.table_name: [one.name for one in table.raw_columns] for table in made}
    assert columns == {f"t{n}": ["id", f"c{n}"] for n in range(100, 1_200)}


def test_key_columns_are_in_the_order_of_the_key(shop: Shop) -> None:
    shop.run("CREATE TABLE shop.lines (a int, b int, c int, PRIMARY KEY (c, a))")
    assert shop.table("lines").primary_key_columns == ("c", "a")


def test_rows_are_unknown_until_they_were_analyzed(shop: Shop) -> None:
    shop.run("CREATE TABLE shop.many (id int) WITH (autovacuum_enabled = false)")
    shop.run("INSERT INTO shop.many SELECT generate_series(1, 1000)")
    assert shop.table("many").estimated_rows is None
    shop.run("ANALYZE shop.many")
    assert shop.table("many").estimated_rows == 1000


def test_size_includes_large_values_and_excludes_indexes(shop: Shop) -> None:
    shop.run(
        "CREATE TABLE shop.large (id int, body text)",
        "ALTER TABLE shop.large ALTER COLUMN body SET STORAGE EXTERNAL",
        "INSERT INTO shop.large SELECT n, repeat('x', 100000) FROM generate_series(1, 20) AS n",
    )
    size = shop.table("large").estimated_size_bytes
    assert size is not None
    assert size > 2_000_000
    shop.run("CREATE INDEX ON shop.large (id)")
    assert shop.table("large").estimated_size_bytes == size


def test_size_of_a_partitioned_table_is_that_of_its_partitions(shop: Shop) -> None:
    shop.run(
        "CREATE TABLE shop.parts (id int PRIMARY KEY) PARTITION BY RANGE (id)",
        "CREATE TABLE shop.parts1 PARTITION OF shop.parts FOR VALUES FROM (1) TO (10000)",
        "INSERT INTO shop.parts SELECT generate_series(1, 5000)",
        "ANALYZE shop.parts",
    )
    parts = shop.table("parts")
    assert parts.estimated_rows == 5000
    assert (parts.estimated_size_bytes or 0) > 100_000


def test_table_that_is_being_altered_does_not_delay_the_others(shop: Shop) -> None:
    shop.run("ANALYZE shop.orders")
    with shop.server.connect(shop.name) as altering:
        altering.execute("BEGIN")
        altering.execute("LOCK TABLE shop.orders IN ACCESS EXCLUSIVE MODE")
        assert shop.discovered().columns
        altering.execute("ROLLBACK")


def test_domains_have_their_base_type_and_arrays_that_of_their_element(shop: Shop) -> None:
    shop.run(
        "CREATE DOMAIN shop.money_amount AS numeric(12, 2)",
        "CREATE DOMAIN shop.price AS shop.money_amount",
        "CREATE TYPE shop.mood AS ENUM ('good')",
        "CREATE TABLE shop.typed (id int PRIMARY KEY, p shop.price, m shop.mood[], n int[][], "
        "twice int GENERATED ALWAYS AS (id * 2) STORED, own int GENERATED ALWAYS AS IDENTITY)",
    )
    columns = {column.name: column for column in shop.table("typed").raw_columns}
    assert (columns["p"].type, columns["p"].base.name, columns["p"].base.is_domain) == (
        "shop.price",
        "numeric(12,2)",
        True,
    )
    assert (columns["m"].base.name, columns["m"].base.kind, columns["m"].base.is_array) == (
        "shop.mood",
        TypeKind.ENUM,
        True,
    )
    assert (columns["n"].base.name, columns["n"].base.dimensions) == ("integer", 2)
    assert columns["twice"].generated is Generated.STORED
    assert [name for name, column in columns.items() if not column.writable] == ["twice", "own"]
    captured = {column.name: column.captured for column in shop.discovered("typed").columns}
    assert captured == {
        "id": None,
        "p": CapturedType(name="numeric(12,2)"),
        "m": CapturedType(name="shop.mood", kind=TypeKind.ENUM, dimensions=1),
        "n": CapturedType(name="integer", dimensions=2),
        "twice": CapturedType(name="integer", generated=True),
        "own": None,
    }


def test_dropped_column_is_not_listed(shop: Shop) -> None:
    shop.run("ALTER TABLE shop.orders DROP COLUMN customer")
    assert [(c.name, c.ordinal) for c in shop.discovered().columns] == [("id", 1), ("amount", 2)]


def test_columns_of_the_largest_sizes_are_read(shop: Shop) -> None:
    shop.run(
        "CREATE TABLE shop.wide (id int PRIMARY KEY, bits bit(83886080), up_to bit varying(83886080), "
        "words character varying(10485760), large numeric(1000,-1000), small numeric(1000,1000))"
    )
    assert [column.type for column in shop.discovered("wide").columns] == [
        "integer",
        "bit(83886080)",
        "bit varying(83886080)",
        "character varying(10485760)",
        "numeric(1000,-1000)",
        "numeric(1000,1000)",
    ]


def test_issues_of_real_tables(shop: Shop) -> None:
    shop.run(
        "CREATE TYPE shop.point3 AS (x int, y int, z int)",
        "CREATE TABLE shop.unusual (id int, sums numeric[], position shop.point3, span interval)",
        "ALTER TABLE shop.unusual OWNER TO {role}",
    )
    assert issues(shop, "unusual") == {
        (IssueCode.REPLICA_IDENTITY, IssueSeverity.FAIL, None),
        (IssueCode.NO_PRIMARY_KEY, IssueSeverity.WARN, None),
        (IssueCode.TYPE_STOPS_TASK, IssueSeverity.WARN, "sums"),
        (IssueCode.TYPE_NOT_CAPTURED, IssueSeverity.WARN, "position"),
        (IssueCode.TYPE_CHANGES_VALUE, IssueSeverity.WARN, "span"),
    }


def test_privileges_are_those_of_the_connected_role(shop: Shop) -> None:
    shop.run("ALTER TABLE shop.orders OWNER TO postgres", "GRANT SELECT (id, amount) ON shop.orders TO {role}")
    assert issues(shop, "orders") == {(IssueCode.NO_PRIVILEGE, IssueSeverity.FAIL, "customer")}
    shop.run("REVOKE ALL ON shop.orders FROM {role}")
    assert issues(shop, "orders") == {(IssueCode.NO_PRIVILEGE, IssueSeverity.FAIL, None)}


def test_functions_and_operators_of_other_users_are_never_called(shop: Shop) -> None:
    shop.run(
        "CREATE FUNCTION shop.pg_table_size(regclass) RETURNS bigint LANGUAGE sql AS 'SELECT 1/0::bigint'",
        "CREATE FUNCTION shop.format_type(oid, integer) RETURNS text LANGUAGE sql AS $$SELECT 'wrong'$$",
        "ALTER ROLE {role} SET search_path = shop, pg_catalog",
    )
    assert shop.discovered().columns[0].type == "bigint"


def test_server_facts_have_only_the_requested_tables(shop: Shop) -> None:
    facts = shop.facts(ORDERS, TableName("shop", "nothing"), TableName("Shop", "orders"))
    assert [table.name for table in facts.tables] == [ORDERS]


def test_unreadable_server_raises_our_own_error(shop: Shop) -> None:
    shop.run("ALTER ROLE {role} NOLOGIN")
    with pytest.raises(DatabaseFailure) as caught:
        shop.listing()
    assert caught.value.failure_code is FailureCode.ACCESS_NOT_ALLOWED


def test_nothing_is_ever_written(shop: Shop) -> None:
    client(shop.endpoint).test(Deadline.after(15))
    shop.listing()
    shop.readiness(shop.plan())
    client(shop.endpoint).target_facts([ORDERS], Deadline.after(15))
    lines = [line for line in shop.server.log.read_text().splitlines() if line.startswith("headgate|LOG:")]
    statements = [line.partition(": ")[2].strip().partition(": ")[2] for line in lines if "parameters" not in line]
    assert len(statements) > 10
    first_words = {statement.split()[0] for statement in statements if statement}
    assert first_words <= {"BEGIN", "SELECT", "WITH", "SAVEPOINT", "RELEASE", "ROLLBACK"}
    assert {s for s in statements if s.startswith("BEGIN")} == {"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"}
