"""Discovered MySQL tables, each with what prevents its capture or changes what arrives."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.names import name_list
from chalicelib.domain.providers.mysql.capture_types import column_issue
from chalicelib.domain.providers.mysql.facts import MySQLRawTable
from chalicelib.domain.providers.mysql.types import discovered_column
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


def source_tables(tables: Sequence[MySQLRawTable], source_id: str, now: datetime) -> tuple[SourceTable, ...]:
    """The tables that discovery has read, judged: each alone, and for the topic name that it may share."""
    collisions = colliding_topics(raw.name for raw in tables)
    return tuple(
        SourceTable(
            id=source_table_id(source_id, raw.name),
            source_id=source_id,
            provider=DatabaseProvider.MYSQL,
            schema_name=raw.name.schema_name,
            table_name=raw.name.table_name,
            primary_key_columns=raw.primary_key_columns,
            columns=tuple(discovered_column(column) for column in raw.raw_columns),
            estimated_rows=raw.estimated_rows,
            estimated_size_bytes=raw.estimated_size_bytes,
            replica_identity=None,
            issues=table_issues(raw, collisions),
            discovered_at=now,
        )
        for raw in tables
    )


def table_issues(raw: MySQLRawTable, collisions: TopicCollisions = _NO_COLLISIONS) -> tuple[TableIssue, ...]:
    """Everything that prevents a capture of this table, or changes what arrives, the worst first.

    `collisions` are those among all tables of the source (see `colliding_topics`).
    """
    issues = [*_whole_table_issues(raw, collisions.get(raw.name, ())), *_column_issues(raw)]
    order = (IssueSeverity.FAIL, IssueSeverity.WARN, IssueSeverity.INFO)
    return tuple(sorted(issues, key=lambda issue: order.index(issue.severity)))


def _whole_table_issues(raw: MySQLRawTable, colliding: tuple[TableName, ...]) -> Iterator[TableIssue]:
    if raw.raw_columns and raw.unreadable_columns:
        # Debezium reads SHOW CREATE TABLE, which is refused with a right on some columns alone.
        message = "The account may not read the whole table."
        yield TableIssue(code=IssueCode.NO_PRIVILEGE, severity=IssueSeverity.FAIL, column=None, message=message)
    if not raw.primary_key_columns:
        message = "The table has no primary key: it can only be delivered by inserting."
        yield _warns(IssueCode.NO_PRIMARY_KEY, message)
    if colliding:
        message = (
            f"It shares its topic name with {name_list(colliding, _MAX_COLLIDING)}: one pipeline cannot capture both."
        )
        yield _warns(IssueCode.TOPIC_COLLISION, message)


def _warns(code: IssueCode, message: str) -> TableIssue:
    return TableIssue(code=code, severity=IssueSeverity.WARN, column=None, message=message)


def _column_issues(raw: MySQLRawTable) -> Iterator[TableIssue]:
    for column in raw.raw_columns:
        if (issue := column_issue(column)) is not None:
            yield issue
