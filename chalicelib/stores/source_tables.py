"""The tables that discovery found, one row each."""

from collections.abc import Collection, Iterable, Sequence

from pynamodb.attributes import UnicodeAttribute

from chalicelib.domain.table import SourceTable, TableName
from chalicelib.kit.adapters import adapter
from chalicelib.stores.documents import store_errors
from chalicelib.stores.rows import Key, read_rows
from chalicelib.stores.tables import Table, meta

FEW = 90
"""So many tables are read by their keys, in one call together with other rows (100 at the most)."""


class SourceTableRow(Table):
    """One table of one source, sorted by its full name."""

    Meta = meta("source-tables")  # type: ignore[assignment]
    source_id = UnicodeAttribute(hash_key=True)
    name = UnicodeAttribute(range_key=True)
    body = UnicodeAttribute()


class SourceTables:
    """Discovered tables. One discovery writes them at a time: its job has the claim of the source."""

    def list(self, source_id: str) -> tuple[SourceTable, ...]:
        """All of a source's tables, by name. Discovery stores at most 500."""
        with store_errors():
            rows = SourceTableRow.query(source_id, consistent_read=True)
            return tuple(_table(row) for row in rows)

    def find(self, source_id: str, names: Iterable[TableName]) -> dict[TableName, SourceTable]:
        """The named tables, those that discovery found."""
        keys = self.keys(source_id, names := set(names))
        with store_errors():
            rows = read_rows(*keys) if keys else []
        tables = [_table(row) for row in rows if row] if keys else self.list(source_id)
        return {table.name: table for table in tables if table.name in names}

    def keys(self, source_id: str, names: Collection[TableName]) -> tuple[Key, ...]:
        """The keys of the named tables' rows; none when they are so many that reading all tables is cheaper."""
        return tuple((SourceTableRow, source_id, _name(one)) for one in names) if len(names) <= FEW else ()

    def replace(self, source_id: str, tables: Sequence[SourceTable]) -> None:
        """Store what discovery found in place of what it found before. Safe to repeat."""
        with store_errors():
            gone = {
                row.name for row in SourceTableRow.query(source_id, consistent_read=True, attributes_to_get=["name"])
            }
            gone -= {_name(table) for table in tables}
            with SourceTableRow.batch_write() as batch:
                for table in tables:
                    batch.save(
                        SourceTableRow(source_id, _name(table), body=adapter(SourceTable).dump_json(table).decode())
                    )
                for name in gone:
                    batch.delete(SourceTableRow(source_id, name))


def _table(row: SourceTableRow) -> SourceTable:
    found: SourceTable = adapter(SourceTable).validate_json(row.body)
    return found


def _name(table: SourceTable | TableName) -> str:
    return f"{table.schema_name}\x1f{table.table_name}"
