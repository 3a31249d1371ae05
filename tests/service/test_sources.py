"""Deletion of a source's tables, which tables a filter lists, and what moves with the address of a source."""

from dataclasses import replace

import pytest

from chalicelib.domain.pipeline import MAX_ADDRESS_CLAIMS, Pipeline
from chalicelib.domain.source import Source
from chalicelib.domain.table import TableName
from chalicelib.errors import Conflict
from chalicelib.services.pipelines import PipelineInput
from chalicelib.services.sources import MAX_MOVED, TableFilter
from chalicelib.services.systems import SystemInput
from chalicelib.stores.transaction import Transaction
from tests.faults.invariants import violations
from tests.support.apps.call_interceptor import InterceptedCall, Point, Side
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.inputs import changed_input
from tests.support.entities import make_source_table


def test_a_deleted_source_leaves_no_tables_behind(app: InProcessApp) -> None:
    source = app.source()
    assert app.services.stores.resources.tables.list(source.id)
    app.services.sources.delete(app.context(), source.id)
    assert app.tables.rows("source-tables") == []


def test_a_source_deleted_after_an_interrupted_discovery_leaves_no_tables_behind(app: InProcessApp) -> None:
    source, transaction = app.source(), Transaction()
    app.services.stores.resources.sources.save(transaction, replace(source, last_discovery_at=None))
    transaction.commit()
    app.services.sources.delete(app.context(), source.id)
    assert app.tables.rows("source-tables") == []


TABLE = make_source_table(TableName("shop", "Orders"), estimated_size_bytes=100)


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


def moved(source: Source, host: str) -> SystemInput:
    return changed_input(source, address=replace(source.address, host=host))


def with_slot(pipeline: Pipeline, source: Source, slot: str) -> PipelineInput:
    """The input of a pipeline like another one, on this source, with a slot of this name."""
    number = f"{source.id} {slot}"
    return PipelineInput(
        name=number,
        source_id=source.id,
        stream_cluster_id=pipeline.stream_cluster_id,
        connect_cluster_id=pipeline.connect_cluster_id,
        capture=replace(pipeline.capture, topic_prefix=number.replace(" ", "."), provider_options={"slot_name": slot}),
    )


def test_the_slots_of_a_source_that_moves_are_claimed_at_its_new_address(app: InProcessApp) -> None:
    """Two pipelines had one slot of one server: the first one's source had been moved there."""
    source, pipeline = app.source(), app.pipeline()
    app.services.pipelines.create(app.context(), with_slot(pipeline, source, "shop"))
    app.services.sources.update(app.context(), source.id, moved(source, "new.example.com"))
    twin = app.source()
    app.services.sources.update(app.context(), twin.id, moved(twin, "new.example.com"))
    app.services.discovery.discover(app.context(), twin.id)
    with pytest.raises(Conflict) as refused:
        app.services.pipelines.create(app.context(), with_slot(pipeline, twin, "shop"))
    assert refused.value.code == "NAME_CONFLICT"
    assert "slot" in refused.value.message
    assert violations(app) == []


def test_a_source_does_not_move_to_where_another_pipeline_has_the_same_slot(app: InProcessApp) -> None:
    source, twin, pipeline = app.source(), app.source(), app.pipeline()
    first = app.services.pipelines.create(app.context(), with_slot(pipeline, source, "shop"))
    app.services.pipelines.create(app.context(), with_slot(pipeline, twin, "shop"))
    with pytest.raises(Conflict) as refused:
        app.services.sources.update(app.context(), twin.id, moved(twin, source.address.host))
    assert refused.value.code == "NAME_CONFLICT"
    assert first.name in refused.value.message
    assert app.services.sources.get(twin.id).address == twin.address
    assert violations(app) == []


def test_the_slot_of_a_draft_becomes_free_at_the_former_address(app: InProcessApp) -> None:
    source, twin, pipeline = app.source(), app.source(), app.pipeline()
    app.services.pipelines.create(app.context(), with_slot(pipeline, source, "shop"))
    app.services.sources.update(app.context(), source.id, moved(source, "new.example.com"))
    app.services.sources.update(app.context(), twin.id, moved(twin, source.address.host))
    app.services.discovery.discover(app.context(), twin.id)
    assert app.services.pipelines.create(app.context(), with_slot(pipeline, twin, "shop"))


def test_the_slot_of_a_deployed_pipeline_stays_claimed_at_the_former_address(app: InProcessApp) -> None:
    """Its connector reads there until it is deployed again, and the slot stays there even then."""
    source, twin, pipeline = app.source(), app.source(), app.pipeline()
    draft = app.services.pipelines.create(app.context(), with_slot(pipeline, source, "shop"))
    app.services.pipelines.deploy(app.context(), draft.id)
    app.services.sources.update(app.context(), source.id, moved(source, "new.example.com"))
    app.services.sources.update(app.context(), twin.id, moved(twin, source.address.host))
    app.services.discovery.discover(app.context(), twin.id)
    with pytest.raises(Conflict):
        app.services.pipelines.create(app.context(), with_slot(pipeline, twin, "shop"))
    app.services.sources.update(
        app.context(), source.id, moved(app.services.sources.get(source.id), source.address.host)
    )
    app.services.pipelines.delete(app.context(), draft.id)
    assert app.services.pipelines.create(app.context(), with_slot(pipeline, twin, "shop"))
    assert violations(app) == []


def test_a_source_that_moves_again_and_again_keeps_a_bounded_number_of_claims(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    for number in range(12):
        source = app.services.sources.get(pipeline.source_id)
        app.services.sources.update(app.context(), source.id, moved(source, f"host{number}.example.com"))
    claims = app.services.pipelines.get(pipeline.id).claims
    assert len([key for key in claims if not key.startswith("prefix/")]) == MAX_ADDRESS_CLAIMS
    assert violations(app) == []


def test_a_source_with_many_pipelines_keeps_its_address(app: InProcessApp) -> None:
    source, pipeline = app.source(), app.pipeline()
    for number in range(MAX_MOVED):
        app.services.pipelines.create(app.context(), with_slot(pipeline, source, f"slot_{number}"))
    first = app.services.sources.update(app.context(), source.id, moved(source, "new.example.com"))
    app.services.discovery.discover(app.context(), source.id)
    app.services.pipelines.create(app.context(), with_slot(pipeline, source, "one_more"))
    with pytest.raises(Conflict):
        app.services.sources.update(app.context(), source.id, moved(first, "newer.example.com"))


def test_a_pipeline_that_is_created_while_its_source_moves_is_refused(app: InProcessApp) -> None:
    source, pipeline = app.source(), app.pipeline()
    interrupted = []

    def move_first(point: Point, call: InterceptedCall) -> object:
        if point.writes and point.side is Side.STORE and not interrupted:
            interrupted.append(True)
            app.interceptor.unwatch()
            app.services.sources.update(app.context(), source.id, moved(source, "new.example.com"))
        return call()

    app.interceptor.watch(move_first)
    with pytest.raises(Conflict):
        app.services.pipelines.create(app.context(), with_slot(pipeline, source, "shop"))
    assert violations(app) == []


def test_a_source_does_not_move_without_the_claims_of_a_pipeline_that_the_index_does_not_show_yet(
    app: InProcessApp,
) -> None:
    source = app.source()
    earlier = app.tables.snapshot()["headgate-pipelines"]
    app.pipeline(source)

    def outdated_index(point: Point, call: InterceptedCall) -> object:
        if point.operation != "Query":
            return call()
        with app.tables.showing({"headgate-pipelines": earlier}):
            return call()

    app.interceptor.watch(outdated_index)
    with pytest.raises(Conflict):
        app.services.sources.update(app.context(), source.id, moved(source, "new.example.com"))
    app.interceptor.unwatch()
    assert app.services.sources.update(app.context(), source.id, moved(source, "new.example.com")).version == 2
    assert violations(app) == []


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
