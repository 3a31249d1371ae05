"""Spelling of types, and how they are stored."""

import pytest

from chalicelib.domain.providers.measured_types.names import type_of
from chalicelib.domain.providers.postgresql.facts import Generated, PostgreSQLRawColumn, TypeFacts
from chalicelib.domain.providers.postgresql.types import captured_type, discovered_column
from chalicelib.domain.table import CapturedType, TypeKind


@pytest.mark.parametrize(
    ("type_name", "base", "expected"),
    [
        ("numeric(10,2)", TypeFacts(name="numeric(10,2)"), CapturedType(name="numeric(10,2)")),
        ("integer[]", TypeFacts(name="integer", is_array=True), CapturedType(name="integer", dimensions=1)),
        (
            "integer[]",
            TypeFacts(name="integer", is_array=True, dimensions=2),
            CapturedType(name="integer", dimensions=2),
        ),
        ("shop.price", TypeFacts(name="numeric", is_domain=True), CapturedType(name="numeric")),
        (
            "shop.mood",
            TypeFacts(name="shop.mood", kind=TypeKind.ENUM),
            CapturedType(name="shop.mood", kind=TypeKind.ENUM),
        ),
        ("int2vector", TypeFacts(name="smallint", is_array=True), CapturedType(name="int2vector")),
    ],
)
def test_a_type_is_stored_as_a_target_needs_it(type_name: str, base: TypeFacts, expected: CapturedType) -> None:
    raw = PostgreSQLRawColumn(name="c", ordinal=1, type=type_name, base=base)
    assert captured_type(raw) == expected
    assert type_of(discovered_column(raw)) == expected


def test_a_generated_column_is_named_as_such() -> None:
    raw = PostgreSQLRawColumn(
        name="c", ordinal=1, type="integer", base=TypeFacts(name="integer"), generated=Generated.STORED
    )
    assert type_of(discovered_column(raw)) == CapturedType(name="integer", generated=True)
