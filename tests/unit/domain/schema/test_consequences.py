"""What changes of a schema mean for the pipelines and deliveries that are deployed."""

from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.delivery import Delivery, TableMapping, TableWriting
from chalicelib.domain.monitoring.condition import ConditionCode, Severity
from chalicelib.domain.object_store import FileFormat, FileWriting, TopicMapping
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.pipeline import Capture, CaptureOptions
from chalicelib.domain.schema.change import Alteration, SchemaChange, SchemaImpact
from chalicelib.domain.schema.conditions import schema_conditions
from chalicelib.domain.schema.consequences import MAX_SENTENCES, affected, needs_look
from chalicelib.domain.schema.version import SchemaVersion
from chalicelib.domain.table import ColumnName
from tests.support.entities import NOW, ORDERS, make_delivery, make_pipeline

PIPELINE = make_pipeline(id="p", name="shop", desired_state=DesiredState.RUNNING)
RENAMED = SchemaChange(change=Alteration.COLUMN_PROBABLY_RENAMED, column="price", before="price", after="amount")
ADDED = SchemaChange(change=Alteration.NULLABLE_COLUMN_ADDED, column="note", after="text")


def delivery(topic: str = "p.shop.orders", **writing: Any) -> Delivery:
    mappings = (TableMapping(topic=topic, schema_name="public", table_name="orders"),)
    table_writing = TableWriting(mappings=mappings, **writing)
    return make_delivery(table_writing, id="d", name="to the warehouse", desired_state=DesiredState.RUNNING)


def version(*diff: SchemaChange) -> SchemaVersion:
    return SchemaVersion(
        id="v",
        source_id="s",
        schema_name=ORDERS.schema_name,
        table_name=ORDERS.table_name,
        version=2,
        schema_hash="h",
        schema=None,
        diff=diff,
        discovered_at=NOW,
    )


def sentences(one: SchemaVersion, *deliveries: Delivery, pipeline: Any = PIPELINE) -> dict[str, str]:
    return {named.name: named.consequence for named in affected(one, [pipeline], {"p": deliveries})}


def test_who_reads_files_is_told_that_lines_have_another_field() -> None:
    writing = FileWriting(mappings=(TopicMapping(topic="p.shop.orders"),), format=FileFormat.JSONL)
    to_files = replace(delivery(), name="to the lake", writing=writing)
    assert sentences(version(RENAMED), to_files) == {
        "to the lake": "Column price of shop.orders was probably renamed: lines have amount in its place from now on."
    }
    assert sentences(version(ADDED), to_files) == {}


def test_a_delivery_of_a_renamed_column_is_told_what_its_target_has_then() -> None:
    assert sentences(version(RENAMED), delivery()) == {
        "to the warehouse": "Column price of shop.orders was probably renamed to amount: the target keeps the old "
        "column with its last values and gets a new one."
    }


def test_a_new_column_concerns_only_a_delivery_that_adds_none() -> None:
    assert sentences(version(ADDED), delivery()) == {}
    adds_none = delivery(auto_create=False, auto_evolve=False)
    assert sentences(version(ADDED), adds_none)["to the warehouse"].endswith("its task stops at the next row.")
    assert needs_look(version(ADDED))


@pytest.mark.parametrize("alteration", [Alteration.TABLE_DROPPED, Alteration.TABLE_ADDED_AGAIN])
def test_a_table_that_is_gone_or_another_one_concerns_its_pipeline_and_its_delivery(alteration: Alteration) -> None:
    assert sentences(version(SchemaChange(change=alteration)), delivery()).keys() == {"shop", "to the warehouse"}


def test_drafts_other_tables_other_topics_and_columns_that_are_left_out_are_not_concerned() -> None:
    renamed = version(RENAMED)
    left_out = CaptureOptions(exclude_columns=(ColumnName("shop", "orders", "price"),))
    others = [
        make_pipeline(id="p"),
        replace(PIPELINE, capture=Capture(topic_prefix="p", tables=())),
        replace(PIPELINE, capture=replace(PIPELINE.capture, options=left_out)),
    ]
    assert [sentences(renamed, delivery(), pipeline=pipeline) for pipeline in others] == [{}, {}, {}]
    assert sentences(renamed, delivery(topic="p.shop.items")) == {}


@pytest.mark.parametrize("alteration", Alteration)
def test_what_breaks_always_has_a_sentence_and_what_breaks_nothing_never_alarms(alteration: Alteration) -> None:
    change = SchemaChange(change=alteration, column="note", before="a", after="b")
    concerned = sentences(version(change), delivery())
    assert bool(concerned) == (change.impact is not SchemaImpact.NON_BREAKING)
    assert all("{" not in sentence for sentence in concerned.values())


def test_many_changes_of_a_table_are_counted_behind_the_first_ones() -> None:
    many = [replace(RENAMED, before=f"price{number}") for number in range(MAX_SENTENCES + 2)]
    assert sentences(version(*many), delivery())["to the warehouse"].endswith("; and 2 more changes.")


def test_what_one_discovery_finds_about_a_delivery_is_one_condition() -> None:
    named = affected(version(RENAMED), [PIPELINE], {"p": [delivery()]})
    first, second = replace(version(RENAMED), affects=named), replace(version(RENAMED), affects=named)
    (condition,) = schema_conditions([first, second])
    assert (condition.code, condition.severity) == (ConditionCode.SCHEMA_CHANGED, Severity.WARNING)
    assert (condition.resource_type, condition.resource_id) == ("delivery", "d")
    assert condition.message.count("renamed to amount") == 2
    assert condition.hint is not None
