"""The definitions of tables of MySQL in which everything that can arrive equal does."""

from collections.abc import Iterator, Mapping, Sequence

from chalicelib.domain.delivery import TableMapping, TableWriting, TargetStatement
from chalicelib.domain.providers.jdbc.target_ddl import statements
from chalicelib.domain.providers.mysql.sql import quoted, quoted_table
from chalicelib.domain.providers.mysql.target_columns import TYPES
from chalicelib.domain.providers.mysql.target_keys import key_types
from chalicelib.domain.providers.mysql.target_sizes import MAX_ROW_BYTES, row_bytes
from chalicelib.domain.providers.mysql.types import base_type
from chalicelib.domain.table import SourceTable

_LONGER: Mapping[str, str] = {
    **dict.fromkeys(("char", "varchar"), "longtext"),
    **dict.fromkeys(("binary", "varbinary"), "longblob"),
}


def target_statements(writing: TableWriting, tables: Mapping[str, SourceTable]) -> Iterator[TargetStatement]:
    return statements(writing, tables, TYPES, _create_table)


def _create_table(mapping: TableMapping, source: SourceTable, key: Sequence[str]) -> str:
    types = _column_types(source, key)
    lines = [f"{quoted(name)} {one} {'NOT NULL' if name in key else 'NULL'}" for name, one in types.items()]
    if key:
        lines.append(f"PRIMARY KEY ({', '.join(map(quoted, key))})")
    body = ",\n  ".join(lines)
    return f"CREATE TABLE {quoted_table(mapping.target)} (\n  {body}\n) CHARACTER SET utf8mb4;"


def _column_types(source: SourceTable, key: Sequence[str]) -> Mapping[str, str]:
    """The type of each column. Where a row would be too long, the longest columns become texts."""
    types = {column.name: TYPES.equal_type(source, column) or "longtext" for column in source.captured_columns}
    types |= key_types(source, key)
    movable = [name for name, one in types.items() if base_type(one) in _LONGER and name not in key]
    for name in sorted(movable, key=lambda name: row_bytes([types[name]]), reverse=True):
        if row_bytes(types.values()) <= MAX_ROW_BYTES:
            break
        types[name] = _LONGER[base_type(types[name])]
    return types
