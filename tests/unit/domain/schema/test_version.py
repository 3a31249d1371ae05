"""Which tables get a version, and which versions are forgotten."""

from dataclasses import replace
from datetime import timedelta

from chalicelib.domain.providers.postgresql.table_schemas import TYPE_ORDER
from chalicelib.domain.schema.change import Alteration, SchemaImpact
from chalicelib.domain.schema.table_schema import ColumnSchema, DiscoveredSchema, TableSchema, schema_hash
from chalicelib.domain.schema.version import (
    MAX_DROPPED,
    NewestVersion,
    SchemaVersion,
    forgotten,
    may_have_changed,
    next_version,
)
from chalicelib.domain.table import TableName
from tests.support.entities import NOW, ORDERS

SCHEMA = TableSchema(columns=(ColumnSchema(name="id", type="bigint", nullable=False),), primary_key_columns=("id",))
OTHER = replace(SCHEMA, primary_key_columns=())
NEWEST = NewestVersion(version=1, schema_format=1, schema_hash=schema_hash(SCHEMA), discovered_at=NOW)
DROPPED = replace(NEWEST, schema_hash=None)


def version_after(before: SchemaVersion | None, schema: TableSchema | None) -> SchemaVersion:
    version = next_version("s", ORDERS, before, schema, TYPE_ORDER, NOW)
    assert version is not None
    return version


def kinds(version: SchemaVersion) -> list[Alteration]:
    return [change.change for change in version.diff]


def test_a_table_is_added_changed_dropped_and_added_again() -> None:
    first = version_after(None, SCHEMA)
    changed = version_after(first, OTHER)
    dropped = version_after(changed, None)
    again = version_after(dropped, SCHEMA)
    assert [version.version for version in (first, changed, dropped, again)] == [1, 2, 3, 4]
    assert [kinds(version) for version in (first, changed, dropped, again)] == [
        [Alteration.TABLE_ADDED],
        [Alteration.PRIMARY_KEY_CHANGED],
        [Alteration.TABLE_DROPPED],
        [Alteration.TABLE_ADDED_AGAIN],
    ]
    impacts = [version.impact for version in (first, changed, dropped, again)]
    assert impacts == [SchemaImpact.NON_BREAKING, *[SchemaImpact.BREAKING] * 3]
    assert (dropped.schema, dropped.schema_hash) == (None, None)


def test_the_same_version_has_the_same_id_however_often_it_is_made() -> None:
    first = version_after(None, SCHEMA)
    assert first.id == version_after(None, SCHEMA).id
    assert first.id != version_after(first, OTHER).id


def test_a_version_of_another_format_that_says_the_same_is_followed_by_none() -> None:
    before = replace(version_after(None, SCHEMA), schema_format=2, schema_hash="of a newer release")
    assert next_version("s", ORDERS, before, SCHEMA, TYPE_ORDER, NOW) is None
    assert kinds(version_after(before, OTHER)) == [Alteration.PRIMARY_KEY_CHANGED]


def test_tables_with_the_same_hash_are_not_looked_at_again() -> None:
    found = [DiscoveredSchema(name=ORDERS, schema=SCHEMA)]
    assert list(may_have_changed({ORDERS: NEWEST}, found, complete=True)) == []
    assert list(may_have_changed({ORDERS: DROPPED}, found, complete=True)) == [ORDERS]
    assert list(may_have_changed({}, found, complete=True)) == [ORDERS]


def test_only_a_complete_list_shows_that_a_table_was_dropped() -> None:
    assert list(may_have_changed({ORDERS: NEWEST}, [], complete=True)) == [ORDERS]
    assert list(may_have_changed({ORDERS: DROPPED}, [], complete=True)) == []
    assert list(may_have_changed({ORDERS: NEWEST}, [], complete=False)) == []


def test_a_table_that_is_read_in_part_is_neither_changed_nor_dropped() -> None:
    assert list(may_have_changed({ORDERS: NEWEST}, [DiscoveredSchema(name=ORDERS, schema=None)], complete=True)) == []


def test_the_tables_that_were_dropped_first_are_forgotten() -> None:
    newest = {
        TableName("shop", f"t{number:04}"): replace(DROPPED, discovered_at=NOW + timedelta(seconds=number))
        for number in range(MAX_DROPPED + 2)
    }
    assert forgotten({**newest, ORDERS: NEWEST}, []) == (TableName("shop", "t0001"), TableName("shop", "t0000"))
    back = [DiscoveredSchema(name=TableName("shop", "t0000"), schema=SCHEMA)]
    assert forgotten(newest, back) == (TableName("shop", "t0001"),)
