"""Discovered PostgreSQL tables, each with what prevents its capture or changes what arrives."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.names import name_list
from chalicelib.domain.providers.postgresql.capture_types import column_issue
from chalicelib.domain.providers.postgresql.facts import Persistence, PostgreSQLRawTable
from chalicelib.domain.providers.postgresql.replica_identity import (
    PRICE,
    identity_sentence,
    lacks_identity,
    lost_large_values,
    missed_children,
)
from chalicelib.domain.providers.postgresql.types import discovered_column
from chalicelib.domain.table import (
    IssueCode,
    IssueSeverity,
    SourceTable,
    TableIssue,
    TableName,
    TopicCollisions,
    colliding_topics,
    source_table_id,
)

_NO_COLLISIONS: TopicCollisions = {}
_MAX_COLLIDING = 5
"""Tables named in the issue of a table that shares its topic with them."""


def source_tables(tables: Sequence[PostgreSQLRawTable], source_id: str, now: datetime) -> tuple[SourceTable, ...]:
    """The tables that discovery has read, judged: each alone, and for the topic name that it may share."""
    collisions = colliding_topics(raw.name for raw in tables)
    return tuple(
        SourceTable(
            id=source_table_id(source_id, raw.name),
            source_id=source_id,
            provider=DatabaseProvider.POSTGRESQL,
            schema_name=raw.name.schema_name,
            table_name=raw.name.table_name,
            primary_key_columns=raw.primary_key_columns,
            columns=tuple(discovered_column(column) for column in raw.raw_columns),
            estimated_rows=raw.estimated_rows,
            estimated_size_bytes=raw.estimated_size_bytes,
            replica_identity=raw.replica_identity,
            issues=table_issues(raw, collisions),
            discovered_at=now,
        )
        for raw in tables
    )


def columns_differing_by_case(raw: PostgreSQLRawTable) -> tuple[str, ...]:
    """The columns whose names are equal but for upper and lower case."""
    names = [column.name for column in raw.raw_columns]
    # Debezium compares by Java's rules, in which ß is not ss: no casefold.
    times = Counter(name.lower() for name in names)
    return tuple(name for name in names if times[name.lower()] > 1)


def table_issues(raw: PostgreSQLRawTable, collisions: TopicCollisions = _NO_COLLISIONS) -> tuple[TableIssue, ...]:
    """Everything that prevents a capture of this table, or changes what arrives, the worst first.

    `collisions` are those among all tables of the source (see `colliding_topics`).
    """
    issues = [*_whole_table_issues(raw, collisions.get(raw.name, ())), *_column_issues(raw)]
    order = (IssueSeverity.FAIL, IssueSeverity.WARN, IssueSeverity.INFO)
    return tuple(sorted(issues, key=lambda issue: order.index(issue.severity)))


def _whole_table_issues(raw: PostgreSQLRawTable, colliding: tuple[TableName, ...]) -> Iterator[TableIssue]:
    if not raw.schema_usage:
        yield _fails(IssueCode.NO_PRIVILEGE, "The role may not use the schema.")
    if raw.raw_columns and len(raw.unreadable_columns) == len(raw.raw_columns):
        yield _fails(IssueCode.NO_PRIVILEGE, "The role may not read the table.")
    if raw.persistence is not Persistence.PERMANENT:
        message = f"The table is {raw.persistence}: its changes never reach the write-ahead log."
        yield _fails(IssueCode.UNLOGGED, message)
    if raw.row_security_active:
        message = "Row level security applies to the role: rows and changes would be missing."
        yield _fails(IssueCode.ROW_SECURITY, message)
    yield from _identity_issues(raw)
    if (missed := missed_children(raw)) is not None:
        yield _fails(IssueCode.CHILD_TABLES, f"{missed[0].upper()}{missed[1:]}.")
    if not raw.primary_key_columns:
        message = "The table has no primary key: it can only be delivered by inserting."
        yield _warns(IssueCode.NO_PRIMARY_KEY, message)
    if colliding:
        message = (
            f"It shares its topic name with {name_list(colliding, _MAX_COLLIDING)}: one pipeline cannot capture both."
        )
        yield _warns(IssueCode.TOPIC_COLLISION, message)


def _fails(code: IssueCode, message: str, column: str | None = None) -> TableIssue:
    return TableIssue(code=code, severity=IssueSeverity.FAIL, column=column, message=message)


def _warns(code: IssueCode, message: str) -> TableIssue:
    return TableIssue(code=code, severity=IssueSeverity.WARN, column=None, message=message)


def _identity_issues(raw: PostgreSQLRawTable) -> Iterator[TableIssue]:
    if lacks_identity(raw):
        consequence = "Once the table is published, UPDATE and DELETE on it fail for its owners."
        yield _fails(IssueCode.REPLICA_IDENTITY, f"{identity_sentence(raw)} {consequence}")
    if (lost := lost_large_values(raw)) is not None:
        message = (
            f"An update that leaves them alone loses {lost}: Debezium cannot read them again by this key. "
            f"With REPLICA IDENTITY FULL they arrive. {PRICE}"
        )
        yield _fails(IssueCode.REPLICA_IDENTITY, message)


def _column_issues(raw: PostgreSQLRawTable) -> Iterator[TableIssue]:
    unreadable = raw.unreadable_columns
    if len(unreadable) < len(raw.raw_columns):
        for name in unreadable:
            yield _fails(IssueCode.NO_PRIVILEGE, "The role may not read the column.", name)
    for name in columns_differing_by_case(raw):
        message = "Another column has the same name but for upper and lower case: the capture stops."
        yield _fails(IssueCode.COLUMNS_DIFFER_BY_CASE, message, name)
    for column in raw.raw_columns:
        if (issue := column_issue(column)) is not None:
            yield issue
