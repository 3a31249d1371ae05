"""Discovered MySQL tables, each with what prevents its capture or changes what arrives."""

from collections.abc import Iterator, Mapping, Sequence
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
_MAX_NAMED = 5
"""Tables or keys named in one issue."""

_SAFE_ENGINES = frozenset({"innodb", "rocksdb"})
_NOT_TRANSACTIONAL = "has no transactions: rows that change during the snapshot may come twice, or in an older state"
_ENGINE_FAULTS: Mapping[str, str] = {
    "blackhole": "keeps no rows: a snapshot brings none, and targets have rows that the table does not",
    "federated": "has its rows on another server: changes that are made there are not in this binary log",
    "memory": "loses its rows when the server restarts, without a trace of them in the binary log",
    "mrg_myisam": "shows rows of other tables: changes that are made there do not arrive under its name",
}
"""By the engine's name in lower case; all others have no transactions."""


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
    if (hidden := unreadable_sentence(raw)) is not None:
        yield TableIssue(code=IssueCode.NO_PRIVILEGE, severity=IssueSeverity.FAIL, column=None, message=hidden)
    if not raw.primary_key_columns:
        message = "The table has no primary key: it can only be delivered by inserting. Debezium takes no other key."
        yield _warns(IssueCode.NO_PRIMARY_KEY, message)
    if raw.key_is_hidden:
        message = (
            "The server hides the primary key that it has made: a connector does not know of its column, and stops at "
            "the first change. Set show_gipk_in_create_table_and_information_schema to ON."
        )
        yield TableIssue(code=IssueCode.NO_PRIMARY_KEY, severity=IssueSeverity.FAIL, column=None, message=message)
    if (fault := engine_fault(raw)) is not None:
        yield _warns(IssueCode.UNLOGGED, f"Its engine {raw.engine} {fault}.")
    if keys := unlogged_keys(raw):
        message = (
            f"Rows that the foreign keys {name_list(keys, _MAX_NAMED)} change by themselves (CASCADE, SET NULL) are "
            "not in the binary log: targets keep the old rows."
        )
        yield _warns(IssueCode.UNLOGGED, message)
    if raw.partitioned:
        message = "Dropping or truncating a partition removes rows without a trace of them in the binary log."
        yield TableIssue(code=IssueCode.UNLOGGED, severity=IssueSeverity.INFO, column=None, message=message)
    if colliding:
        message = f"It shares its topic name with {name_list(colliding, _MAX_NAMED)}: one pipeline cannot capture both."
        yield _warns(IssueCode.TOPIC_COLLISION, message)


def unreadable_sentence(raw: MySQLRawTable) -> str | None:
    """Why the account cannot capture the table; None where it may read it all."""
    if raw.readable:
        return None
    hidden = raw.unreadable_columns
    if raw.partly_readable or (hidden and len(hidden) < len(raw.raw_columns)):
        # Debezium reads SHOW CREATE TABLE, which is refused with a right on some columns alone.
        return "The account may read some of its columns only: it needs SELECT on the whole table."
    return "The account may not read the table."


def engine_fault(raw: MySQLRawTable) -> str | None:
    """What goes wrong with a table of its engine, as the end of a sentence; None for InnoDB."""
    engine = (raw.engine or "InnoDB").lower()
    return None if engine in _SAFE_ENGINES else _ENGINE_FAULTS.get(engine, _NOT_TRANSACTIONAL)


def unlogged_keys(raw: MySQLRawTable) -> tuple[str, ...]:
    """Foreign keys that change rows of the table without a trace in the binary log."""
    return () if raw.cascades_logged else tuple(key.name for key in raw.foreign_keys if key.changes_rows)


def _warns(code: IssueCode, message: str) -> TableIssue:
    return TableIssue(code=code, severity=IssueSeverity.WARN, column=None, message=message)


def _column_issues(raw: MySQLRawTable) -> Iterator[TableIssue]:
    for column in raw.raw_columns:
        if (issue := column_issue(column)) is not None:
            yield issue
