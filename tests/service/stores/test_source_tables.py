"""The tables that discovery found."""

import pytest

from chalicelib.domain.table import SourceTable, TableName
from chalicelib.errors import NotFound
from chalicelib.kit.clock import Deadline
from chalicelib.stores.rows import ROWS_PER_CALL
from chalicelib.stores.source_tables import SourceTables
from chalicelib.stores.sources import Sources
from tests.service.stores.conftest import Storage
from tests.support.entities import make_source, make_source_table, store_new

SOON = Deadline.after(24 * 3600)


def table(name: str, source_id: str = "source") -> SourceTable:
    return make_source_table(TableName("public", name), id=f"{source_id}/{name}", source_id=source_id)


def store_source(source_id: str = "source", **fields: object) -> None:
    source = make_source(id=source_id, name=source_id, **fields)
    if Sources().find(source_id):
        Sources().save_alone(source)
    else:
        store_new(Sources(), source)


def names(store: SourceTables, source_id: str = "source") -> list[str]:
    return [table.table_name for table in store.list(source_id)]


def row_names(storage: Storage) -> set[str]:
    return {str(row["name"]).rpartition("\x1f")[2] for row in storage.tables.rows("source-tables")}


def test_only_the_generation_that_the_source_names_is_read(storage: Storage) -> None:
    store = SourceTables(Sources())
    store_source(tables=2, generation="first")
    store.add("source", "first", [table("b"), table("a")], SOON)
    store.add("source", "second", [table("c")], SOON)
    assert names(store) == ["a", "b"]
    named = [TableName("public", "a"), TableName("public", "c")]
    assert list(store.find(Sources().get("source"), named)) == named[:1]


def test_a_source_without_discovery_has_no_tables_and_an_unknown_one_is_not_found(storage: Storage) -> None:
    store = SourceTables(Sources())
    store_source()
    store.add("source", "interrupted", [table("a")], SOON)
    assert (store.list("source"), store.find(Sources().get("source"), [TableName("public", "a")])) == ((), {})
    with pytest.raises(NotFound):
        store.list("missing")


def test_other_generations_are_removed_and_the_one_that_is_shown_stays(storage: Storage) -> None:
    store = SourceTables(Sources())
    for generation in ("1", "2", "3"):
        store.add("source", generation, [table(f"of {generation}"), table("every")], SOON)
    store.add("other", "2", [table("z", "other")], SOON)
    store.remove("source", "1", SOON)
    assert row_names(storage) == {"of 2", "of 3", "every", "z"}
    store.remove_all_but("source", "2", SOON)
    assert row_names(storage) == {"of 2", "every", "z"}
    store.remove_all_but("source", None, SOON)
    assert row_names(storage) == {"z"}


def test_a_reader_with_an_outdated_source_finds_the_tables_of_the_generation_that_replaced_its_own(
    storage: Storage,
) -> None:
    store = SourceTables(Sources())
    store_source(tables=1, generation="first")
    before = Sources().get("source")
    store.add("source", "second", [table("a")], SOON)
    store_source(tables=1, generation="second")
    assert list(store.find(before, [TableName("public", "a")])) == [TableName("public", "a")]


def test_named_tables_are_found_few_or_many(storage: Storage) -> None:
    store = SourceTables(Sources())
    many = [f"t{number:03}" for number in range(ROWS_PER_CALL + 10)]
    store.add("source", "only", [table(name) for name in many], SOON)
    store_source(tables=len(many), generation="only")
    for asked in (many[:3], many):
        named = [TableName("public", name) for name in [*asked, "missing"]]
        assert sorted(table.table_name for table in store.find(Sources().get("source"), named).values()) == asked
    assert store.find(Sources().get("source"), []) == {}
