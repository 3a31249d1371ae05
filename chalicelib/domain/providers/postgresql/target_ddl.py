"""The definitions of tables of PostgreSQL in which everything that can arrive equal does."""

from collections.abc import Iterator, Mapping, Sequence

from chalicelib.domain.delivery import TableMapping, TableWriting, TargetStatement
from chalicelib.domain.providers.jdbc.target_ddl import statements
from chalicelib.domain.providers.postgresql.sql import quoted, quoted_table
from chalicelib.domain.providers.postgresql.target_columns import TYPES
from chalicelib.domain.table import Column, SourceTable


def target_statements(writing: TableWriting, tables: Mapping[str, SourceTable]) -> Iterator[TargetStatement]:
    return statements(writing, tables, TYPES, _create_table)


def _create_table(mapping: TableMapping, source: SourceTable, key: Sequence[str]) -> str:
    lines = [_column(source, column, in_key=column.name in key) for column in source.captured_columns]
    if key:
        lines.append(f"PRIMARY KEY ({', '.join(map(quoted, key))})")
    body = ",\n  ".join(lines)
    return f"CREATE TABLE {quoted_table(mapping.target)} (\n  {body}\n);"


def _column(source: SourceTable, column: Column, *, in_key: bool) -> str:
    definition = f"{quoted(column.name)} {TYPES.equal_type(source, column)}"
    return f"{definition} NOT NULL" if in_key else definition
