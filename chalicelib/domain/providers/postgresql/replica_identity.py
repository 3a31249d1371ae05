"""Replica identity: what an update or delete carries of the old row, and what is lost where that is too little.

PostgreSQL leaves a large value that an update does not touch out of the log (TOAST), unless the identity is FULL.
Debezium 3.6 then reads it again with `SELECT ... WHERE key=?::type`, with the key's columns unquoted, its values in the
encoding of the topic, and types by their bare names. Where that statement fails, only the worker's log says so, and the
record goes out with a placeholder (measured with a quoted key and with a date).
"""

from collections.abc import Sequence

from chalicelib.domain.names import name_list
from chalicelib.domain.providers.measured_types.names import without_modifiers
from chalicelib.domain.providers.postgresql.facts import (
    PostgreSQLRawColumn,
    PostgreSQLRawTable,
    RelationKind,
    ReplicaIdentity,
    SomeTables,
)
from chalicelib.domain.providers.postgresql.sql import quoted_table
from chalicelib.domain.table import TableName

PRICE = (
    "FULL writes the whole old row to the log at each update and delete, and records carry it, too (about twice the "
    "size: see max_message_bytes). The statement locks the table for a moment (ACCESS EXCLUSIVE)."
)
"""What a person should know before running the statement."""

LATER_PARTITIONS = "Partitions that are made later need it, too: they do not inherit it."

_KEY_TYPES = frozenset(
    (
        *("smallint", "integer", "bigint", "numeric", "text", "character varying", "character"),
        *("uuid", "boolean"),
    )
)
"""Types whose values Debezium reads a row again by. Others are encoded for the topic, or not found by a bare name."""

_ALL_PARTITIONS = "SELECT format('ALTER TABLE %s REPLICA IDENTITY FULL;', relid) FROM pg_partition_tree('{literal}');"

_TIMESCALE = "_timescaledb_internal"
"""The schema in which TimescaleDB keeps the chunks of its hypertables."""


def lacks_identity(raw: PostgreSQLRawTable) -> bool:
    """Whether PostgreSQL refuses updates of the table, or of a partition, once it is published."""
    if raw.kind is RelationKind.PARTITIONED and raw.partitions:
        return raw.without_identity.count > 0
    return raw.kind.is_table and not raw.identity_usable


def lost_large_values(raw: PostgreSQLRawTable) -> str | None:
    """Which large values would not arrive, and why; None where all do, or where the identity is refused anyway."""
    key = raw.primary_key_columns
    large = [column.name for column in raw.raw_columns if column.storable_apart and column.name not in key]
    faults = _key_faults(raw)
    if lacks_identity(raw) or not faults or not large or not _may_leave_values_out(raw):
        return None
    return f"large values of {name_list(large)}, for the key {name_list(faults)}"


def later_partitions_need_full(raw: PostgreSQLRawTable) -> bool:
    """Whether what holds for the partitions today does not hold for those that are made later."""
    if raw.kind is not RelationKind.PARTITIONED:
        return False
    large = raw.stores_apart and any(column.storable_apart for column in raw.raw_columns)
    return not raw.primary_key_columns or (large and bool(_key_faults(raw)))


def _may_leave_values_out(raw: PostgreSQLRawTable) -> bool:
    if raw.kind is RelationKind.PARTITIONED:
        return raw.not_full.count > 0
    return raw.stores_apart and raw.replica_identity is not ReplicaIdentity.FULL


def _key_faults(raw: PostgreSQLRawTable) -> list[str]:
    """The parts of the key that Debezium cannot read a row again by."""
    if not raw.primary_key_columns:
        return ["(there is none)"]
    columns = {column.name: column for column in raw.raw_columns}
    key = [columns[name] for name in raw.primary_key_columns if name in columns]
    return [f"{column.name} ({fault})" for column in key if (fault := _key_fault(column)) is not None]


def _key_fault(column: PostgreSQLRawColumn) -> str | None:
    if column.needs_quotes:
        return "its name needs quotes"
    return None if without_modifiers(column.type) in _KEY_TYPES else column.type


def full_identity(raw: PostgreSQLRawTable, partitions: SomeTables) -> str:
    """The statements that set FULL where it is needed: on the table, or on these partitions of it and on itself."""
    if raw.kind is not RelationKind.PARTITIONED:
        return _set_full(raw.name)
    if partitions.count > len(partitions.names):
        literal = quoted_table(raw.name).replace("'", "''")
        query = _ALL_PARTITIONS.format(literal=literal)
        return f"-- Run each line that this query gives:\n{query}\n-- {LATER_PARTITIONS}"
    return "\n".join([*map(_set_full, (*partitions.names, raw.name)), f"-- {LATER_PARTITIONS}"])


def _set_full(name: TableName) -> str:
    return f"ALTER TABLE {quoted_table(name)} REPLICA IDENTITY FULL;"


def missed_children(raw: PostgreSQLRawTable) -> str | None:
    """What is missed of a table from which others inherit; None where none does."""
    if not raw.children.count:
        return None
    noun = "child table" if raw.children.count == 1 else "child tables"
    kind = "a hypertable of TimescaleDB: " if is_hypertable(raw) else ""
    return f"{kind}rows of {raw.children.count} {noun} are not captured while streaming: {_names(raw.children)}"


def is_hypertable(raw: PostgreSQLRawTable) -> bool:
    return any(name.schema_name == _TIMESCALE for name in raw.children.names)


def _names(tables: SomeTables, shown: int = 3) -> str:
    more = tables.count - min(shown, len(tables.names))
    return ", ".join(map(str, tables.names[:shown])) + (f" and {more} more" if more > 0 else "")


def identity_sentence(raw: PostgreSQLRawTable) -> str:
    """Why an update cannot be published."""
    if raw.without_identity.count:
        return f"{raw.without_identity.count} of its partitions have no usable replica identity."
    return _IDENTITY_SENTENCES[raw.replica_identity]


_IDENTITY_SENTENCES = {
    ReplicaIdentity.NOTHING: "The replica identity is NOTHING.",
    ReplicaIdentity.INDEX: "The replica identity names an index that is gone.",
    ReplicaIdentity.DEFAULT: "The replica identity is DEFAULT and there is no primary key that it can use.",
    ReplicaIdentity.FULL: "The replica identity is FULL.",
}


def identity_columns(raw: PostgreSQLRawTable) -> Sequence[str]:
    """The columns of the old row that an update or delete carries."""
    match raw.replica_identity:
        case ReplicaIdentity.FULL:
            return [column.name for column in raw.raw_columns]
        case ReplicaIdentity.INDEX:
            return raw.identity_index_columns
        case ReplicaIdentity.DEFAULT:
            return raw.primary_key_columns
        case ReplicaIdentity.NOTHING:
            return ()
