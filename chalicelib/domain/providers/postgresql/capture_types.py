"""What reaches the topic of values of each PostgreSQL type.

The tables below were measured with Debezium 3.6, snapshot and stream. A type of the system that stands in none of them
was measured, or is taken, to be left out by Debezium.
"""

from collections.abc import Mapping

from chalicelib.domain.providers.postgresql.delivery_types import Stop, stop_of
from chalicelib.domain.providers.postgresql.facts import Generated, RawColumn
from chalicelib.domain.providers.postgresql.types import NUMERIC, RANGES, captured_type, without_modifiers
from chalicelib.domain.table import CapturedType, IssueCode, Severity, TableIssue, TypeKind

_Verdict = tuple[IssueCode, Severity, str]

CURSOR = "refcursor"
"""The one type whose values a capture cannot get past: it runs for ever without a row."""

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
_FLOAT: _Verdict = (
    IssueCode.TYPE_CHANGES_VALUE,
    Severity.INFO,
    "NaN and infinity arrive as 0; all other values arrive equal.",
)
_LEFT_OUT: _Verdict = (
    IssueCode.TYPE_NOT_CAPTURED,
    Severity.WARN,
    "Debezium leaves this column out: its values never arrive.",
)
_SCALED: _Verdict = (
    IssueCode.TYPE_CHANGES_VALUE,
    Severity.INFO,
    "NaN arrives as NULL; all other values arrive equal.",
)
_UNKNOWN: _Verdict = (
    IssueCode.TYPE_CHANGES_VALUE,
    Severity.WARN,
    "Headgate does not know how values of this type arrive: try it with a copy of the table first.",
)
_NESTED: _Verdict = (
    IssueCode.TYPE_CHANGES_VALUE,
    Severity.WARN,
    "Arrays of more than one dimension arrive without their elements.",
)
_GENERATED: _Verdict = (
    IssueCode.TYPE_CHANGES_VALUE,
    Severity.WARN,
    "The generated value is right in the snapshot and stays as it was when the row changes later.",
)

_SCALARS: Mapping[str, _Verdict] = {
    "real": _FLOAT,
    "double precision": _FLOAT,
    "numeric": (
        IssueCode.TYPE_CHANGES_VALUE,
        Severity.INFO,
        "NaN and infinity arrive as NULL, and trailing zeros are dropped; all else arrives equal.",
    ),
    "date": (
        IssueCode.TYPE_CHANGES_VALUE,
        Severity.INFO,
        "Infinity and dates before year 1 change; all other values arrive equal.",
    ),
    "timestamp without time zone": (
        IssueCode.TYPE_CHANGES_VALUE,
        Severity.INFO,
        "Infinity changes; all other values arrive equal.",
    ),
    "time without time zone": (
        IssueCode.TYPE_STOPS_TASK,
        Severity.INFO,
        "A delivery stops at 24:00; all other values arrive equal.",
    ),
    "time with time zone": (
        IssueCode.TYPE_CHANGES_VALUE,
        Severity.WARN,
        "The time arrives in UTC and its time zone is lost.",
    ),
    "interval": (IssueCode.TYPE_CHANGES_VALUE, Severity.WARN, "Years, months and days arrive as a number of hours."),
    "bit varying": (IssueCode.TYPE_CHANGES_VALUE, Severity.WARN, "Values are padded with zeros and become longer."),
    CURSOR: (
        IssueCode.TYPE_STOPS_TASK,
        Severity.FAIL,
        "The capture takes the value for the name of an open cursor and never gets beyond it.",
    ),
}
"""By the type's name without modifiers."""

_ARRAYS: Mapping[str, _Verdict] = {"real": _FLOAT, "double precision": _FLOAT}
"""By the element's name without modifiers."""

_STOPPED_DELIVERIES: Mapping[Stop, _Verdict] = {
    Stop.ALWAYS: (
        IssueCode.TYPE_STOPS_TASK,
        Severity.WARN,
        "A delivery stops at the first row of this table that carries a value here.",
    ),
    Stop.EXISTING_TABLE: (
        IssueCode.TYPE_STOPS_TASK,
        Severity.WARN,
        "A delivery into a table made beforehand stops at this column.",
    ),
    Stop.WITHOUT_POSTGIS: (
        IssueCode.TYPE_STOPS_TASK,
        Severity.WARN,
        "A delivery stops at this column unless its target has PostGIS.",
    ),
}
"""Said of columns that are captured well. Whether a delivery is refused is judged for its own target."""


def column_issue(column: RawColumn) -> TableIssue | None:
    """What happens to this column's values, when it is not "they arrive equal"."""
    verdict = _GENERATED if column.generated is not None else _type_verdict(captured_type(column))
    if verdict is None:
        return None
    code, severity, sentence = verdict
    return TableIssue(code=code, severity=severity, column=column.name, message=f"{_subject(column)}: {sentence}")


def _subject(column: RawColumn) -> str:
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
