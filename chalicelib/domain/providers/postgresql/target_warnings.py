"""What is worth a warning about targets that can take the rows.

`session_replication_role` was measured on PostgreSQL 18: `replica` turns off foreign keys and ordinary triggers of the
sessions of a role, and no unique index.
"""

from collections.abc import Iterator

from chalicelib.domain.connector_config import ConfigWarning
from chalicelib.domain.delivery import TableWriting
from chalicelib.domain.names import name_list
from chalicelib.domain.providers.jdbc.target_types import null_warning
from chalicelib.domain.providers.jdbc.verdicts import few_connections, grouped
from chalicelib.domain.providers.postgresql.facts import UNLIMITED, PostgreSQLTargetFacts, TargetTable
from chalicelib.domain.providers.postgresql.sql import quoted
from chalicelib.domain.providers.postgresql.target_columns import TYPES
from chalicelib.domain.table import SourceTable, TableName


def of_server(tasks_max: int, facts: PostgreSQLTargetFacts) -> Iterator[ConfigWarning]:
    """Whether the delivery finds enough connections."""
    for limit in facts.connection_limits:
        if limit.maximum != UNLIMITED and (
            warning := few_connections(tasks_max, limit.name, limit.maximum, limit.used)
        ):
            yield warning


def of_table(
    source: SourceTable,
    target: TableName,
    table: TargetTable | None,
    writing: TableWriting,
    facts: PostgreSQLTargetFacts,
) -> Iterator[ConfigWarning]:
    """What the target table, or the one that the sink will create, does to the rows."""
    subject = f"{source.name} to {target}"
    if not TYPES.are_known(source):
        message = f"{subject}: how types of this kind of source arrive in PostgreSQL is not known. Compare some rows."
        yield ConfigWarning(code="TYPES_NOT_CHECKED", message=message)
    for code, values in TYPES.value_warnings(source).items():
        yield from grouped(str(code), subject, values)
    if table is None:
        yield from grouped("AUTO_CREATE_CHANGES_TYPE", subject, TYPES.created_warnings(source))
        return
    present = {column.name: column for column in table.columns}
    pairs = [(column, present[column.name]) for column in source.captured_columns if column.name in present]
    nulls = ((column, null_warning(column, to_nullable=to.nullable)) for column, to in pairs)
    yield from grouped("NULL_NOT_ACCEPTED", subject, nulls)
    types = ((column, TYPES.type_warning(source, column, to.type)) for column, to in pairs)
    yield from grouped("TYPE_DIFFERS", subject, types)
    yield from _foreign_keys(target, table, facts)
    yield from _unique_indexes(source, target, table, writing)
    yield from _row_changes(target, table)


def _foreign_keys(target: TableName, table: TargetTable, facts: PostgreSQLTargetFacts) -> Iterator[ConfigWarning]:
    if table.foreign_keys and not facts.replica_role:
        message = (
            f"{target} is part of foreign keys ({name_list(table.foreign_keys)}). Topics arrive independently of each "
            "other: the delivery stops at a row whose other row is not there yet. Drop them in the target, or let a "
            "superuser (from PostgreSQL 15 on: a role with GRANT SET ON PARAMETER session_replication_role) run "
            f"ALTER ROLE {quoted(facts.role)} SET session_replication_role = replica; which turns off foreign keys and "
            "ordinary triggers for this role."
        )
        yield ConfigWarning(code="FOREIGN_KEYS", message=message)


def _unique_indexes(
    source: SourceTable, target: TableName, table: TargetTable, writing: TableWriting
) -> Iterator[ConfigWarning]:
    key = set(source.primary_key_columns) if writing.upserts else None
    others = [index.name for index in table.unique_indexes if index.columns is None or set(index.columns) != key]
    if others:
        message = (
            f"{target} has unique indexes or constraints beside the key of the delivery ({name_list(others)}). The "
            "delivery stops at a row that meets one of them, as when two rows swap a value. Drop them in the target, "
            "or replace them by indexes that are not unique."
        )
        yield ConfigWarning(code="SECONDARY_UNIQUE", message=message)


def _row_changes(target: TableName, table: TargetTable) -> Iterator[ConfigWarning]:
    if table.triggers:
        message = (
            f"{target} has triggers ({name_list(table.triggers)}): they run at every row that arrives, also when it "
            "arrives again, and may change or refuse it. Disable those that repeat what the source has done already."
        )
        yield ConfigWarning(code="TRIGGERS", message=message)
    if table.row_security_active:
        message = (
            f"Row level security applies to the role in {target}: rows that its policies hide are not updated, and the "
            "delivery stops at a row that they refuse. Give the role BYPASSRLS, or a policy for all rows."
        )
        yield ConfigWarning(code="ROW_SECURITY", message=message)
