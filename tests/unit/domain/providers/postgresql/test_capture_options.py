"""Options of a capture that PostgreSQL, or Debezium's use of it, does not allow."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from chalicelib.domain.pipeline import Capture, CaptureOptions
from chalicelib.domain.providers.postgresql.capture_options import check_options, own_options
from chalicelib.domain.table import CapturedType, Column, SourceTable, TableName
from chalicelib.errors import Invalid
from tests.support.entities import make_source_table
from tests.support.faults import places

BEAT = TableName("ops", "beat")
RIGHT = {"id": "integer", "ts": "timestamp with time zone"}


def refused(capture: Capture, *tables: SourceTable) -> list[object]:
    """The details of the refusal; none when the options are right."""
    try:
        check_options(capture, {table.name: table for table in tables})
    except Invalid as error:
        return list(error.details)
    return []


def with_publication(name: str | None) -> Capture:
    own = {"publication_name": name}
    return Capture(topic_prefix="p", tables=(TableName("shop", "orders"),), provider_options=own)


def heartbeat(
    columns: Mapping[str, str], key: tuple[str, ...] = ("id",), name: TableName = BEAT
) -> tuple[Capture, SourceTable]:
    """A capture with this heartbeat table, as discovered."""
    table = make_source_table(
        name,
        primary_key_columns=key,
        columns=tuple(
            Column(name=column, type=type_, nullable=True, ordinal=at)
            for at, (column, type_) in enumerate(columns.items(), 1)
        ),
    )
    return Capture(topic_prefix="p", tables=(), options=CaptureOptions(heartbeat_table=name)), table


def test_options_that_were_not_sent_have_defaults() -> None:
    assert own_options({"slot_name": "mine"}, {}) == {
        "publication_mode": "filtered",
        "publication_name": None,
        "slot_name": "mine",
        "adopt_existing": False,
    }


def test_options_of_another_kind_of_database_are_refused_where_they_were_sent() -> None:
    with pytest.raises(Invalid) as refusal:
        own_options({"slot_name": "mine", "server_id": 7}, {})
    assert places(refusal.value.details) == [{"location": ["body", "options", "server_id"], "type": "extra_forbidden"}]


@pytest.mark.parametrize("name", [None, "p", "_p", "headgate_pub_1", "tables", "between", "a" * 63])
def test_a_publication_name_that_needs_no_quotes_is_allowed(name: str | None) -> None:
    assert refused(with_publication(name)) == []


@pytest.mark.parametrize(
    "name", ["1p", "", "P", "a-b", "a b", "a\n", "a" * 64, "user", "order", "table", "left", "ilike"]
)
def test_a_publication_name_that_needs_quotes_is_refused(name: str) -> None:
    location = ["body", "options", "publication_name"]
    assert places(refused(with_publication(name))) == [{"location": location, "type": "name_needs_quotes"}]


@pytest.mark.parametrize(
    "columns",
    [
        RIGHT,
        {"id": "bigint", "ts": "timestamp(3) without time zone"},
        {"id": "smallint", "ts": "timestamp with time zone", "note": "text"},
    ],
)
def test_a_table_with_id_and_ts_may_be_the_heartbeat_table(columns: Mapping[str, str]) -> None:
    assert refused(*heartbeat(columns)) == []


@pytest.mark.parametrize(
    ("columns", "key"),
    [
        ({"id": "integer"}, ("id",)),
        ({"ts": "timestamp with time zone"}, ("ts",)),
        ({"id": "text", "ts": "timestamp with time zone"}, ("id",)),
        ({"id": "integer[]", "ts": "timestamp with time zone"}, ("id",)),
        ({"id": "integer", "ts": "date"}, ("id",)),
        (RIGHT, ()),
        (RIGHT, ("id", "ts")),
    ],
)
def test_a_table_that_the_statement_does_not_fit_is_refused(columns: Mapping[str, str], key: tuple[str, ...]) -> None:
    location = ["body", "options", "heartbeat_table"]
    assert places(refused(*heartbeat(columns, key))) == [{"location": location, "type": "not_a_heartbeat_table"}]


def test_the_type_below_a_domain_counts() -> None:
    capture, table = heartbeat({**RIGHT, "id": "ops.number"})
    number = replace(table.columns[0], captured=CapturedType(name="bigint"))
    assert refused(capture, replace(table, columns=(number, table.columns[1]))) == []


def test_a_heartbeat_table_whose_name_would_be_read_as_a_secret_reference_is_refused() -> None:
    details = refused(*heartbeat(RIGHT, name=TableName("ops", "${headgate:x:password}")))
    assert places(details) == [{"location": ["body", "options", "heartbeat_table"], "type": "name"}]
