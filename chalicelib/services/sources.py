"""Sources: databases registered for capture, and the tables that discovery found in them."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from chalicelib.domain.access import RequestContext
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.pipeline import Pipeline, claimed_thing
from chalicelib.domain.plans.of_registered import of_move
from chalicelib.domain.plans.plan import Consequence
from chalicelib.domain.providers.registry import capture_provider
from chalicelib.domain.source import Source
from chalicelib.domain.table import SourceTable
from chalicelib.errors import Conflict, StoreBusy, StoreUnavailable
from chalicelib.kit.clock import Deadline
from chalicelib.kit.pages import Page, sorted_page
from chalicelib.services.registry import claim_conflict
from chalicelib.services.systems import SystemInput, SystemService
from chalicelib.stores.resources import ResourceStores
from chalicelib.stores.source_tables import deleted_source
from chalicelib.stores.transaction import Transaction

MAX_MOVED = 15
"""Each pipeline is up to five of the 100 items of a transaction."""

SWEPT_AFTER = timedelta(minutes=10)
"""Longer than all attempts of a discovery that ran when its source was deleted."""

_SWEEP_SECONDS = 3.0


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
class SourceInput(SystemInput):
    """What people say about a source. `options` are those that were sent, not checked yet."""

    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceService(SystemService[Source]):
    """Create, read, change, delete and test sources; list what discovery found."""

    kind: type[Source] = Source
    resources: ResourceStores

    def completed(self, system: Source) -> Source:
        options = capture_provider(system.address.provider).source_options(system.options)
        return replace(system, options=options)

    def consequences(self, before: Source, after: Source) -> Sequence[Consequence]:
        moved = before.address.identity != after.address.identity
        return (*SystemService.consequences(self, before, after), *(of_move(before) if moved else ()))

    def on_address_changing(self, transaction: Transaction, before: Source, after: Source) -> int | None:
        """Move the claims of its pipelines. A connector runs at the former address until its pipeline is deployed
        again, and what it has made there stays: those claims stay, too.

        Raises Conflict STATE_CONFLICT for a source with more than 15 pipelines, NAME_CONFLICT when another pipeline
        has one of the claims at the new address.
        """
        pipelines = self.resources.pipelines.list_in("source_id", before.id, limit=MAX_MOVED + 1).items
        if len(pipelines) > MAX_MOVED:
            raise Conflict(
                f"A source with more than {MAX_MOVED} pipelines keeps its host, port and database. "
                "Register the new address as another source."
            )
        for pipeline in pipelines:
            self._move_claims(transaction, pipeline, before, after)
        return len(pipelines)

    def _move_claims(self, transaction: Transaction, pipeline: Pipeline, before: Source, after: Source) -> None:
        provider = capture_provider(pipeline.provider)
        current, former = provider.unique_claims(pipeline, after), frozenset(provider.unique_claims(pipeline, before))
        is_draft = pipeline.desired_state is DesiredState.DRAFT and not pipeline.open_operation
        moved = pipeline.with_claims(current, released=former if is_draft else frozenset())
        new = [key for key in moved.claims if key not in pipeline.claims]
        for key, holder in self.registry.holders(self.resources.pipelines, new).items():
            raise claim_conflict("pipeline", holder, claimed_thing(key), provider.claim_codes)
        for key in new:
            self.registry.claims.take(transaction, key, pipeline.id, label=claimed_thing(key))
        for key in set(pipeline.claims) - set(moved.claims):
            self.registry.claims.release(transaction, key, pipeline.id)
        self.resources.pipelines.save(transaction, moved)

    def on_moved(self, context: RequestContext, before: Source) -> None:
        if before.generation is None:
            return
        # The change itself is stored: what stays here now is removed by the next discovery.
        with suppress(StoreUnavailable):
            self.resources.tables.remove(before.id, before.generation, context.deadline)
            if before.schema_history:
                self.resources.schemas.remove(before.id, before.schema_history, context.deadline)

    def on_deleting(self, transaction: Transaction, system_id: str) -> None:
        self.resources.tables.note_deletion(transaction, system_id, self.clock())

    def on_deleted(self, context: RequestContext, system_id: str) -> None:
        # What stays here now is removed by a sweep, as the versions of schemas are.
        with suppress(StoreUnavailable):
            self.resources.tables.remove_all_but(system_id, None, context.deadline)

    def sweep(self) -> int:
        """Remove what is left of the tables and schemas of deleted sources, a bounded number; returns of how many.

        A discovery that ran meanwhile has ended by then. What there is no time for is left to the next sweep.
        """
        deadline, swept = Deadline.after(_SWEEP_SECONDS), 0
        for note in self.resources.tables.deletions_before(self.clock() - SWEPT_AFTER):
            try:
                self.resources.schemas.remove_all_but(deleted_source(note), None, deadline)
                self.resources.tables.sweep(note, deadline)
            except StoreBusy:  # the next one goes on
                break
            swept += 1
        return swept

    def list_tables(
        self, source_id: str, *, table_filter: TableFilter, limit: int, after: str | None
    ) -> Page[SourceTable]:
        """Discovered tables by schema and name. Raises NotFound."""
        matching = [table for table in self.resources.tables.list(source_id) if table_filter.matches(table)]
        return sorted_page(matching, key=_key, limit=limit, after=after)


def _key(table: SourceTable) -> str:
    return f"{table.schema_name}\x1f{table.table_name}"
