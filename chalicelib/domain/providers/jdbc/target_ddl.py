"""The tables in which everything that can arrive equal does: what somebody may create before the delivery."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from chalicelib.domain.delivery import TableMapping, TableWriting, TargetStatement
from chalicelib.domain.providers.jdbc.target_types import TargetTypes
from chalicelib.domain.table import SourceTable

CreateTable = Callable[[TableMapping, SourceTable, Sequence[str]], str]
"""The statement for a mapping; the last argument are the columns of the key."""


def statements(
    writing: TableWriting, tables: Mapping[str, SourceTable], types: TargetTypes, create_table: CreateTable
) -> Iterator[TargetStatement]:
    """CREATE TABLE for each target, where it is known how the types arrive. `tables` are the source tables by topic."""
    for mapping in writing.mappings:
        source = tables[mapping.topic]
        if types.are_known(source):
            # Without upserts an update becomes another row with the same key.
            key = source.primary_key_columns if writing.upserts else ()
            yield TargetStatement(table_name=mapping.table_name, statement=create_table(mapping, source, key))
