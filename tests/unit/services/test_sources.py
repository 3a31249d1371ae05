"""Deletion of a source's tables, and which tables a filter lists."""

from dataclasses import replace

import pytest

from chalicelib.domain.table import SourceTable
from chalicelib.services.sources import TableFilter
from chalicelib.stores.transaction import Transaction
from tests.support.in_process_app import START_TIME, InProcessApp


def test_a_deleted_source_leaves_no_tables_behind(app: InProcessApp) -> None:
    source = app.source()
    assert app.services.stores.tables.list(source.id)
    app.services.sources.delete(app.context(), source.id)
    assert app.services.stores.tables.list(source.id) == ()


def test_a_source_deleted_after_an_interrupted_discovery_leaves_no_tables_behind(app: InProcessApp) -> None:
    source, transaction = app.source(), Transaction()
    app.services.stores.sources.save(transaction, replace(source, last_discovery_at=None))
    transaction.commit()
    app.services.sources.delete(app.context(), source.id)
    assert app.services.stores.tables.list(source.id) == ()


TABLE = SourceTable(
    id="table", source_id="source", schema_name="shop", table_name="Orders", primary_key_columns=("id",), columns=(),
    estimated_rows=None, estimated_size_bytes=100, replica_identity=None, issues=(), discovered_at=START_TIME,
)  # fmt: skip


@pytest.mark.parametrize(
    ("table_filter", "matches"),
    [
        (TableFilter(), True),
        (TableFilter(search="shop.ORD"), True),
        (TableFilter(search="lines"), False),
        (TableFilter(schema="shop"), True),
        (TableFilter(schema="sho"), False),
        (TableFilter(cdc_ready=True), True),
        (TableFilter(cdc_ready=False), False),
        (TableFilter(has_primary_key=False), False),
        (TableFilter(min_size=100), True),
        (TableFilter(min_size=101), False),
        (TableFilter(search="orders", schema="other"), False),
    ],
)
def test_a_filter_shows_the_tables_that_match_all_of_it(table_filter: TableFilter, matches: bool) -> None:
    assert table_filter.matches(TABLE) is matches


def test_a_table_of_unknown_size_is_smaller_than_any_bound() -> None:
    assert not TableFilter(min_size=1).matches(replace(TABLE, estimated_size_bytes=None))


def test_a_list_of_tables_is_paged_by_name(app: InProcessApp) -> None:
    source, names, after = app.source(), list[str](), None
    while True:
        page = app.services.sources.list_tables(source.id, table_filter=TableFilter(), limit=2, after=after)
        names += [table.table_name for table in page.items]
        if (after := page.next_key) is None:
            break
    assert names == ["customers", "items", "orders"]


@pytest.mark.parametrize(
    ("tables", "listed"),
    [
        (("items", "orders"), ["customers", "items", "orders"]),
        (("addresses", "customers", "items", "orders"), ["customers", "items", "orders"]),
        (("customers", "items", "lines", "orders"), ["customers", "items", "lines", "orders"]),
    ],
)
def test_a_discovery_between_two_pages_neither_repeats_nor_skips_a_table(
    app: InProcessApp, monkeypatch: pytest.MonkeyPatch, tables: tuple[str, ...], listed: list[str]
) -> None:
    source = app.source()
    first = app.services.sources.list_tables(source.id, table_filter=TableFilter(), limit=2, after=None)
    monkeypatch.setattr(app.database, "tables", tables)
    app.services.discovery.discover(app.context(), source.id)
    rest = app.services.sources.list_tables(source.id, table_filter=TableFilter(), limit=9, after=first.next_key)
    assert [table.table_name for table in (*first.items, *rest.items)] == listed
