"""What happens to values of each type, and what stands in the way of whole tables."""

from dataclasses import replace

import pytest

from chalicelib.domain.providers.postgresql.column_types import (
    auto_created_type_warning,
    colliding_topics,
    column_issue,
    table_issues,
    without_modifiers,
)
from chalicelib.domain.providers.postgresql.facts import (
    Generated,
    Persistence,
    RawColumn,
    RawTable,
    ReplicaIdentity,
    TypeFacts,
    TypeKind,
)
from chalicelib.domain.table import IssueCode, Severity, TableName

NOT_CAPTURED, STOPS, CHANGES = IssueCode.TYPE_NOT_CAPTURED, IssueCode.TYPE_STOPS_TASK, IssueCode.TYPE_CHANGES_VALUE


def column(type_name: str, **base: object) -> RawColumn:
    """A column of a type."""
    array = type_name.endswith("[]")
    facts = TypeFacts(name=type_name.removesuffix("[]"), is_array=array, dimensions=int(array))
    return RawColumn(name="c", ordinal=1, type=type_name, base=replace(facts, **base))  # type: ignore[arg-type]


def verdict(subject: RawColumn) -> tuple[IssueCode, Severity] | None:
    """Code and severity of the column's issue."""
    issue = column_issue(subject)
    return (issue.code, issue.severity) if issue else None


@pytest.mark.parametrize(
    "type_name",
    [
        "smallint",
        "integer",
        "bigint",
        "boolean",
        "text",
        "character varying(20)",
        "character(3)",
        "timestamp with time zone",
        "timestamp(3) with time zone",
        "uuid",
        "json",
        "jsonb",
        "bytea",
        "text[]",
        "integer[]",
        "uuid[]",
        "xml",
        "tsvector",
        "bit(8)",
        "inet",
        "cidr",
        "macaddr",
        "money",
        "oid",
        "int4range",
        "name",
        '"char"',
        "jsonb[]",
        "character varying(5)[]",
        "tsvector[]",
    ],
)
def test_types_that_arrive_equal_raise_no_issue(type_name: str) -> None:
    assert verdict(column(type_name)) is None


@pytest.mark.parametrize(
    ("type_name", "expected"),
    [
        ("real", (CHANGES, Severity.INFO)),
        ("double precision", (CHANGES, Severity.INFO)),
        ("numeric", (CHANGES, Severity.INFO)),
        ("numeric(10,2)", (CHANGES, Severity.INFO)),
        ("date", (CHANGES, Severity.INFO)),
        ("time(3) without time zone", (STOPS, Severity.INFO)),
        ("real[]", (CHANGES, Severity.INFO)),
        ("timestamp without time zone", (CHANGES, Severity.INFO)),
        ("timestamp(6) without time zone", (CHANGES, Severity.INFO)),
        ("time with time zone", (CHANGES, Severity.WARN)),
        ("interval", (CHANGES, Severity.WARN)),
        ("interval day to second(3)", (CHANGES, Severity.WARN)),
        ("bit varying(7)", (CHANGES, Severity.WARN)),
        ("point", (STOPS, Severity.WARN)),
        ("bit(1)", (STOPS, Severity.WARN)),
        ("polygon", (NOT_CAPTURED, Severity.WARN)),
        ("tsquery", (NOT_CAPTURED, Severity.WARN)),
        ("interval[]", (NOT_CAPTURED, Severity.WARN)),
        ("money[]", (NOT_CAPTURED, Severity.WARN)),
        ("inet[]", (STOPS, Severity.WARN)),
        ("int8range[]", (STOPS, Severity.WARN)),
        ("date[]", (STOPS, Severity.FAIL)),
        ("bytea[]", (STOPS, Severity.FAIL)),
        ("refcursor", (STOPS, Severity.FAIL)),
        ("public.citext", (CHANGES, Severity.WARN)),
        ("numeric[]", (STOPS, Severity.FAIL)),
        ("numeric(8,2)[]", (STOPS, Severity.FAIL)),
        ("timestamp with time zone[]", (STOPS, Severity.FAIL)),
    ],
)
def test_types_that_lose_something_say_so(type_name: str, expected: tuple[IssueCode, Severity]) -> None:
    assert verdict(column(type_name)) == expected


def test_nested_arrays_lose_their_elements_or_stop() -> None:
    assert verdict(column("integer[]", dimensions=2)) == (CHANGES, Severity.WARN)
    assert verdict(column("uuid[]", dimensions=2)) == (STOPS, Severity.FAIL)


def test_vectors_of_the_system_are_no_arrays_that_arrive() -> None:
    vector = RawColumn(name="c", ordinal=1, type="int2vector", base=TypeFacts(name="smallint", is_array=True))
    assert verdict(vector) == (STOPS, Severity.FAIL)


def test_ranges_of_people_and_multiranges_are_left_out() -> None:
    assert verdict(column("shop.span", kind=TypeKind.RANGE)) == (NOT_CAPTURED, Severity.WARN)
    assert verdict(column("int4multirange", kind=TypeKind.OTHER)) == (NOT_CAPTURED, Severity.WARN)
    assert verdict(column("int4range", kind=TypeKind.RANGE)) is None


def test_enums_arrive_and_arrays_of_them_stop_made_tables() -> None:
    assert verdict(column("shop.mood", kind=TypeKind.ENUM)) is None
    assert verdict(column("shop.mood[]", kind=TypeKind.ENUM)) == (STOPS, Severity.WARN)


@pytest.mark.parametrize("type_name", ["shop.point3", "shop.point3[]"])
def test_composites_are_not_captured(type_name: str) -> None:
    assert verdict(column(type_name, kind=TypeKind.COMPOSITE)) == (NOT_CAPTURED, Severity.WARN)


def test_domain_is_judged_by_what_is_below_it() -> None:
    domain = RawColumn(name="c", ordinal=1, type="shop.span", base=TypeFacts(name="interval", is_domain=True))
    assert verdict(domain) == (CHANGES, Severity.WARN)


def test_enum_that_is_called_like_a_type_of_the_system_is_no_such_type() -> None:
    assert verdict(column("interval", kind=TypeKind.ENUM)) is None


@pytest.mark.parametrize("generated", list(Generated))
def test_generated_columns_grow_stale(generated: Generated) -> None:
    assert verdict(replace(column("integer"), generated=generated)) == (CHANGES, Severity.WARN)


@pytest.mark.parametrize(
    ("type_name", "says"),
    [
        ("jsonb", "json"),
        ("character varying(10)", "text"),
        ("character(2)", "text"),
        ("numeric", "digits are lost"),
        ("shop.mood", "type of your own"),
        ("int4range", "text"),
        ("money", "numeric(38,2)"),
        ("oid", "bigint"),
        ("bit(1)", "boolean"),
        ("character varying(5)[]", "text[]"),
        ("jsonb[]", "json[]"),
        ("numeric(40,2)", "38 digits"),
        ("numeric(5,-2)", "negative scale"),
    ],
)
def test_types_that_a_made_table_does_not_keep(type_name: str, says: str) -> None:
    warning = auto_created_type_warning(type_name)
    assert warning is not None
    assert says in warning


@pytest.mark.parametrize("type_name", ["bigint", "text", "numeric(10,2)", "json", "text[]", "timestamp with time zone"])
def test_types_that_a_made_table_keeps(type_name: str) -> None:
    assert auto_created_type_warning(type_name) is None


@pytest.mark.parametrize(
    ("type_name", "bare"),
    [("numeric(10,2)", "numeric"), ("timestamp(3) with time zone", "timestamp with time zone"), ("text", "text")],
)
def test_modifiers_are_taken_off(type_name: str, bare: str) -> None:
    assert without_modifiers(type_name) == bare


GOOD = RawTable(name=TableName("shop", "orders"), raw_columns=(column("bigint"),), primary_key_columns=("c",))


def codes(raw: RawTable) -> list[tuple[IssueCode, Severity, str | None]]:
    """The issues of a table, in their order."""
    return [(issue.code, issue.severity, issue.column) for issue in table_issues(raw)]


def test_good_table_has_no_issue() -> None:
    assert codes(GOOD) == []


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"schema_usage": False}, IssueCode.NO_PRIVILEGE),
        ({"persistence": Persistence.UNLOGGED}, IssueCode.UNLOGGED),
        ({"row_security_active": True}, IssueCode.ROW_SECURITY),
        ({"identity_usable": False, "replica_identity": ReplicaIdentity.NOTHING}, IssueCode.REPLICA_IDENTITY),
    ],
)
def test_faults_of_the_whole_table_forbid_it(changes: dict[str, object], code: IssueCode) -> None:
    assert codes(replace(GOOD, **changes)) == [(code, Severity.FAIL, None)]  # type: ignore[arg-type]


def test_unreadable_table_is_one_issue_and_unreadable_columns_are_one_each() -> None:
    hidden, seen = replace(column("text"), name="h", can_select=False), column("text")
    assert codes(replace(GOOD, raw_columns=(hidden,))) == [(IssueCode.NO_PRIVILEGE, Severity.FAIL, None)]
    assert codes(replace(GOOD, raw_columns=(hidden, seen))) == [(IssueCode.NO_PRIVILEGE, Severity.FAIL, "h")]


def test_columns_that_differ_by_case_are_all_named() -> None:
    names = ("Name", "name", "other", "STRASSE", "straße", "Ä", "ä")
    columns = tuple(replace(column("text"), name=name) for name in names)
    found = [(code, name) for code, _, name in codes(replace(GOOD, raw_columns=columns))]
    assert found == [(IssueCode.COLUMNS_DIFFER_BY_CASE, name) for name in ("Name", "name", "Ä", "ä")]


def test_worst_issue_comes_first() -> None:
    types = ("real", "interval", "numeric[]")
    raw = replace(GOOD, raw_columns=tuple(replace(column(name), name=name) for name in types))
    assert [severity for _, severity, _ in codes(raw)] == [Severity.FAIL, Severity.WARN, Severity.INFO]


def test_names_that_become_one_topic_collide() -> None:
    a, b, c = TableName("s", "a b"), TableName("s", "a_b"), TableName("s", "ab")
    assert colliding_topics([a, b, c]) == {a: (b,), b: (a,)}
    assert colliding_topics([TableName("a.b", "c"), TableName("a", "b.c")])


def test_collision_names_the_other_table() -> None:
    (issue,) = table_issues(GOOD, {GOOD.name: (TableName("shop", "or ders"),)})
    assert (issue.code, issue.severity) == (IssueCode.TOPIC_COLLISION, Severity.WARN)
    assert "shop.or ders" in issue.message
