"""How types that were captured from PostgreSQL are delivered to PostgreSQL."""

import pytest

from chalicelib.domain.providers.jdbc.target_types import Stop
from chalicelib.domain.providers.postgresql.delivery_types import auto_created_type_warning, narrowing, stop_of
from chalicelib.domain.table import CapturedType, TypeKind


@pytest.mark.parametrize(
    ("captured", "expected"),
    [
        (CapturedType(name="numeric(8,2)", dimensions=1), Stop.ALWAYS),
        (CapturedType(name="timestamp(3) with time zone", dimensions=1), Stop.ALWAYS),
        (CapturedType(name="uuid", dimensions=2), Stop.ALWAYS),
        (CapturedType(name="int2vector"), Stop.ALWAYS),
        (CapturedType(name="inet", dimensions=1), Stop.EXISTING_TABLE),
        (CapturedType(name="int8range", kind=TypeKind.RANGE, dimensions=1), Stop.EXISTING_TABLE),
        (CapturedType(name="shop.mood", kind=TypeKind.ENUM, dimensions=1), Stop.EXISTING_TABLE),
        (CapturedType(name="bit(1)"), Stop.EXISTING_TABLE),
        (CapturedType(name="point"), Stop.WITHOUT_EXTENSION),
        (CapturedType(name="numeric(8,2)"), None),
        (CapturedType(name="bit(8)"), None),
        (CapturedType(name="uuid", dimensions=1), None),
        (CapturedType(name="integer", dimensions=2), None),
        (CapturedType(name="shop.mood", kind=TypeKind.ENUM), None),
        (CapturedType(name="numeric", dimensions=1, generated=True), None),
    ],
)
def test_delivery_stops_at_these_types_and_no_others(captured: CapturedType, expected: Stop | None) -> None:
    assert stop_of(captured) is expected


@pytest.mark.parametrize(
    ("type_name", "says"),
    [
        ("jsonb", "json"),
        ("character varying(10)", "text"),
        ("character(2)", "text"),
        ("numeric", "digits are lost"),
        ("shop.mood", "type of your own"),
        ("int4range", "text"),
        ("inet", "text"),
        ("money", "numeric(38,2)"),
        ("oid", "bigint"),
        ("bit(1)", "boolean"),
        ("character varying(5)[]", "text[]"),
        ("jsonb[]", "json[]"),
        ("numeric(40,2)", "38 digits"),
        ("numeric(5,-2)", "negative scale"),
    ],
)
def test_types_that_are_not_kept_in_a_created_table(type_name: str, says: str) -> None:
    warning = auto_created_type_warning(type_name)
    assert warning is not None
    assert says in warning


@pytest.mark.parametrize("type_name", ["bigint", "text", "numeric(10,2)", "json", "text[]", "timestamp with time zone"])
def test_types_that_are_kept_in_a_created_table(type_name: str) -> None:
    assert auto_created_type_warning(type_name) is None


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
