"""What reaches the topic of values of each PostgreSQL type.

The tables below were measured with Debezium 3.6, snapshot and stream. Debezium leaves out a type of the system that is
in none of them: most were measured, the others are assumed.
"""

from collections.abc import Mapping

from chalicelib.domain.providers.jdbc.target_types import Stop
from chalicelib.domain.providers.postgresql.delivery_types import stop_of
from chalicelib.domain.providers.postgresql.facts import Generated, PostgreSQLRawColumn
from chalicelib.domain.providers.postgresql.types import NUMERIC, RANGES, captured_type, without_modifiers
from chalicelib.domain.table import CapturedType, IssueCode, IssueSeverity, TableIssue, TypeKind

_Verdict = tuple[IssueCode, IssueSeverity, str]
_CHANGES, _STOPS, _LOST = IssueCode.TYPE_CHANGES_VALUE, IssueCode.TYPE_STOPS_TASK, IssueCode.TYPE_NOT_CAPTURED

CURSOR = "refcursor"
"""The one type at whose values a capture stays: it runs for ever without a row."""

_EQUAL = frozenset(
    (
        *("smallint", "integer", "bigint", "boolean", "oid", "money", "uuid", "bytea", "json", "jsonb", "xml"),
        *("text", "character varying", "character", "bpchar", '"char"', "name", "tsvector", "bit"),
        *("timestamp with time zone", "inet", "cidr", "macaddr", "macaddr8"),
        *RANGES,
    )
)
_EQUAL_ARRAYS = frozenset(
    (
        *("smallint", "integer", "bigint", "boolean", "oid", "uuid", "json", "jsonb", "tsvector"),
        *("text", "character varying", "character", "bpchar"),
    )
)
_FLOAT: _Verdict = (_CHANGES, IssueSeverity.INFO, "NaN and infinity arrive as 0; all other values arrive equal.")
_LEFT_OUT: _Verdict = (_LOST, IssueSeverity.WARN, "Debezium leaves this column out: its values never arrive.")
_SCALED: _Verdict = (
    _STOPS,
    IssueSeverity.INFO,
    "The capture stops at NaN, or writes NULL with on_conversion_error null; all other values arrive equal.",
)
_UNKNOWN: _Verdict = (
    _CHANGES,
    IssueSeverity.WARN,
    "Headgate does not know how values of this type arrive: try it with a copy of the table first.",
)
_NESTED: _Verdict = (_CHANGES, IssueSeverity.WARN, "Arrays of more than one dimension arrive without their elements.")
_GENERATED: _Verdict = (
    _CHANGES,
    IssueSeverity.WARN,
    "The generated value is right in the snapshot and stays as it was when the row changes later.",
)

_SCALARS: Mapping[str, _Verdict] = {
    "real": _FLOAT,
    "double precision": _FLOAT,
    "numeric": (
        _CHANGES,
        IssueSeverity.INFO,
        "The capture stops at NaN and infinity, or writes NULL with on_conversion_error null; trailing zeros are lost.",
    ),
    "date": (_CHANGES, IssueSeverity.INFO, "Infinity and dates before year 1 change; all other values arrive equal."),
    "timestamp without time zone": (_CHANGES, IssueSeverity.INFO, "Infinity changes; all other values arrive equal."),
    "time without time zone": (_STOPS, IssueSeverity.INFO, "A delivery stops at 24:00; all other values arrive equal."),
    "time with time zone": (_CHANGES, IssueSeverity.WARN, "The time arrives in UTC and its time zone is lost."),
    "interval": (_CHANGES, IssueSeverity.WARN, "Years, months and days arrive as a number of hours."),
    "bit varying": (_CHANGES, IssueSeverity.WARN, "Values are padded with zeros and become longer."),
    CURSOR: (
        _STOPS,
        IssueSeverity.FAIL,
        "The capture takes the value for the name of an open cursor and never gets beyond it.",
    ),
}
"""By the type's name without modifiers."""

_ARRAYS: Mapping[str, _Verdict] = {"real": _FLOAT, "double precision": _FLOAT}
"""By the element's name without modifiers."""

_WARN = IssueSeverity.WARN
_STOPPED_DELIVERIES: Mapping[Stop, _Verdict] = {
    Stop.ALWAYS: (_STOPS, _WARN, "A delivery stops at the first row of this table that carries a value here."),
    Stop.EXISTING_TABLE: (_STOPS, _WARN, "A delivery into a table made beforehand stops at this column."),
    Stop.WITHOUT_EXTENSION: (_STOPS, _WARN, "A delivery stops at this column unless its target has PostGIS."),
}
"""For columns that are captured well. Whether a delivery is refused is judged for its own target."""


def column_issue(column: PostgreSQLRawColumn) -> TableIssue | None:
    """What happens to this column's values, when it is not "they arrive equal"."""
    verdict = _GENERATED if column.generated is not None else _type_verdict(captured_type(column))
    if verdict is None:
        return None
    code, severity, sentence = verdict
    return TableIssue(code=code, severity=severity, column=column.name, message=f"{_subject(column)}: {sentence}")


def _subject(column: PostgreSQLRawColumn) -> str:
    is_stored = column.generated is Generated.STORED
    return f"Generated column ({column.type})" if is_stored else f"Column of type {column.type}"


def _type_verdict(captured: CapturedType) -> _Verdict | None:
    if stop := stop_of(captured):
        return _STOPPED_DELIVERIES[stop]
    bare = without_modifiers(captured.name)
    if captured.kind is TypeKind.BASE and "." in bare:
        return _UNKNOWN
    if captured.dimensions:
        return _array_verdict(captured, bare)
    if captured.kind is TypeKind.ENUM or bare in _EQUAL:
        return None
    return _SCALED if NUMERIC.match(captured.name) else _SCALARS.get(bare, _LEFT_OUT)


def _array_verdict(captured: CapturedType, element: str) -> _Verdict | None:
    if element not in _EQUAL_ARRAYS:
        return _ARRAYS.get(element, _LEFT_OUT)
    return _NESTED if captured.dimensions > 1 else None
