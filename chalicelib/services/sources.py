"""Sources: registered databases. Registering one touches no server."""

from dataclasses import dataclass, replace
from typing import Any

from chalicelib.domain.access import Call
from chalicelib.domain.database import DatabaseAddress
from chalicelib.domain.health import Health
from chalicelib.domain.source import Source
from chalicelib.domain.table import SourceTable
from chalicelib.kit.clock import Clock
from chalicelib.kit.pages import Page, slice_of
from chalicelib.services.credentials import Secrets
from chalicelib.services.registry import Registry
from chalicelib.stores.source_tables import SourceTables
from chalicelib.stores.sources import Sources


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceInput:
    """What people say about a source."""

    name: str
    description: str | None
    environment: str | None
    address: DatabaseAddress
    secrets: Secrets


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFilter:
    """Which discovered tables to show; None means any. `min_size` is bytes."""

    search: str | None = None
    schema: str | None = None
    cdc_ready: bool | None = None
    has_primary_key: bool | None = None
    min_size: int | None = None

    def lets_through(self, table: SourceTable) -> bool:
        """Whether the table is shown."""
        return (
            (self.search is None or self.search.casefold() in str(table.name).casefold())
            and (self.schema is None or table.schema_name == self.schema)
            and (self.cdc_ready is None or table.cdc_ready == self.cdc_ready)
            and (self.has_primary_key is None or bool(table.primary_key_columns) == self.has_primary_key)
            and (self.min_size is None or (table.estimated_size_bytes or 0) >= self.min_size)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceService:
    """Create, read, change and delete sources; look at what discovery found."""

    rows: Sources
    tables: SourceTables
    registry: Registry
    clock: Clock

    def create(self, call: Call, given: SourceInput) -> Source:
        """Register a database for capture."""
        now, source_id = self.clock(), call.fresh_id()
        return self.registry.create(
            call,
            self.rows,
            source_id,
            lambda credentials: Source(
                id=source_id,
                name=given.name,
                description=given.description,
                environment=given.environment,
                address=given.address,
                credentials=credentials,
                created_at=now,
                updated_at=now,
            ),
            secrets=given.secrets,
        )

    def get(self, source_id: str) -> Source:
        """The source; raises NotFound."""
        return self.rows.get(source_id)

    def list(self, *, limit: int, after: str | None) -> Page[Source]:
        """Sources, newest first."""
        return self.rows.list(limit=limit, after=after)

    def update(self, call: Call, source_id: str, given: SourceInput) -> Source:
        """Replace everything but secrets that are left blank. Another database makes what was discovered void."""
        before = self.rows.get(source_id)
        moved = before.address.place != given.address.place
        known = _NOTHING_KNOWN if moved else {}
        after = self.registry.update(
            call,
            self.rows,
            before,
            lambda credentials: replace(
                before,
                name=given.name,
                description=given.description,
                environment=given.environment,
                address=given.address,
                credentials=credentials,
                version=before.version + 1,
                updated_at=self.clock(),
                **known,
            ),
            given.secrets,
        )
        if moved:
            self.tables.replace(source_id, [])
        return after

    def delete(self, call: Call, source_id: str) -> None:
        """Forget the source. Raises Conflict RESOURCE_IN_USE while a pipeline captures from it."""
        source = self.rows.get(source_id)
        self.registry.delete(call, self.rows, source)
        if source.last_discovery_at:
            self.tables.replace(source_id, [])

    def list_tables(self, source_id: str, *, wanted: TableFilter, limit: int, after: str | None) -> Page[SourceTable]:
        """Discovered tables by schema and name."""
        self.rows.get(source_id)
        passing = [table for table in self.tables.list(source_id) if wanted.lets_through(table)]
        return slice_of(passing, limit=limit, after=after)


_NOTHING_KNOWN: dict[str, Any] = {
    "health": Health(),
    "last_test": None,
    "last_tested_at": None,
    "last_discovery_at": None,
    "tables": None,
    "cdc_ready_tables": None,
}
