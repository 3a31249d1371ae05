"""The tables in which everything that can arrive equal does: what somebody may create before the delivery."""

from chalicelib.domain.delivery import DeliveryOptions, Mapping
from chalicelib.domain.providers.postgresql import target_columns
from chalicelib.domain.providers.postgresql.sql import quoted, quoted_table
from chalicelib.domain.table import Column, SourceTable


def target_statement(mapping: Mapping, source: SourceTable, options: DeliveryOptions) -> str:
    """CREATE TABLE for one target. Only a delivery that upserts has a key: otherwise an update is another row."""
    key = source.primary_key_columns if options.upserts else ()
    lines = [_column(source, column, in_key=column.name in key) for column in source.captured_columns]
    if key:
        lines.append(f"PRIMARY KEY ({', '.join(map(quoted, key))})")
    body = ",\n  ".join(lines)
    return f"CREATE TABLE {quoted_table(mapping.target)} (\n  {body}\n);"


def _column(source: SourceTable, column: Column, *, in_key: bool) -> str:
    definition = f"{quoted(column.name)} {target_columns.equal_type(source, column)}"
    return f"{definition} NOT NULL" if in_key else definition
