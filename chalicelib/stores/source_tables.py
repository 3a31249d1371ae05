"""The tables that discovery found, one row each."""

from collections.abc import Iterable, Sequence

from pynamodb.attributes import UnicodeAttribute

from chalicelib.domain.table import SourceTable, TableName
from chalicelib.kit.adapters import adapter
from chalicelib.stores.documents import find_together, store_errors
from chalicelib.stores.rows import ROWS_PER_CALL, Key
from chalicelib.stores.tables import Table, meta


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
            return tuple(map(_table, SourceTableRow.query(source_id, consistent_read=True)))

    def find(self, source_id: str, names: Iterable[TableName]) -> dict[TableName, SourceTable]:
        """Those of the named tables that were discovered: by key when they fit one call, else from the whole list."""
        names = set(names)
        if len(names) > ROWS_PER_CALL:
            return {table.name: table for table in self.list(source_id) if table.name in names}
        found = find_together(*((self, (source_id, name)) for name in names))
        return {table.name: table for table in found if table}

    def key(self, name: tuple[str, TableName]) -> Key:
        """The key of the row of one table, by its source's id and its name."""
        source_id, table = name
        return SourceTableRow, source_id, _name(table)

    def found(self, row: SourceTableRow | None) -> SourceTable | None:
        """The table in its row; None when there was none."""
        return _table(row) if row else None

    def replace(self, source_id: str, tables: Sequence[SourceTable]) -> None:
        """Replace all of a source's tables. Safe to repeat."""
        with store_errors():
            stored = SourceTableRow.query(source_id, consistent_read=True, attributes_to_get=["name"])
            obsolete = {row.name for row in stored} - {_name(table) for table in tables}
            with SourceTableRow.batch_write() as batch:
                for table in tables:
                    body = adapter(SourceTable).dump_json(table).decode()
                    batch.save(SourceTableRow(source_id, _name(table), body=body))
                for name in obsolete:
                    batch.delete(SourceTableRow(source_id, name))


def _table(row: SourceTableRow) -> SourceTable:
    found: SourceTable = adapter(SourceTable).validate_json(row.body)
    return found


def _name(table: SourceTable | TableName) -> str:
    return f"{table.schema_name}\x1f{table.table_name}"
