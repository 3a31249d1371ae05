"""A table of a source as discovery saw it, and what would go wrong if it were captured."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


@dataclass(frozen=True, slots=True, order=True)
class TableName:
    """A table's full name. Both parts are as the database spells them, unquoted."""

    schema_name: str
    table_name: str

    def __str__(self) -> str:
        return f"{self.schema_name}.{self.table_name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column. `type` is the database's own spelling with modifiers; `ordinal` counts from 1."""

    name: str
    type: str
    nullable: bool
    ordinal: int


class IssueCode(StrEnum):
    """Wire contract, section 3, source table."""

    NO_PRIMARY_KEY = "NO_PRIMARY_KEY"
    REPLICA_IDENTITY = "REPLICA_IDENTITY"
    NO_PRIVILEGE = "NO_PRIVILEGE"
    UNLOGGED = "UNLOGGED"
    ROW_SECURITY = "ROW_SECURITY"
    COLUMNS_DIFFER_BY_CASE = "COLUMNS_DIFFER_BY_CASE"
    TOPIC_COLLISION = "TOPIC_COLLISION"
    TYPE_NOT_CAPTURED = "TYPE_NOT_CAPTURED"
    TYPE_STOPS_TASK = "TYPE_STOPS_TASK"
    TYPE_CHANGES_VALUE = "TYPE_CHANGES_VALUE"


class Severity(StrEnum):
    """How bad an issue or a check is. Only `fail` forbids."""

    INFO = "info"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableIssue:
    """Something about a table that a capture would stumble over. `column` is null when it concerns the whole table."""

    code: IssueCode
    severity: Severity
    column: str | None
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceTable:
    """A discovered table. `estimated_size_bytes` is the table with its large values, without indexes."""

    id: str
    source_id: str
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
        """Its full name."""
        return TableName(self.schema_name, self.table_name)

    @property
    def cdc_ready(self) -> bool:
        """No issue forbids its capture."""
        return not any(issue.severity is Severity.FAIL for issue in self.issues)
