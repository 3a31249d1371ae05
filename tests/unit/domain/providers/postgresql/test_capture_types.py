"""How values of each type are captured."""

from dataclasses import replace

import pytest

from chalicelib.domain.providers.postgresql.capture_types import column_issue
from chalicelib.domain.providers.postgresql.facts import Generated, PostgreSQLRawColumn, TypeFacts
from chalicelib.domain.table import IssueCode, IssueSeverity, TypeKind

NOT_CAPTURED, STOPS, CHANGES = IssueCode.TYPE_NOT_CAPTURED, IssueCode.TYPE_STOPS_TASK, IssueCode.TYPE_CHANGES_VALUE


def column(type_name: str, **base: object) -> PostgreSQLRawColumn:
    array = type_name.endswith("[]")
    facts = TypeFacts(name=type_name.removesuffix("[]"), is_array=array, dimensions=int(array))
    return PostgreSQLRawColumn(name="c", ordinal=1, type=type_name, base=replace(facts, **base))  # type: ignore[arg-type]


def verdict(subject: PostgreSQLRawColumn) -> tuple[IssueCode, IssueSeverity] | None:
    issue = column_issue(subject)
    return (issue.code, issue.severity) if issue else None


ARRIVES_EQUAL = (
    *("smallint", "integer", "bigint", "boolean", "text", "character varying(20)", "character(3)", '"char"'),
    *("timestamp with time zone", "timestamp(3) with time zone", "uuid", "json", "jsonb", "bytea", "xml", "tsvector"),
    *("bit(1)", "bit(8)", "inet", "cidr", "macaddr", "money", "oid", "int4range", "public.citext"),
    *("text[]", "integer[]", "uuid[]", "jsonb[]", "character varying(5)[]", "inet[]", "int8range[]"),
)


@pytest.mark.parametrize("type_name", ARRIVES_EQUAL)
def test_types_that_arrive_equal_raise_no_issue(type_name: str) -> None:
    assert verdict(column(type_name)) is None


LOSSY = {
    (CHANGES, IssueSeverity.INFO): (
        *("real", "double precision", "numeric", "date", "real[]"),
        *("timestamp without time zone", "timestamp(6) without time zone"),
    ),
    (CHANGES, IssueSeverity.WARN): (
        *("time with time zone", "interval", "interval day to second(3)", "bit varying(7)", "name"),
        *("public.hstore", "shop.unknown"),
    ),
    (STOPS, IssueSeverity.INFO): ("numeric(10,2)", "time(3) without time zone", "tsvector[]"),
    # They stop a delivery only.
    (STOPS, IssueSeverity.WARN): (*("date[]", "bytea[]", "numeric[]", "numeric(8,2)[]", "timestamp with time zone[]"),),
    (STOPS, IssueSeverity.FAIL): ("refcursor",),
    (NOT_CAPTURED, IssueSeverity.WARN): ("polygon", "tsquery", "interval[]", "money[]"),
}


@pytest.mark.parametrize(
    ("type_name", "expected"), [(name, expected) for expected, names in LOSSY.items() for name in names]
)
def test_types_that_lose_information_are_a_warning(type_name: str, expected: tuple[IssueCode, IssueSeverity]) -> None:
    assert verdict(column(type_name)) == expected


def test_nested_arrays_lose_elements_or_are_refused() -> None:
    assert verdict(column("integer[]", dimensions=2)) == (CHANGES, IssueSeverity.WARN)
    assert verdict(column("uuid[]", dimensions=2)) == (STOPS, IssueSeverity.WARN)


def test_system_vector_types_are_not_delivered_as_arrays() -> None:
    vector = PostgreSQLRawColumn(name="c", ordinal=1, type="int2vector", base=TypeFacts(name="smallint", is_array=True))
    assert verdict(vector) == (STOPS, IssueSeverity.WARN)


def test_user_defined_ranges_and_multiranges_are_not_captured() -> None:
    assert verdict(column("shop.span", kind=TypeKind.RANGE)) == (NOT_CAPTURED, IssueSeverity.WARN)
    assert verdict(column("int4multirange", kind=TypeKind.OTHER)) == (NOT_CAPTURED, IssueSeverity.WARN)
    assert verdict(column("int4range", kind=TypeKind.RANGE)) is None


def test_enums_arrive_and_so_do_arrays_of_them_without_null() -> None:
    assert verdict(column("shop.mood", kind=TypeKind.ENUM)) is None
    assert verdict(column("shop.mood[]", kind=TypeKind.ENUM)) == (STOPS, IssueSeverity.INFO)


@pytest.mark.parametrize("type_name", ["shop.point3", "shop.point3[]"])
def test_composites_are_not_captured(type_name: str) -> None:
    assert verdict(column(type_name, kind=TypeKind.COMPOSITE)) == (NOT_CAPTURED, IssueSeverity.WARN)


def test_a_domain_is_judged_by_its_base_type() -> None:
    domain = PostgreSQLRawColumn(name="c", ordinal=1, type="shop.span", base=TypeFacts(name="interval", is_domain=True))
    assert verdict(domain) == (CHANGES, IssueSeverity.WARN)


def test_an_enum_with_the_name_of_a_system_type_is_an_enum() -> None:
    assert verdict(column("interval", kind=TypeKind.ENUM)) is None


@pytest.mark.parametrize("generated", list(Generated))
def test_generated_columns_are_not_updated_in_the_target(generated: Generated) -> None:
    assert verdict(replace(column("integer"), generated=generated)) == (CHANGES, IssueSeverity.WARN)


@pytest.mark.parametrize("type_name", ["numeric", "numeric(10,2)"])
def test_a_value_that_cannot_be_converted_is_said_to_stop_the_capture_unless_null_is_asked_for(type_name: str) -> None:
    issue = column_issue(column(type_name))
    assert issue
    assert "stops at values NaN" in issue.message
    assert "on_conversion_error null" in issue.message
