"""The tables in which everything that can arrive equal does: what somebody may create before the delivery."""

from collections.abc import Iterator, Mapping, Sequence

from chalicelib.domain.delivery import TableMapping, TableWriting, TargetStatement
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
    """CREATE TABLE for each target, where it is known how the types arrive. `tables` are the source tables by topic."""
    for mapping in writing.mappings:
        source = tables[mapping.topic]
        if not TYPES.are_known(source):
            continue
        # Without upserts an update becomes another row with the same key.
        key = source.primary_key_columns if writing.upserts else ()
        yield TargetStatement(table_name=mapping.table_name, statement=_create_table(mapping, source, key))


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
