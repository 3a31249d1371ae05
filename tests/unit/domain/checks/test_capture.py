from dataclasses import replace

import pytest

from chalicelib.domain.checks.capture import check_options, option_warnings
from chalicelib.domain.pipeline import Capture, CaptureOptions, OnConversionError
from chalicelib.domain.table import Column, ColumnName, SourceTable, TableName
from chalicelib.errors import Invalid
from tests.support.entities import make_source_table
from tests.support.faults import places

ORDERS, BEAT = TableName("shop", "orders"), TableName("ops", "beat")


def table(name: TableName, *columns: str, key: tuple[str, ...] = ("id",)) -> SourceTable:
    return make_source_table(
        name,
        primary_key_columns=key,
        columns=tuple(
            Column(name=column, type="text", nullable=True, ordinal=at) for at, column in enumerate(columns, 1)
        ),
    )


def errors(*tables: SourceTable, **options: object) -> list[dict[str, object]]:
    """The details of the refusal; none when the options are right."""
    captured = tuple(discovered.name for discovered in tables if discovered.name != BEAT)
    capture = Capture(topic_prefix="p", tables=captured, options=CaptureOptions(**options))  # type: ignore[arg-type]
    try:
        check_options(capture, {discovered.name: discovered for discovered in tables})
    except Invalid as error:
        return list(error.details)
    return []


def column(name: str, of: TableName = ORDERS) -> ColumnName:
    return ColumnName(of.schema_name, of.table_name, name)


def test_a_column_that_is_no_key_may_be_left_out() -> None:
    assert errors(table(ORDERS, "id", "note"), exclude_columns=(column("note"),)) == []


@pytest.mark.parametrize(
    ("excluded", "type_"),
    [
        (column("note", TableName("shop", "other")), "not_captured"),
        (column("Note"), "not_discovered"),
        (column("id"), "key_column"),
    ],
)
def test_a_column_that_cannot_be_left_out_is_named_by_its_position(excluded: ColumnName, type_: str) -> None:
    details = errors(table(ORDERS, "id", "note"), exclude_columns=(column("note"), excluded))
    assert places(details) == [{"location": ["body", "options", "exclude_columns", 1], "type": type_}]


def test_a_column_of_a_table_without_a_primary_key_could_still_arrive_in_a_key_and_is_refused() -> None:
    details = errors(table(ORDERS, "mail", "note", key=()), exclude_columns=(column("note"),))
    assert places(details) == [{"location": ["body", "options", "exclude_columns", 0], "type": "table_without_key"}]


def test_every_wrong_column_is_named() -> None:
    details = errors(table(ORDERS, "id", "note"), exclude_columns=(column("id"), column("x")))
    assert [detail["type"] for detail in details] == ["key_column", "not_discovered"]


def test_a_column_that_a_pattern_cannot_tell_from_another_is_refused() -> None:
    twin = TableName("shop", "orders.private")
    tables = (table(ORDERS, "id", "private.note"), table(twin, "id", "note"))
    details = errors(*tables, exclude_columns=(column("private.note"),))
    assert [detail["type"] for detail in details] == ["ambiguous"]


def test_a_heartbeat_table_needs_heartbeats() -> None:
    details = errors(table(ORDERS, "id"), table(BEAT, "id", "ts"), heartbeat_table=BEAT, heartbeat_interval_ms=0)
    assert places(details) == [{"location": ["body", "options", "heartbeat_interval_ms"], "type": "heartbeats_off"}]


def test_a_heartbeat_table_may_not_share_a_topic_with_a_captured_table() -> None:
    options = CaptureOptions(heartbeat_table=TableName("ops", "a.beat"))
    capture = Capture(topic_prefix="p", tables=(TableName("ops.a", "beat"),), options=options)
    with pytest.raises(Invalid) as refused:
        check_options(capture, {})
    assert places(refused.value.details) == [
        {"location": ["body", "options", "heartbeat_table"], "type": "topic_collision"}
    ]


@pytest.mark.parametrize(
    ("policy", "key", "refused"),
    [("compact", (), True), ("compact,delete", (), True), ("compact", ("id",), False), ("delete", (), False)],
)
def test_a_compacted_topic_is_refused_for_a_table_without_a_key(
    policy: str, key: tuple[str, ...], refused: bool
) -> None:
    capture = Capture(topic_prefix="p", tables=(ORDERS,), properties={"topic.creation.default.cleanup.policy": policy})
    tables = {ORDERS: replace(table(ORDERS, "id"), primary_key_columns=key)}
    if not refused:
        check_options(capture, tables)
        return
    with pytest.raises(Invalid, match=r"shop\.orders") as error:
        check_options(capture, tables)
    assert places(error.value.details) == [{"location": ["body", "properties"], "type": "compact_without_key"}]


def warnings(**options: object) -> list[str]:
    capture = Capture(topic_prefix="p", tables=(ORDERS,), options=CaptureOptions(**options))  # type: ignore[arg-type]
    return [warning.code for warning in option_warnings(capture)]


def test_every_preview_says_that_truncate_is_not_delivered() -> None:
    assert warnings() == ["TRUNCATE_NOT_DELIVERED"]


@pytest.mark.parametrize(("size", "warned"), [(1024**2, False), (1024**2 + 1, True)])
def test_records_over_a_mebibyte_cost_memory(size: int, warned: bool) -> None:
    assert ("LARGE_MESSAGES" in warnings(max_message_bytes=size)) is warned


def test_values_that_become_null_are_worth_a_warning() -> None:
    assert "VALUES_MAY_BE_NULL" in warnings(on_conversion_error=OnConversionError.NULL)
