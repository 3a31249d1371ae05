"""How types that were captured from PostgreSQL are delivered to PostgreSQL."""

from collections.abc import Mapping

import pytest

from chalicelib.domain.providers.jdbc.target_types import Stop
from chalicelib.domain.providers.postgresql.delivery_types import narrowing
from chalicelib.domain.providers.postgresql.target_columns import TYPES
from chalicelib.domain.table import CapturedType, Column, SourceTable, TypeKind
from tests.support.entities import make_source_table


def table(captured: CapturedType) -> SourceTable:
    column = Column(name="c", type=captured.name, nullable=True, ordinal=1, captured=captured)
    return make_source_table(columns=(column,), primary_key_columns=())


STOPS: Mapping[Stop | None, tuple[CapturedType, ...]] = {
    Stop.ALWAYS: (
        CapturedType(name="numeric(8,2)", dimensions=1),
        CapturedType(name="timestamp(3) with time zone", dimensions=1),
        CapturedType(name="uuid", dimensions=2),
    ),
    Stop.EXISTING_TABLE: (
        CapturedType(name="int2vector"),
        CapturedType(name="inet", dimensions=1),
        CapturedType(name="int8range", kind=TypeKind.RANGE, dimensions=1),
        CapturedType(name="shop.mood", kind=TypeKind.ENUM, dimensions=1),
        CapturedType(name="bit(1)"),
    ),
    Stop.WITHOUT_EXTENSION: (CapturedType(name="point"),),
    None: (
        CapturedType(name="numeric(8,2)"),
        CapturedType(name="bit(8)"),
        CapturedType(name="uuid", dimensions=1),
        CapturedType(name="integer", dimensions=2),
        CapturedType(name="numeric", dimensions=1, generated=True),
    ),
}


@pytest.mark.parametrize(
    ("captured", "expected"), [(captured, stop) for stop, several in STOPS.items() for captured in several]
)
def test_delivery_stops_at_these_types_and_no_others(captured: CapturedType, expected: Stop | None) -> None:
    assert [stop for _, stop in TYPES.stops(table(captured))] == ([] if expected is None else [expected])


def created_warning(type_name: str) -> str | None:
    captured = CapturedType(name=type_name.removesuffix("[]"), dimensions=int(type_name.endswith("[]")))
    column = Column(name="c", type=type_name, nullable=True, ordinal=1, captured=captured)
    ((_, warning),) = TYPES.created_warnings(make_source_table(columns=(column,), primary_key_columns=()))
    return warning


@pytest.mark.parametrize(
    ("type_name", "says"),
    [
        ("jsonb", "gets json instead of jsonb"),
        ("character varying(10)", "gets text instead of character varying"),
        ("numeric", "numbers of more than 17 digits arrive changed"),
        ("int4range", "gets text"),
        ("inet", "gets text"),
        ("money", "gets numeric"),
        ("oid", "gets bigint"),
        ("bit(1)", "gets boolean"),
        ("character varying(5)[]", "gets text[]"),
        ("jsonb[]", "gets json[]"),
        ("numeric(40,2)", "stops at numbers of more than 38 digits"),
    ],
)
def test_types_that_are_not_kept_in_a_created_table(type_name: str, says: str) -> None:
    assert says in (created_warning(type_name) or "").replace("Numbers", "numbers")


@pytest.mark.parametrize("type_name", ["bigint", "text", "numeric(10,2)", "json", "text[]", "timestamp with time zone"])
def test_types_that_are_kept_in_a_created_table(type_name: str) -> None:
    assert created_warning(type_name) is None


@pytest.mark.parametrize(
    ("source", "target", "effect"),
    [
        ("numeric(10,4)", "numeric(10,2)", "rounded"),
        ("numeric", "numeric(38,10)", "rounded"),
        ("numeric(12,2)", "numeric(10,2)", "longer"),
        ("bigint", "numeric(10,0)", "longer"),
        ("character varying(20)", "character varying(10)", "longer"),
        ("timestamp without time zone", "timestamp(3) without time zone", "rounded"),
        ("timestamp(6) with time zone", "timestamp(0) with time zone", "rounded"),
        ("numeric(10,2)", "numeric(12,2)", None),
        ("integer", "numeric(10,0)", None),
        ("character varying(10)", "character varying", None),
        ("timestamp(3) without time zone", "timestamp without time zone", None),
    ],
)
def test_a_smaller_target_column_has_an_effect(source: str, target: str, effect: str | None) -> None:
    sentence = narrowing(source, target)
    assert sentence is None if effect is None else effect in (sentence or "")
