"""The tables that discovery found."""

from datetime import UTC, datetime

from chalicelib.domain.table import SourceTable, TableName
from chalicelib.stores.rows import ROWS_PER_CALL
from chalicelib.stores.source_tables import SourceTables
from tests.unit.stores.conftest import Storage

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)


def table(name: str, source_id: str = "source") -> SourceTable:
    return SourceTable(
        id=f"{source_id}/{name}", source_id=source_id, schema_name="public", table_name=name,
        primary_key_columns=("id",), columns=(), estimated_rows=None, estimated_size_bytes=None,
        replica_identity=None, issues=(), discovered_at=NOW,
    )  # fmt: skip


def names(store: SourceTables, source_id: str = "source") -> list[str]:
    return [one.table_name for one in store.list(source_id)]


def test_a_new_discovery_replaces_what_the_last_one_found(storage: Storage) -> None:
    store = SourceTables()
    store.replace("source", [table("b"), table("a")])
    store.replace("other", [table("z", "other")])
    assert names(store) == ["a", "b"]
    for _ in range(2):
        store.replace("source", [table("c"), table("b")])
        assert names(store) == ["b", "c"]
    assert names(store, "other") == ["z"]


def test_named_tables_are_found_few_or_many(storage: Storage) -> None:
    store = SourceTables()
    many = [f"t{number:03}" for number in range(ROWS_PER_CALL + 10)]
    store.replace("source", [table(name) for name in many])
    for asked in (many[:3], many):
        named = [TableName("public", name) for name in [*asked, "missing"]]
        assert sorted(one.table_name for one in store.find("source", named).values()) == asked
    assert store.find("source", []) == {}
