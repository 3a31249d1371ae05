"""What happens to values of each PostgreSQL type on their way through Debezium and the JDBC sink, and to whole tables.

The tables below are readings, not guesses: Debezium 3.6 and its JDBC sink between two PostgreSQL servers, snapshot and
stream. A type that is in none of them arrives equal in a target table made beforehand.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from chalicelib.domain.database_facts import (
    Generated,
    Persistence,
    RawColumn,
    RawTable,
    RelationKind,
    ReplicaIdentity,
    TypeFacts,
    TypeKind,
)
from chalicelib.domain.names import topic_name
from chalicelib.domain.table import IssueCode, Severity, TableIssue, TableName

TopicCollisions = Mapping[TableName, tuple[TableName, ...]]
"""Tables that would write to one topic: each with the others that share its topic."""

_NO_COLLISIONS: TopicCollisions = {}
_Verdict = tuple[IssueCode, Severity, str]

_NOT_CAPTURED = "Debezium leaves this column out: its values never arrive."
_FLOAT = "NaN and infinity arrive as 0; all other values arrive equal."

SCALARS: dict[str, _Verdict] = {
    "real": (IssueCode.TYPE_CHANGES_VALUE, Severity.INFO, _FLOAT),
    "double precision": (IssueCode.TYPE_CHANGES_VALUE, Severity.INFO, _FLOAT),
    "numeric": (IssueCode.TYPE_CHANGES_VALUE, Severity.INFO, "NaN arrives as NULL; all other values arrive equal."),
    "date": (IssueCode.TYPE_CHANGES_VALUE, Severity.INFO, "Dates before year 1 change; all other values arrive equal."),
    "timestamp without time zone": (
        IssueCode.TYPE_CHANGES_VALUE,
        Severity.INFO,
        "Infinity changes; all other values arrive equal.",
    ),
    "time with time zone": (
        IssueCode.TYPE_CHANGES_VALUE,
        Severity.WARN,
        "The time arrives in UTC and its time zone is lost.",
    ),
    "interval": (IssueCode.TYPE_CHANGES_VALUE, Severity.WARN, "Months and years arrive as a number of days and hours."),
    "bit varying": (IssueCode.TYPE_CHANGES_VALUE, Severity.WARN, "Values are padded with zeros and become longer."),
    "point": (
        IssueCode.TYPE_STOPS_TASK,
        Severity.WARN,
        "A delivery stops at this column unless its target has PostGIS.",
    ),
    "bit(1)": (
        IssueCode.TYPE_STOPS_TASK,
        Severity.WARN,
        "A delivery into a table made beforehand stops at this column.",
    ),
    # Polygon was measured. The others go its way: Debezium has no converter for them either.
    **dict.fromkeys(
        ("polygon", "box", "circle", "line", "lseg", "path"),
        (IssueCode.TYPE_NOT_CAPTURED, Severity.WARN, _NOT_CAPTURED),
    ),
}
"""By the type's name without modifiers (with them where only that one is meant)."""

_STOPS = "A delivery stops at the first row of this table that carries this array."
ARRAYS: dict[str, _Verdict] = {
    "numeric": (IssueCode.TYPE_STOPS_TASK, Severity.FAIL, _STOPS),
    "timestamp with time zone": (IssueCode.TYPE_STOPS_TASK, Severity.FAIL, _STOPS),
}
"""By the element's name without modifiers."""

_NESTED: _Verdict = (
    IssueCode.TYPE_CHANGES_VALUE,
    Severity.WARN,
    "Arrays of more than one dimension arrive without their elements.",
)
_ENUM_ARRAY: _Verdict = (
    IssueCode.TYPE_STOPS_TASK,
    Severity.WARN,
    "A delivery into a table made beforehand stops at this column.",
)
_COMPOSITE: _Verdict = (IssueCode.TYPE_NOT_CAPTURED, Severity.WARN, _NOT_CAPTURED)
_GENERATED: _Verdict = (
    IssueCode.TYPE_CHANGES_VALUE,
    Severity.WARN,
    "The generated value is right in the snapshot and stays as it was when the row changes later.",
)

AUTO_CREATED: dict[str, str] = {
    "jsonb": "json",
    "character varying": "text",
    "character": "text",
    "inet": "text",
    "cidr": "text",
    "macaddr": "text",
    "macaddr8": "text",
    "int4range": "text",
    "int8range": "text",
    "numrange": "text",
    "tsrange": "text",
    "tstzrange": "text",
    "daterange": "text",
    "money": "another type",
    "oid": "another type",
}
"""Types that arrive equal in a table made beforehand, and what the sink makes of them in one that it creates."""

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
    if bare.endswith("[]"):
        return None
    if type_name == "numeric":
        return "A created table gets double precision for numeric without a scale: digits are lost."
    if "." in bare:
        return "A created table does not know this type of your own: it gets text or the type below it."
    made = AUTO_CREATED.get(bare)
    return f"A created table gets {made} instead of {bare}." if made else None


def column_issue(column: RawColumn) -> TableIssue | None:
    """What happens to this column's values, when it is not "they arrive equal"."""
    verdict = _GENERATED if column.generated is not None else _type_verdict(column.base)
    if verdict is None:
        return None
    code, severity, sentence = verdict
    return TableIssue(code=code, severity=severity, column=column.name, message=f"{_spoken(column)}: {sentence}")


def _spoken(column: RawColumn) -> str:
    return (
        f"Generated column ({column.type})" if column.generated is Generated.STORED else f"Column of type {column.type}"
    )


def _type_verdict(base: TypeFacts) -> _Verdict | None:
    if base.kind is TypeKind.COMPOSITE:
        return _COMPOSITE
    bare = without_modifiers(base.name)
    if base.is_array:
        return _array_verdict(base, bare)
    if base.kind is not TypeKind.BASE:
        return None
    if bare == "numeric" and base.name != bare:
        # A declared scale keeps infinity out, and was read to arrive equal.
        return None
    return SCALARS.get(base.name) or SCALARS.get(bare)


def _array_verdict(base: TypeFacts, element: str) -> _Verdict | None:
    if base.kind is TypeKind.ENUM:
        return _ENUM_ARRAY
    return ARRAYS.get(element) or (_NESTED if base.dimensions > 1 else None)


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
