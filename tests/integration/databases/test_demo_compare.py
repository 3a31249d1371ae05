"""The demonstration's comparison finds every kind of difference between its source and its target."""

from collections.abc import Iterator

import pytest

from infra.local.demo.changes import COUNT, make_changes
from infra.local.demo.compare import snapshot
from infra.local.demo.data import ROWS, TABLES, TARGET_SCHEMA, DemoDatabase, make_source, make_target
from infra.local.stack.postgres import SUPERUSER
from tests.support.databases.postgresql import HOST, RunningPostgreSQL

STAMP = "comparing"


@pytest.fixture(scope="module")
def databases(postgresql: RunningPostgreSQL) -> Iterator[tuple[DemoDatabase, DemoDatabase]]:
    """Both databases as the demonstration creates them."""
    superuser = f"postgresql://{SUPERUSER}:{postgresql.superuser_password}@{HOST}:{postgresql.port}/postgres"
    source, target = make_source(superuser, STAMP), make_target(superuser, STAMP)
    yield source, target
    with postgresql.connect() as connection:
        for database in (source, target):
            connection.execute(f"DROP DATABASE {database.name} WITH (FORCE)".encode())
            connection.execute(f"DROP ROLE {database.role}".encode())


@pytest.fixture
def equal_databases(databases: tuple[DemoDatabase, DemoDatabase]) -> tuple[DemoDatabase, DemoDatabase]:
    """The source as it was created, and a target with a copy of every row."""
    with databases[1].as_superuser() as connection:
        for table in TABLES:
            name = f'"{TARGET_SCHEMA}"."{table.name}"'
            connection.execute(f"DROP TABLE IF EXISTS {name}; CREATE TABLE {name} ({table.columns})".encode())
            connection.execute(f"INSERT INTO {name} {table.rows}".encode(), {"first": 1, "last": table.count})
    return databases


def test_equal_rows_are_equal(equal_databases: tuple[DemoDatabase, DemoDatabase]) -> None:
    comparison = snapshot(*equal_databases)
    assert comparison.difference() is None
    assert (comparison.rows, comparison.target_rows) == (ROWS, ROWS)


@pytest.mark.parametrize(
    ("damage", "difference"),
    [
        ("DELETE FROM customers WHERE id = 7", "600 rows in the source, 599 in the target: 1 missing such as (7)"),
        ("UPDATE customers SET note = '' WHERE id = 3", "1 different such as (3)"),
        ("UPDATE customers SET profile = '{}' WHERE id = 3", "1 different such as (3)"),
        ("UPDATE customers SET tags = NULL WHERE id = 5", "1 different such as (5)"),
        ('UPDATE "Order Lines" SET "Line" = 77 WHERE "order" = 1', "1 missing such as (5000000001,1), 1 too many"),
        ('INSERT INTO "select" VALUES (\'one\')', "80 rows in the source, 81 in the target: 1 too many such as (one)"),
        ("ALTER TABLE documents DROP COLUMN body", "public.documents with 20 rows in the source, 0 in the target"),
        ("DROP TABLE documents", "public.documents with 20 rows in the source, 0 in the target"),
    ],
)  # fmt: skip
def test_a_difference_is_found_and_named(
    equal_databases: tuple[DemoDatabase, DemoDatabase], damage: str, difference: str
) -> None:
    source, target = equal_databases
    with target.as_superuser() as connection:
        connection.execute(f'SET search_path TO "{TARGET_SCHEMA}"'.encode())
        connection.execute(damage.encode())
    assert difference in (snapshot(source, target).difference() or "equal")


def test_two_hundred_changes_are_made_and_seen(equal_databases: tuple[DemoDatabase, DemoDatabase]) -> None:
    source, target = equal_databases
    assert COUNT == 200
    assert make_changes(source) == COUNT
    assert "public.customers with 635 rows in the source" in (snapshot(source, target).difference() or "equal")
