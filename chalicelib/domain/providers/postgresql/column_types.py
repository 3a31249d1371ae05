"""What happens to values of each PostgreSQL type on their way through Debezium and the JDBC sink, and to whole tables.

The tables below are readings, not guesses: Debezium 3.6 and its JDBC sink between two PostgreSQL 18 servers, snapshot
and stream. A type of the system that stands in none of them was read, or is taken, to be left out by Debezium.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from chalicelib.domain.names import topic_name
from chalicelib.domain.providers.postgresql.facts import (
    Generated,
    Persistence,
    RawColumn,
    RawTable,
    RelationKind,
    ReplicaIdentity,
    TypeFacts,
    TypeKind,
)
from chalicelib.domain.table import IssueCode, Severity, TableIssue, TableName

TopicCollisions = Mapping[TableName, tuple[TableName, ...]]
"""Tables that would write to one topic: each with the others that share its topic."""

_NO_COLLISIONS: TopicCollisions = {}
_Verdict = tuple[IssueCode, Severity, str]

CURSOR = "refcursor"
"""The one type whose values a capture cannot get past: it runs for ever without a row."""

EQUAL = frozenset(
    (
        *("smallint", "integer", "bigint", "boolean", "oid", "money", "uuid", "bytea", "json", "jsonb", "xml"),
        *("text", "character varying", "character", "bpchar", '"char"', "name", "tsvector", "bit"),
        *("timestamp with time zone", "inet", "cidr", "macaddr", "macaddr8"),
        *("int4range", "int8range", "numrange", "tsrange", "tstzrange", "daterange"),
    )
)
"""Types that arrive equal in a target table made beforehand."""

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
_STOPS_MADE: _Verdict = (
    IssueCode.TYPE_STOPS_TASK,
    Severity.WARN,
    "A delivery into a table made beforehand stops at this column.",
)
_STOPS: _Verdict = (
    IssueCode.TYPE_STOPS_TASK,
    Severity.FAIL,
    "A delivery stops at the first row of this table that carries a value here.",
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

SCALARS: Mapping[str, _Verdict] = {
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
    "point": (
        IssueCode.TYPE_STOPS_TASK,
        Severity.WARN,
        "A delivery stops at this column unless its target has PostGIS.",
    ),
    "bit(1)": _STOPS_MADE,
    CURSOR: (
        IssueCode.TYPE_STOPS_TASK,
        Severity.FAIL,
        "The capture takes the value for the name of an open cursor and never gets beyond it.",
    ),
}
"""By the type's name without modifiers (with them where only that one is meant)."""

_EQUAL_ARRAYS = frozenset(
    (
        *("smallint", "integer", "bigint", "boolean", "oid", "uuid", "json", "jsonb", "tsvector"),
        *("text", "character varying", "character", "bpchar"),
    )
)
_RANGES = frozenset(name for name in EQUAL if name.endswith("range"))
ARRAYS: Mapping[str, _Verdict] = {
    "real": _FLOAT,
    "double precision": _FLOAT,
    **dict.fromkeys(
        (
            *("numeric", "date", "timestamp without time zone", "timestamp with time zone"),
            *("time without time zone", "time with time zone", "bytea", "bit"),
        ),
        _STOPS,
    ),
    **dict.fromkeys(("inet", "cidr", "macaddr", "macaddr8", *_RANGES), _STOPS_MADE),
}
"""By the element's name without modifiers."""

_NESTED: _Verdict = (
    IssueCode.TYPE_CHANGES_VALUE,
    Severity.WARN,
    "Arrays of more than one dimension arrive without their elements.",
)
_NESTED_ARRAYS: Mapping[str, _Verdict] = {"uuid": _STOPS}
_GENERATED: _Verdict = (
    IssueCode.TYPE_CHANGES_VALUE,
    Severity.WARN,
    "The generated value is right in the snapshot and stays as it was when the row changes later.",
)

AUTO_CREATED: Mapping[str, str] = {
    "jsonb": "json",
    **dict.fromkeys(("character varying", "character", "bpchar", '"char"', "name"), "text"),
    **dict.fromkeys(("inet", "cidr", "macaddr", "macaddr8", *_RANGES), "text"),
    "bit(1)": "boolean",
    "money": "numeric(38,2)",
    "oid": "bigint",
}
"""Types, of columns and of elements, that arrive equal in a table made beforehand, and what the sink makes of them."""

MOST_DIGITS = 38
"""The longest numeric in a table that the sink makes."""

_NUMERIC = re.compile(r"numeric\((\d+),(-?\d+)\)\Z")
_MODIFIER = re.compile(r"\s*\([^)]*\)")
_INTERVAL_FIELDS = re.compile(r"\Ainterval [a-z ]+")


def without_modifiers(type_name: str) -> str:
    """`numeric(10,2)` -> `numeric`, `timestamp(3) with time zone` -> `timestamp with time zone`.

    An interval's fields are a modifier too: `interval day to second(3)` -> `interval`.
    """
    bare = _MODIFIER.sub("", type_name)
    return _INTERVAL_FIELDS.sub("interval", bare)


def auto_created_type_warning(type_name: str) -> str | None:
    """What to know about a column of this type when the sink creates the target table; None when it stays the same.

    `type_name` is a column's type as discovery spells it. Only types of the system come without a schema name.
    """
    bare = without_modifiers(type_name)
    if "." in bare:
        return "A created table does not know this type of your own: it gets text or the type below it."
    if bare == "numeric":
        return _created_numeric(type_name)
    element, array = bare.removesuffix("[]"), "[]" if bare.endswith("[]") else ""
    made = AUTO_CREATED.get(type_name) or AUTO_CREATED.get(element)
    return f"A created table gets {made}{array} instead of {bare}." if made else None


def _created_numeric(type_name: str) -> str | None:
    match = _NUMERIC.match(type_name)
    if match is None:
        return "A created table gets double precision for numeric without a scale: digits are lost."
    if int(match[1]) > MOST_DIGITS:
        return f"A created table takes {MOST_DIGITS} digits; the delivery stops at a longer number."
    if int(match[2]) < 0:
        return "The sink cannot create a table with a negative scale: make the table beforehand."
    return None


def column_issue(column: RawColumn) -> TableIssue | None:
    """What happens to this column's values, when it is not "they arrive equal"."""
    verdict = _GENERATED if column.generated is not None else _type_verdict(column)
    if verdict is None:
        return None
    code, severity, sentence = verdict
    return TableIssue(code=code, severity=severity, column=column.name, message=f"{_spoken(column)}: {sentence}")


def _spoken(column: RawColumn) -> str:
    return (
        f"Generated column ({column.type})" if column.generated is Generated.STORED else f"Column of type {column.type}"
    )


def _type_verdict(column: RawColumn) -> _Verdict | None:
    base, bare = column.base, without_modifiers(column.base.name)
    if base.is_array:
        # int2vector and oidvector are arrays to the catalog, and something else to everybody.
        vector = not base.is_domain and not column.type.endswith("]")
        return _STOPS if vector else _array_verdict(base, bare)
    if base.kind is TypeKind.ENUM or (bare in EQUAL and base.name not in SCALARS):
        return None
    if base.kind is TypeKind.BASE and "." in bare:
        return _UNKNOWN
    if _NUMERIC.match(base.name):
        return _SCALED
    return SCALARS.get(base.name) or SCALARS.get(bare) or _LEFT_OUT


def _array_verdict(base: TypeFacts, element: str) -> _Verdict | None:
    if base.kind is TypeKind.ENUM:
        return _STOPS_MADE
    if base.kind is TypeKind.BASE and "." in element:
        return _UNKNOWN
    if element not in _EQUAL_ARRAYS:
        return ARRAYS.get(element, _LEFT_OUT)
    return None if base.dimensions < 2 else _NESTED_ARRAYS.get(element, _NESTED)


def columns_differing_by_case(columns: Iterable[RawColumn]) -> tuple[str, ...]:
    """The columns whose names are equal but for upper and lower case, as Java sees it: Debezium looks them up so."""
    names = [column.name for column in columns]
    times = Counter(name.lower() for name in names)
    return tuple(name for name in names if times[name.lower()] > 1)


def topic_collisions(tables: Iterable[RawTable]) -> TopicCollisions:
    """What `colliding_topics` says of these tables."""
    return colliding_topics(table.name for table in tables)


def colliding_topics(tables: Iterable[TableName]) -> TopicCollisions:
    """Tables that would write to one topic, whatever the prefix: each with the others that share its topic."""
    by_topic: dict[str, list[TableName]] = {}
    for table in tables:
        by_topic.setdefault(topic_name("", table.schema_name, table.table_name), []).append(table)
    return {
        table: tuple(other for other in group if other != table)
        for group in by_topic.values()
        if len(group) > 1
        for table in group
    }


def table_issues(raw: RawTable, collisions: TopicCollisions = _NO_COLLISIONS) -> tuple[TableIssue, ...]:
    """Everything that a capture of this table would stumble over, the worst first.

    `collisions` are those among all tables of the source (see `topic_collisions`).
    """
    found = [*_whole_table_issues(raw, collisions.get(raw.name, ())), *_column_issues(raw)]
    order = (Severity.FAIL, Severity.WARN, Severity.INFO)
    return tuple(sorted(found, key=lambda issue: order.index(issue.severity)))


def _whole_table_issues(raw: RawTable, colliding: tuple[TableName, ...]) -> Iterator[TableIssue]:
    rules: tuple[tuple[bool, IssueCode, Severity, str], ...] = (
        (not raw.schema_usage, IssueCode.NO_PRIVILEGE, Severity.FAIL, "The role may not use the schema."),
        (
            bool(raw.raw_columns) and len(raw.unreadable_columns) == len(raw.raw_columns),
            IssueCode.NO_PRIVILEGE,
            Severity.FAIL,
            "The role may not read the table.",
        ),
        (
            raw.persistence is not Persistence.PERMANENT,
            IssueCode.UNLOGGED,
            Severity.FAIL,
            f"The table is {raw.persistence}: its changes never reach the write-ahead log.",
        ),
        (
            raw.row_security_active,
            IssueCode.ROW_SECURITY,
            Severity.FAIL,
            "Row level security applies to the role: rows and changes would be missing.",
        ),
        (
            not raw.identity_usable and raw.kind in (RelationKind.TABLE, RelationKind.PARTITIONED),
            IssueCode.REPLICA_IDENTITY,
            Severity.FAIL,
            f"{_identity_sentence(raw)} Once the table is published, UPDATE and DELETE on it fail for its owners.",
        ),
        (
            not raw.primary_key_columns,
            IssueCode.NO_PRIMARY_KEY,
            Severity.WARN,
            "The table has no primary key: it can only be delivered by inserting.",
        ),
        (
            bool(colliding),
            IssueCode.TOPIC_COLLISION,
            Severity.WARN,
            f"It shares its topic name with {_named(colliding)}: one pipeline cannot capture both.",
        ),
    )
    for applies, code, severity, message in rules:
        if applies:
            yield TableIssue(code=code, severity=severity, column=None, message=message)


def _identity_sentence(raw: RawTable) -> str:
    if raw.replica_identity is ReplicaIdentity.NOTHING:
        return "The replica identity is NOTHING."
    if raw.replica_identity is ReplicaIdentity.INDEX:
        return "The replica identity names an index that is gone."
    return "The replica identity is DEFAULT and there is no primary key that it can use."


def _column_issues(raw: RawTable) -> Iterator[TableIssue]:
    unreadable = raw.unreadable_columns
    if len(unreadable) < len(raw.raw_columns):
        for name in unreadable:
            yield TableIssue(
                code=IssueCode.NO_PRIVILEGE,
                severity=Severity.FAIL,
                column=name,
                message="The role may not read the column.",
            )
    for name in columns_differing_by_case(raw.raw_columns):
        yield TableIssue(
            code=IssueCode.COLUMNS_DIFFER_BY_CASE,
            severity=Severity.FAIL,
            column=name,
            message="Another column has the same name but for upper and lower case: the capture stops.",
        )
    for column in raw.raw_columns:
        if (issue := column_issue(column)) is not None:
            yield issue


def _named(tables: tuple[TableName, ...]) -> str:
    shown = ", ".join(str(table) for table in tables[:5])
    return f"{shown} and {len(tables) - 5} more" if len(tables) > 5 else shown
