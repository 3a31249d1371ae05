"""The fake database answers as a real PostgreSQL does through the real client, in everything that tests use."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from chalicelib.clients.databases.contract import DatabaseFactory
from chalicelib.domain.providers.postgresql.facts import PostgreSQLRawTable
from chalicelib.domain.providers.postgresql.readiness.checks import CHECKS
from chalicelib.domain.providers.postgresql.replication import PostgreSQLCapturePlan
from chalicelib.domain.readiness import ReadinessStatus, judge
from chalicelib.domain.table import TableName
from chalicelib.errors import Unavailable
from chalicelib.kit.clock import Deadline, utc_now
from tests.support.apps.fakes import SCHEMA, TABLES, FakeDatabase
from tests.support.databases.postgresql import Shop, client, open_shop, running_postgresql

NAMES = tuple(TableName(SCHEMA, table) for table in TABLES)
TARGETS = (TableName("target", "orders"), TableName("target", "other"))
PLAN = PostgreSQLCapturePlan(tables=NAMES, slot_name="slot", publication_name="pub")


@pytest.fixture(scope="module")
def shop() -> Iterator[Shop]:
    """A real database with the tables of the fake one."""
    with running_postgresql() as server, open_shop(server) as opened:
        for table in TABLES:
            opened.run(
                f"DROP TABLE IF EXISTS {SCHEMA}.{table}",
                f"CREATE TABLE {SCHEMA}.{table} (id bigint PRIMARY KEY, note text)",
                f"ALTER TABLE {SCHEMA}.{table} OWNER TO {{role}}",
            )
        opened.run("CREATE SCHEMA target AUTHORIZATION {role}")
        yield opened


@pytest.fixture(params=[FakeDatabase().at, client], ids=["fake", "real"])
def database(request: pytest.FixtureRequest) -> DatabaseFactory:
    """The fake client, then the real one."""
    make: DatabaseFactory = request.param
    return make


def soon() -> Deadline:
    return Deadline.after(15)


def shape(table: PostgreSQLRawTable) -> PostgreSQLRawTable:
    """A table without its statistics, and without the name of its owner: each shop has a role of its own."""
    return replace(table, estimated_rows=None, estimated_size_bytes=None, owner=None)


def test_it_lists_the_same_tables(database: DatabaseFactory, shop: Shop) -> None:
    fake = FakeDatabase().at(shop.endpoint).list_tables(soon())
    found = database(shop.endpoint).list_tables(soon())
    assert [shape(table) for table in found.tables] == [shape(table) for table in fake.tables]
    assert not found.truncated


def test_it_lists_no_more_tables_than_the_bound(database: DatabaseFactory, shop: Shop) -> None:
    found = database(shop.endpoint).list_tables(soon(), bound=1)
    assert len(found.tables) == 1
    assert found.truncated


def test_it_is_ready_for_capture(database: DatabaseFactory, shop: Shop) -> None:
    facts = database(shop.endpoint).server_facts(NAMES, soon())
    assert {shape(table) for table in facts.tables} == {shape(table) for table in FakeDatabase().raw_tables()}
    readiness = judge(CHECKS, facts, PLAN, utc_now())
    assert readiness.failures == ()
    assert readiness.status in (ReadinessStatus.READY, ReadinessStatus.WARNING)


def test_its_target_schema_exists_and_is_empty(database: DatabaseFactory, shop: Shop) -> None:
    facts = database(shop.endpoint).target_facts(TARGETS, soon())
    schema = facts.schema("target")
    assert (schema.usage, schema.create, facts.tables) == (True, True, ())


def test_a_connection_test_succeeds(database: DatabaseFactory, shop: Shop) -> None:
    found = database(shop.endpoint).test(soon())
    fake = FakeDatabase().at(shop.endpoint).test(soon())
    assert (found.success, found.checks) == (True, fake.checks)


def test_a_database_that_is_down_is_unavailable(database: DatabaseFactory, shop: Shop) -> None:
    down = replace(shop.endpoint, address=replace(shop.address, port=1))
    make = database if database is client else FakeDatabase(reachable=False).at
    with pytest.raises(Unavailable) as failed:
        make(down).server_facts(NAMES, soon())
    assert failed.value.code == "CONNECTION_REFUSED"
