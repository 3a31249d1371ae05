"""Tables that would lose rows or values without an error, on a real server: each has its own check and its own cure."""

import psycopg
import pytest

from chalicelib.domain.providers.postgresql.capture_options import PublicationMode
from chalicelib.domain.readiness import CheckOutcome, ReadinessCheck, ReadinessStatus
from chalicelib.domain.table import ColumnName, IssueCode, IssueSeverity, TableName
from tests.support.databases.postgresql import ORDERS, Shop
from tests.support.databases.readiness import check_of, failing

NOTES = TableName("shop", "notes")


def make_notes(shop: Shop, columns: str, *more: str) -> None:
    shop.run(f"CREATE TABLE shop.notes ({columns})", "ALTER TABLE shop.notes OWNER TO {role}", *more)


def run_advice(shop: Shop, check: ReadinessCheck) -> None:
    """Runs the statements that a check recommends; a query that gives statements is followed."""
    for line in (check.recommended_action or "").splitlines():
        if line.startswith("ALTER TABLE"):
            shop.admin.execute(line.encode())
        if line.startswith("SELECT format("):
            for (statement,) in shop.admin.execute(line.encode()).fetchall():
                shop.admin.execute(statement.encode())


def issue_codes(shop: Shop, name: TableName) -> set[tuple[IssueCode, IssueSeverity]]:
    return {(issue.code, issue.severity) for issue in shop.discovered(name.table_name).issues}


LARGE = {
    "quoted key": '"Id" bigint PRIMARY KEY, note text',
    "key that is a reserved word": '"user" bigint PRIMARY KEY, note text',
    "date key": "day date PRIMARY KEY, note jsonb",
    "part of the key is a timestamp": "id int, at timestamptz, note bytea, PRIMARY KEY (id, at)",
    "key of an own type": "mood shop.mood PRIMARY KEY, note text",
    "unique index instead of a primary key": "id int NOT NULL CONSTRAINT one UNIQUE, note text",
}
HARMLESS = {
    "plain keys": "id uuid, name varchar(200), fixed char(3), small smallint, amount numeric, yes boolean, note text,"
    " PRIMARY KEY (id, name, fixed, small, amount, yes)",
    "column name that is a keyword but not reserved": "timestamp bigint PRIMARY KEY, note text",
    "values that are never stored apart": "day date PRIMARY KEY, amount numeric(10, 2), code varchar(100)",
    "column that is never stored apart": "day date PRIMARY KEY, number bigint",
}


@pytest.mark.parametrize("name", LARGE)
def test_large_values_behind_a_key_that_cannot_be_read_by_are_refused_until_the_identity_is_full(
    shop: Shop, name: str
) -> None:
    shop.run("CREATE TYPE shop.mood AS ENUM ('good')")
    make_notes(shop, LARGE[name])
    if "unique index" in name:
        shop.run("ALTER TABLE shop.notes REPLICA IDENTITY USING INDEX one")
    plan = shop.plan(tables=(NOTES,))
    readiness = shop.readiness(plan)
    assert failing(readiness) == {"large_values"}
    check = check_of(readiness, "large_values")
    assert "note" in (check.current_value or "")
    assert "ACCESS EXCLUSIVE" in (check.recommended_action or "")
    assert (IssueCode.REPLICA_IDENTITY, IssueSeverity.FAIL) in issue_codes(shop, NOTES)
    run_advice(shop, check)
    assert failing(shop.readiness(plan)) == set()
    assert (IssueCode.REPLICA_IDENTITY, IssueSeverity.FAIL) not in issue_codes(shop, NOTES)


@pytest.mark.parametrize("name", HARMLESS)
def test_tables_whose_large_values_are_read_again_or_that_have_none_pass(shop: Shop, name: str) -> None:
    make_notes(shop, HARMLESS[name])
    assert failing(shop.readiness(shop.plan(tables=(NOTES,)))) == set()
    assert (IssueCode.REPLICA_IDENTITY, IssueSeverity.FAIL) not in issue_codes(shop, NOTES)


def test_large_values_that_are_left_out_need_no_identity_and_no_privilege(shop: Shop) -> None:
    make_notes(shop, LARGE["date key"])
    shop.run("ALTER TABLE shop.notes OWNER TO postgres", "GRANT SELECT (day) ON shop.notes TO {role}")
    shop.run("CREATE PUBLICATION pub_{database} FOR TABLE shop.notes")
    plan = shop.plan(tables=(NOTES,), publication_mode=PublicationMode.EXISTING)
    assert failing(shop.readiness(plan)) == {"select_privilege", "large_values"}
    without = shop.plan(
        tables=(NOTES,),
        publication_mode=PublicationMode.EXISTING,
        excluded_columns=frozenset({ColumnName("shop", "notes", "note")}),
    )
    assert failing(shop.readiness(without)) == set()
    shop.run("REVOKE SELECT (day) ON shop.notes FROM {role}")
    (check,) = shop.readiness(without).failures
    assert check.recommended_action == f'GRANT SELECT ("day") ON TABLE "shop"."notes" TO "{shop.role}";'


def make_parted(shop: Shop, columns: str, *, partitions: int, name: str = "notes") -> None:
    """A table in partitions of one number each."""
    shop.run(
        f"CREATE TABLE shop.{name} ({columns}) PARTITION BY RANGE (id)",
        f"ALTER TABLE shop.{name} OWNER TO {{role}}",
        *(
            f"CREATE TABLE shop.{name}_{number} PARTITION OF shop.{name} FOR VALUES FROM ({number}) TO ({number + 1})"
            for number in range(partitions)
        ),
    )


@pytest.mark.parametrize("partitions", [2, 12])
def test_an_update_on_a_partition_works_for_its_owner_once_readiness_passes(shop: Shop, partitions: int) -> None:
    make_parted(shop, "id int NOT NULL, at date", partitions=partitions)
    shop.run("ALTER TABLE shop.notes REPLICA IDENTITY FULL", "INSERT INTO shop.notes VALUES (1, '2026-01-01')")
    plan = shop.plan(tables=(NOTES,))
    readiness = shop.readiness(plan)
    assert failing(readiness) == {"replica_identity"}
    check = check_of(readiness, "replica_identity")
    assert f"{partitions} of {partitions} partitions" in (check.current_value or "")
    assert (IssueCode.REPLICA_IDENTITY, IssueSeverity.FAIL) in issue_codes(shop, NOTES)

    publication = f"CREATE PUBLICATION pub_{shop.name} FOR TABLE shop.notes WITH (publish_via_partition_root = true)"
    shop.run(publication)
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
        shop.run("UPDATE shop.notes SET at = '2026-01-02'")
    run_advice(shop, check)
    assert failing(shop.readiness(plan)) == set()
    shop.run("UPDATE shop.notes SET at = '2026-01-02'", "DELETE FROM shop.notes")


def test_partitions_that_are_made_later_are_warned_of_where_they_do_not_inherit_enough(shop: Shop) -> None:
    make_parted(shop, "id int NOT NULL, at date", partitions=1)
    shop.run("ALTER TABLE shop.notes_0 REPLICA IDENTITY FULL")
    plan = shop.plan(tables=(NOTES,))
    assert check_of(shop.readiness(plan), "later_partitions").status is CheckOutcome.WARN
    shop.run("CREATE TABLE shop.notes_1 PARTITION OF shop.notes FOR VALUES FROM (1) TO (2)")
    assert failing(shop.readiness(plan)) == {"replica_identity"}
    make_parted(shop, "id int PRIMARY KEY, note text", partitions=1, name="keyed")
    keyed = shop.readiness(shop.plan(tables=(TableName("shop", "keyed"),)))
    assert check_of(keyed, "later_partitions").status is CheckOutcome.PASS


def test_large_values_of_partitions_are_judged_on_every_level(shop: Shop) -> None:
    make_parted(shop, "id int, day date, note text, PRIMARY KEY (id, day)", partitions=1)
    shop.run(
        "CREATE TABLE shop.deep PARTITION OF shop.notes FOR VALUES FROM (5) TO (9) PARTITION BY RANGE (day)",
        "CREATE TABLE shop.deepest PARTITION OF shop.deep FOR VALUES FROM ('2026-01-01') TO ('2027-01-01')",
        "ALTER TABLE shop.notes_0 REPLICA IDENTITY FULL",
    )
    plan = shop.plan(tables=(NOTES,))
    (check,) = shop.readiness(plan).failures
    assert check.key == "large_values"
    assert 'ALTER TABLE "shop"."deepest" REPLICA IDENTITY FULL;' in (check.recommended_action or "")
    assert '"shop"."notes_0"' not in (check.recommended_action or "")
    run_advice(shop, check)
    assert failing(shop.readiness(plan)) == set()


def test_child_tables_are_refused_and_partitions_are_none(shop: Shop) -> None:
    shop.run("CREATE TABLE shop.orders_2025 () INHERITS (shop.orders)")
    readiness = shop.readiness(shop.plan())
    assert failing(readiness) == {"child_tables"}
    missed = "rows of 1 child table are not captured while streaming: shop.orders_2025"
    assert check_of(readiness, "child_tables").current_value == f"shop.orders ({missed})"
    assert (IssueCode.CHILD_TABLES, IssueSeverity.FAIL) in issue_codes(shop, ORDERS)
    make_parted(shop, "id int PRIMARY KEY", partitions=2)
    assert issue_codes(shop, NOTES) == set()


def test_hypertables_are_named_and_their_chunks_are_not_discovered(shop: Shop) -> None:
    shop.run(
        "CREATE SCHEMA _timescaledb_internal",
        "CREATE TABLE _timescaledb_internal._hyper_1_1_chunk () INHERITS (shop.orders)",
    )
    assert [str(table.name) for table in shop.listing().tables] == ["shop.orders"]
    issue = next(issue for issue in shop.discovered().issues if issue.code is IssueCode.CHILD_TABLES)
    assert "TimescaleDB" in issue.message
    (check,) = shop.readiness(shop.plan()).failures
    assert "TimescaleDB" in (check.current_value or "")


def test_without_a_plan_every_table_that_discovery_finds_is_judged(shop: Shop) -> None:
    shop.run(
        "ALTER TABLE shop.orders OWNER TO postgres",
        *(f"CREATE TABLE shop.t{number:02} (id int PRIMARY KEY)" for number in range(14)),
    )
    readiness = shop.readiness(None)
    assert readiness.status is ReadinessStatus.WARNING
    check = check_of(readiness, "select_privilege")
    assert check.status is CheckOutcome.WARN
    assert (check.current_value or "").startswith("15 of 15 tables: shop.orders, shop.t00, ")
    assert (check.current_value or "").endswith("and 5 more")


def test_a_policy_that_shows_every_row_to_the_role_is_enough(shop: Shop) -> None:
    shop.run("ALTER TABLE shop.orders ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
    (check,) = shop.readiness(shop.plan()).failures
    assert "BYPASSRLS" in (check.recommended_action or "")
    shop.run((check.recommended_action or "").splitlines()[0])
    assert failing(shop.readiness(shop.plan())) == set()
    shop.run("CREATE POLICY only_new ON shop.orders AS RESTRICTIVE USING (id > 5)")
    assert failing(shop.readiness(shop.plan())) == {"row_security"}
