"""Sources: databases registered for capture, and the tables that discovery found in them."""

from dataclasses import dataclass

from chalicelib.domain.source import Source
from chalicelib.domain.table import SourceTable
from chalicelib.kit.pages import Page, sorted_page
from chalicelib.services.systems import SystemService
from chalicelib.stores.source_tables import SourceTables


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFilter:
    """Which discovered tables to show; None means any. `min_size` is bytes."""

    search: str | None = None
    schema: str | None = None
    cdc_ready: bool | None = None
    has_primary_key: bool | None = None
    min_size: int | None = None

    def matches(self, table: SourceTable) -> bool:
        """Whether the table is shown."""
        return (
            (self.search is None or self.search.casefold() in str(table.name).casefold())
            and (self.schema is None or table.schema_name == self.schema)
            and (self.cdc_ready is None or table.cdc_ready == self.cdc_ready)
            and (self.has_primary_key is None or bool(table.primary_key_columns) == self.has_primary_key)
            and (self.min_size is None or (table.estimated_size_bytes or 0) >= self.min_size)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceService(SystemService[Source]):
    """Create, read, change, delete and test sources; list what discovery found."""

    kind: type[Source] = Source
    tables: SourceTables

    def on_address_changed(self, system: Source) -> None:
        """Remove the tables that discovery found there."""
        self.tables.replace(system.id, [])

    def list_tables(
        self, source_id: str, *, table_filter: TableFilter, limit: int, after: str | None
    ) -> Page[SourceTable]:
        """Discovered tables by schema and name. Raises NotFound."""
        self.store.get(source_id)
        matching = [table for table in self.tables.list(source_id) if table_filter.matches(table)]
        return sorted_page(matching, key=_key, limit=limit, after=after)


def _key(table: SourceTable) -> str:
    return f"{table.schema_name}\x1f{table.table_name}"
