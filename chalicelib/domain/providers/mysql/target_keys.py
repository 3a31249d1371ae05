"""Keys decide what an upsert does to a MySQL table: `INSERT ... ON DUPLICATE KEY UPDATE` takes any unique index, and
compares texts by their collation.

Facts: each was seen with Debezium 3.6 and MySQL 8.0. Rows of the source that are one key in the target overwrite each
other, and the connector says RUNNING.
"""

from collections.abc import Iterator, Mapping, Sequence

from chalicelib.domain.names import name_list
from chalicelib.domain.providers.measured_types.names import modifiers
from chalicelib.domain.providers.mysql.sql import quoted, quoted_table
from chalicelib.domain.providers.mysql.target_columns import TYPES
from chalicelib.domain.providers.mysql.target_facts import MySQLTargetTable, MySQLUniqueIndex
from chalicelib.domain.providers.mysql.target_sizes import MAX_KEY_BYTES, UTF8MB4, value_bytes
from chalicelib.domain.providers.mysql.types import base_type
from chalicelib.domain.table import Column, SourceTable, TableName, TypeKind

SAFE_COLLATION = "utf8mb4_bin"
CREATED_LENGTH = 255
"""Characters of a text key in a table that the sink makes, at most."""

_TEXTS = frozenset({"char", "varchar", "tinytext", "text", "mediumtext", "longtext", "json"})
_BYTES = frozenset({"tinyblob", "blob", "mediumblob", "longblob"})
_ONE_SPELLING = frozenset({"uuid", "macaddr", "macaddr8", "inet", "cidr"})
"""Types of other databases that arrive as texts of digits and small letters: no collation takes two for one."""


def key_columns(source: SourceTable) -> Iterator[Column]:
    return (column for column in source.captured_columns if column.name in source.primary_key_columns)


def is_text_key(source: SourceTable, column: Column) -> bool:
    """Whether it depends on a collation which keys are equal. An enum is compared by the number of its member."""
    equal = TYPES.equal_type(source, column) or ""
    is_enum = column.captured is not None and column.captured.kind is TypeKind.ENUM
    return base_type(equal) in _TEXTS and column.type not in _ONE_SPELLING and not is_enum


def tells_apart(collation: str) -> bool:
    """Whether a and A and á are different keys in this collation."""
    return collation == "binary" or collation.endswith("_bin") or "_as_cs" in collation


def ignores_blanks(collation: str) -> bool:
    """Whether blanks at the end make no difference (PAD SPACE)."""
    return "_0900_" not in collation and collation != "binary"


def created_key_problem(source: SourceTable, target: TableName, collation: str) -> str | None:
    """Why the sink cannot make this table with its key, or not so that rows stay apart. `collation` is that of the
    database.
    """
    columns = list(key_columns(source))
    created = {column.name: _created_key_type(source, column) for column in columns}
    refused = [name for name, type_name in created.items() if type_name is None]
    texts = [column.name for column in columns if is_text_key(source, column)]
    size = sum(value_bytes(type_name) or 0 for type_name in created.values() if type_name)
    if refused:
        return (
            f"{target} does not exist, and the sink cannot make a table whose key has {name_list(refused)}: create it "
            "first (target_ddl)."
        )
    if texts and not tells_apart(collation):
        return (
            f"{target} does not exist, and the sink would make the key {name_list(texts)} in the collation of the "
            f"database ({collation}), in which a, A and á are one key: rows would overwrite each other. Create the "
            f"table first (target_ddl), or ALTER DATABASE {quoted(target.schema_name)} COLLATE {SAFE_COLLATION};"
        )
    if size > MAX_KEY_BYTES:
        return (
            f"{target} does not exist, and the sink would give its key {size} bytes of the {MAX_KEY_BYTES} that a key "
            "may have: create it first (target_ddl)."
        )
    return None


def _created_key_type(source: SourceTable, column: Column) -> str | None:
    """The type of the sink's own key; None where it makes none, or one that takes different numbers for one."""
    equal = TYPES.equal_type(source, column)
    if equal is None:
        return "int"
    if column.type == "numeric" or base_type(equal) in _BYTES or base_type(equal) == "json":
        return None  # numeric without a scale becomes double
    if base_type(equal) in _TEXTS:
        return f"varchar({min(CREATED_LENGTH, _length(equal) or CREATED_LENGTH)})"
    return equal


def longer_keys(source: SourceTable) -> list[str]:
    """Columns of the key that may be longer than the sink makes them."""
    return [
        column.name
        for column in key_columns(source)
        if is_text_key(source, column) and (_length(TYPES.equal_type(source, column) or "") or 1_000) > CREATED_LENGTH
    ]


def _length(type_name: str) -> int | None:
    numbers = modifiers(type_name)
    return numbers[0] if numbers else None


def merged_keys(source: SourceTable, table: MySQLTargetTable) -> dict[str, str]:
    """Columns of the target's key that take different keys for one, each with its collation."""
    texts = {column.name for column in key_columns(source) if is_text_key(source, column)}
    return {
        column.name: column.collation
        for column in table.columns
        if column.name in texts
        and column.collation
        and base_type(column.type) not in ("enum", "set")
        and not tells_apart(column.collation)
    }


def padded_keys(source: SourceTable, table: MySQLTargetTable) -> list[str]:
    """Columns of the target's key in which blanks at the end make no difference."""
    texts = {column.name for column in key_columns(source) if is_text_key(source, column)}
    return [
        column.name
        for column in table.columns
        if column.name in texts and column.collation and ignores_blanks(column.collation)
    ]


def safe_collation_statement(table: MySQLTargetTable, names: Sequence[str]) -> str:
    changes = (
        f"MODIFY {quoted(column.name)} {column.type} CHARACTER SET utf8mb4 COLLATE {SAFE_COLLATION} NOT NULL"
        for column in table.columns
        if column.name in names
    )
    return f"ALTER TABLE {quoted_table(table.name)} {', '.join(changes)};"


def has_key(source: SourceTable, table: MySQLTargetTable) -> bool:
    """Whether a unique index has exactly the key of the delivery."""
    key = set(source.primary_key_columns)
    return any(index.columns is not None and set(index.columns) == key for index in table.unique_indexes)


def colliding_indexes(source: SourceTable, table: MySQLTargetTable) -> list[str]:
    """Unique indexes in which rows with different keys can meet."""
    key = set(source.primary_key_columns)
    return [index.name for index in table.unique_indexes if _can_collide(index, key, table)]


def _can_collide(index: MySQLUniqueIndex, key: set[str], table: MySQLTargetTable) -> bool:
    if index.columns is None:
        return True
    # Rows that meet in an index with the whole key have the same key; the server's own numbers never meet.
    counted = {column.name for column in table.columns if column.auto_increment} - key
    return not key <= set(index.columns) and counted.isdisjoint(index.columns)


def key_types(source: SourceTable, key: Sequence[str]) -> Mapping[str, str]:
    """The types of a key in which all of it fits: texts and bytes share what the others leave of its bytes.

    Empty for a key of numbers and times.
    """
    types = {column.name: TYPES.equal_type(source, column) or "" for column in source.columns if column.name in key}
    flexible = {name: one for name, one in types.items() if base_type(one) in _TEXTS | _BYTES | {"varbinary"}}
    left = MAX_KEY_BYTES - sum(value_bytes(one) or 0 for name, one in types.items() if name not in flexible)
    chosen: dict[str, str] = {}
    for name, wanted in sorted(flexible.items(), key=lambda named: value_bytes(named[1]) or MAX_KEY_BYTES):
        share = left // (len(flexible) - len(chosen))
        taken = min(value_bytes(wanted) or share, share)
        left -= taken
        chosen[name] = _key_type(wanted, taken)
    return chosen


def _key_type(wanted: str, size: int) -> str:
    if base_type(wanted) not in _TEXTS:
        return f"varbinary({size})"
    base = "char" if base_type(wanted) == "char" else "varchar"
    return f"{base}({size // UTF8MB4}) CHARACTER SET utf8mb4 COLLATE {SAFE_COLLATION}"
