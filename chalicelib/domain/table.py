"""A table of a source as discovery saw it, and what would go wrong if it were captured."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.names import topic_name
from chalicelib.kit.ids import id_from


@dataclass(frozen=True, slots=True, order=True)
class TableName:
    """A table's full name. Both parts are as the database spells them, unquoted."""

    schema_name: str
    table_name: str

    def __str__(self) -> str:
        return f"{self.schema_name}.{self.table_name}"


@dataclass(frozen=True, slots=True, order=True)
class ColumnName:
    """A column's full name. All parts are as the database spells them, unquoted."""

    schema_name: str
    table_name: str
    column_name: str

    def __str__(self) -> str:
        return f"{self.table}.{self.column_name}"

    @property
    def table(self) -> TableName:
        return TableName(self.schema_name, self.table_name)


TopicCollisions = Mapping[TableName, tuple[TableName, ...]]
"""Tables that would write to one topic: each with the others that share its topic."""


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


class TypeKind(StrEnum):
    BASE = "base"
    ENUM = "enum"
    COMPOSITE = "composite"
    RANGE = "range"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturedType:
    """A column's type, as the target of a delivery has to know it. Domains are resolved.

    `name` is the source's own spelling with modifiers. For an array, `name` and `kind` are those of its element, and
    `dimensions` is at least 1. `defaults_to_now`: where nothing is written, the server writes the current time.
    """

    name: str
    kind: TypeKind = TypeKind.BASE
    dimensions: int = 0
    generated: bool = False
    defaults_to_now: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column. `type` is the database's own spelling with modifiers; `ordinal` counts from 1.

    `captured` is null where `type` says all of it.
    """

    name: str
    type: str
    nullable: bool
    ordinal: int
    captured: CapturedType | None = None


class IssueCode(StrEnum):
    """Wire contract, section 3, source table."""

    NO_PRIMARY_KEY = "NO_PRIMARY_KEY"
    REPLICA_IDENTITY = "REPLICA_IDENTITY"
    NO_PRIVILEGE = "NO_PRIVILEGE"
    UNLOGGED = "UNLOGGED"
    ROW_SECURITY = "ROW_SECURITY"
    COLUMNS_DIFFER_BY_CASE = "COLUMNS_DIFFER_BY_CASE"
    TOPIC_COLLISION = "TOPIC_COLLISION"
    CHILD_TABLES = "CHILD_TABLES"
    TYPE_NOT_CAPTURED = "TYPE_NOT_CAPTURED"
    TYPE_STOPS_TASK = "TYPE_STOPS_TASK"
    TYPE_CHANGES_VALUE = "TYPE_CHANGES_VALUE"


class IssueSeverity(StrEnum):
    """How bad an issue of a table or a check is. Only `fail` forbids."""

    INFO = "info"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableIssue:
    """Something to know before the table is captured. `column` is null when it concerns the whole table."""

    code: IssueCode
    severity: IssueSeverity
    column: str | None
    message: str


def source_table_id(source_id: str, name: TableName) -> str:
    """The same id each time the table is discovered."""
    return id_from("source_table", source_id, name.schema_name, name.table_name)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceTable:
    """A discovered table. `estimated_size_bytes` is the table with its large values, without indexes."""

    id: str
    source_id: str
    provider: DatabaseProvider
    schema_name: str
    table_name: str
    primary_key_columns: tuple[str, ...]
    columns: tuple[Column, ...]
    estimated_rows: int | None
    estimated_size_bytes: int | None
    replica_identity: str | None
    issues: tuple[TableIssue, ...]
    discovered_at: datetime

    @property
    def name(self) -> TableName:
        return TableName(self.schema_name, self.table_name)

    @property
    def cdc_ready(self) -> bool:
        return not any(issue.severity is IssueSeverity.FAIL for issue in self.issues)

    @property
    def captured_columns(self) -> tuple[Column, ...]:
        """The columns whose values reach the topic."""
        lost = {issue.column for issue in self.issues if issue.code is IssueCode.TYPE_NOT_CAPTURED}
        return tuple(column for column in self.columns if column.name not in lost)

    def without(self, columns: Collection[str]) -> "SourceTable":
        """The table as a capture sees it that leaves these columns out, and what is wrong with them."""
        return replace(
            self,
            columns=tuple(column for column in self.columns if column.name not in columns),
            issues=tuple(issue for issue in self.issues if issue.column not in columns),
        )
