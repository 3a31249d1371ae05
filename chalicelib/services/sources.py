"""Sources: databases registered for capture, and the tables that discovery found in them."""

from contextlib import suppress
from dataclasses import dataclass

from chalicelib.domain.access import RequestContext
from chalicelib.domain.source import Source
from chalicelib.domain.table import SourceTable
from chalicelib.errors import StoreUnavailable
from chalicelib.kit.pages import Page, slice_of
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

    def on_moved(self, context: RequestContext, before: Source) -> None:
        # The change itself is stored: what stays here now is removed by the next discovery.
        with suppress(StoreUnavailable):
            self.tables.remove(before.id, before.generation, context.deadline)

    def on_deleted(self, context: RequestContext, system_id: str) -> None:
        with suppress(StoreUnavailable):
            self.tables.remove_all_but(system_id, None, context.deadline)

    def list_tables(
        self, source_id: str, *, table_filter: TableFilter, limit: int, after: str | None
    ) -> Page[SourceTable]:
        """Discovered tables by schema and name. Raises NotFound."""
        matching = [table for table in self.tables.list(source_id) if table_filter.matches(table)]
        return slice_of(matching, limit=limit, after=after)
