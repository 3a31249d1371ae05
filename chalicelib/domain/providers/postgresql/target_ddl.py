"""The tables in which everything that can arrive equal does: what somebody may create before the delivery."""

from collections.abc import Iterator, Mapping

from chalicelib.domain.delivery import TableMapping, TableWriting, TargetStatement
from chalicelib.domain.providers.postgresql.sql import quoted, quoted_table
from chalicelib.domain.providers.postgresql.target_columns import TYPES
from chalicelib.domain.table import Column, SourceTable


def target_statements(writing: TableWriting, tables: Mapping[str, SourceTable]) -> Iterator[TargetStatement]:
    """CREATE TABLE for each target, where it is known how the types arrive. `tables` are the source tables by topic."""
    for mapping in writing.mappings:
        source = tables[mapping.topic]
        if not TYPES.are_known(source):
            continue
        # Without upserts an update becomes another row with the same key.
        key = source.primary_key_columns if writing.upserts else ()
        yield TargetStatement(table_name=mapping.table_name, statement=_create_table(mapping, source, key))


def _create_table(mapping: TableMapping, source: SourceTable, key: tuple[str, ...]) -> str:
    lines = [_column(source, column, in_key=column.name in key) for column in source.captured_columns]
    if key:
        lines.append(f"PRIMARY KEY ({', '.join(map(quoted, key))})")
    body = ",\n  ".join(lines)
    return f"CREATE TABLE {quoted_table(mapping.target)} (\n  {body}\n);"


def _column(source: SourceTable, column: Column, *, in_key: bool) -> str:
    definition = f"{quoted(column.name)} {TYPES.equal_type(source, column)}"
    return f"{definition} NOT NULL" if in_key else definition
