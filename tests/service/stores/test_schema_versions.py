"""The versions of schemas."""

import time
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.domain.schema.change import Alteration, SchemaChange
from chalicelib.domain.schema.table_schema import ColumnSchema, TableSchema
from chalicelib.domain.schema.version import MAX_VERSIONS, SchemaVersion, VersionFilter
from chalicelib.domain.table import TableName
from chalicelib.errors import StoreBusy, WriteConflict
from chalicelib.kit.clock import Deadline
from chalicelib.kit.ids import id_from
from chalicelib.stores.schema_versions import TABLES_PER_TRANSACTION, SchemaVersions
from tests.service.stores.conftest import Storage
from tests.support.entities import NOW

STORE, SOON, ALL = SchemaVersions(), Deadline.after(24 * 3600), VersionFilter()


def version(table: str = "orders", number: int = 1, **fields: Any) -> SchemaVersion:
    schema = TableSchema(columns=(ColumnSchema(name="id", type="bigint", nullable=False),), primary_key_columns=("id",))
    return SchemaVersion(
        **{
            "id": id_from(table, str(number)),
            "source_id": "source",
            "schema_name": "shop",
            "table_name": table,
            "version": number,
            "schema_hash": f"hash {number}",
            "schema": schema,
            "diff": (SchemaChange(change=Alteration.TABLE_ADDED),),
            "discovered_at": NOW + timedelta(seconds=number),
            **fields,
        }
    )


def listed(chosen: VersionFilter = ALL, *, history: str = "h", limit: int = 500) -> list[tuple[str, int]]:
    """Table and number of every version, page by page."""
    found, after = [], None
    while True:
        page = STORE.list(history, chosen, limit=limit, after=after)
        assert len(page.items) <= limit
        found += [(one.table_name, one.version) for one in page.items]
        if (after := page.next_key) is None:
            return found


def test_versions_are_listed_newest_first_by_page_and_filter(storage: Storage) -> None:
    for number in (1, 2, 3):
        STORE.add("h", [version("orders", number), version("items", number)], SOON)
    STORE.add("h", [version("orders", 1, schema_name="other")], SOON)
    newest_first = [(table, number) for number in (3, 2) for table in ("orders", "items")]
    for limit in (1, 3, 500):
        assert listed(limit=limit)[:4] == newest_first
        assert len(listed(limit=limit)) == 7
    assert listed(VersionFilter(table="orders"), limit=2) == [("orders", number) for number in (3, 2, 1, 1)]
    assert listed(VersionFilter(schema="shop", table="orders", version=2)) == [("orders", 2)]
    assert listed(VersionFilter(schema="nowhere")) == []


def test_what_was_stored_before_the_deadline_stays_and_the_rest_is_added_later(storage: Storage) -> None:
    versions = [version(f"table_{n:02}") for n in range(TABLES_PER_TRANSACTION + 1)]
    soon = Deadline.after(0.5)
    with pytest.raises(StoreBusy):
        # What is written beside a version takes the time that there was.
        STORE.add("h", versions, soon, lambda *_: time.sleep(soon.remaining()))
    known = STORE.newest("source", "h")
    assert len(known) == TABLES_PER_TRANSACTION
    STORE.add("h", [one for one in versions if one.name not in known], SOON)
    assert len(listed()) == TABLES_PER_TRANSACTION + 1


def test_a_version_is_read_as_it_was_written(storage: Storage) -> None:
    dropped = version(number=2, schema=None, schema_hash=None)
    STORE.add("h", [version()], SOON)
    STORE.add("h", [dropped], SOON)
    newest = STORE.newest("source", "h")[dropped.name]
    assert (newest.version, newest.schema_hash, newest.discovered_at) == (2, None, dropped.discovered_at)
    assert STORE.find("source", "h", {dropped.name: 2, TableName("shop", "missing"): 1}) == {dropped.name: dropped}
    assert STORE.find("source", "h", {dropped.name: 1})[dropped.name] == version()


def test_a_version_is_written_once_and_only_behind_the_one_that_was_read(storage: Storage) -> None:
    STORE.add("h", [version()], SOON)
    for refused in (version(), version(number=3)):
        with pytest.raises(WriteConflict):
            STORE.add("h", [version("items"), refused], SOON)
    assert listed() == [("orders", 1)]


def test_the_oldest_versions_of_a_table_go_when_there_are_too_many(storage: Storage) -> None:
    for number in range(1, MAX_VERSIONS + 3):
        STORE.add("h", [version(number=number)], SOON)
    assert listed() == [("orders", number) for number in range(MAX_VERSIONS + 2, 2, -1)]


def test_another_history_has_other_versions_and_is_removed_alone(storage: Storage) -> None:
    STORE.add("h", [version(), version("items")], SOON)
    STORE.add("i", [version()], SOON)
    STORE.add("other", [version(source_id="other", table="kept")], SOON)
    STORE.forget("source", "h", [TableName("shop", "items")], SOON)
    assert (listed(), listed(history="i")) == ([("orders", 1)], [("orders", 1)])
    assert set(STORE.newest("source", "h")) == {TableName("shop", "orders")}
    STORE.remove_all_but("source", "i", SOON)
    assert (listed(), listed(history="i")) == ([], [("orders", 1)])
    STORE.remove("source", "i", SOON)
    assert [row["source_id"] for row in storage.tables.rows("schema-versions")] == ["other", "other"]
