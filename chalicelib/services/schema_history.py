"""Versions of the schemas of a source's tables: what a discovery adds to them, and what that means for what runs."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from chalicelib.domain.access import RequestContext
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.monitoring.condition import Condition
from chalicelib.domain.monitoring.incident import OPERATIONS
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.providers.registry import capture_provider
from chalicelib.domain.schema.change import SchemaImpact
from chalicelib.domain.schema.conditions import schema_conditions
from chalicelib.domain.schema.consequences import affected, needs_look
from chalicelib.domain.schema.table_schema import DiscoveredSchema
from chalicelib.domain.schema.type_order import TypeOrder
from chalicelib.domain.schema.version import (
    Newest,
    SchemaVersion,
    VersionFilter,
    forgotten,
    may_have_changed,
    next_version,
)
from chalicelib.domain.source import Source
from chalicelib.domain.table import TableName
from chalicelib.domain.timeline.event import schema_event
from chalicelib.errors import StoreBusy, WriteConflict
from chalicelib.kit.clock import Clock
from chalicelib.kit.pages import Page
from chalicelib.kit.retry import at_once
from chalicelib.services.incidents import IncidentService
from chalicelib.stores.resources import ResourceStores
from chalicelib.stores.timeline import MAX_KEPT, Timeline
from chalicelib.stores.transaction import Transaction

MAX_NAMED = 20
"""Pipelines and deliveries that the result of a job names. The versions name more."""

_BOUND = 500
"""Pipelines of a source, and deliveries of a pipeline, that are looked at."""

_MAX_FORGOTTEN = 200
"""Tables whose versions one discovery removes, with some calls each: the next one goes on."""

_INCIDENTS_PER_TRANSACTION = 33
_ATTEMPTS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaHistory:
    """Adds versions, and lists them."""

    resources: ResourceStores
    incidents: IncidentService
    timeline: Timeline
    clock: Clock

    def list(
        self, source_id: str, *, version_filter: VersionFilter, limit: int, after: str | None
    ) -> Page[SchemaVersion]:
        """The versions of a source, newest first. Raises NotFound."""
        history = self.resources.sources.get(source_id).schema_history
        if history is None:
            return Page((), ())
        return self.resources.schemas.list(history, version_filter, limit=limit, after=after)

    def record(
        self, context: RequestContext, source: Source, history: str, tables: Sequence[Any], *, complete: bool
    ) -> Mapping[str, Any]:
        """Add a version of each table whose schema is another one than before; what the result of the job says of it.
        `tables` are those that the client has listed, `complete`: these are all.

        It is safe to repeat: incidents are opened before the versions are there, and are the same once more; versions
        that are stored already are not added again. Raises StoreUnavailable, StoreBusy at the deadline.
        """
        provider, store = capture_provider(source.address.provider), self.resources.schemas
        found, newest = provider.table_schemas(tables), store.newest(source.id, history)
        store.forget(source.id, history, forgotten(newest, found)[:_MAX_FORGOTTEN], context.deadline)
        versions = self._changed(source.id, history, found, newest, provider.type_order, complete=complete)
        if any(map(needs_look, versions)):
            versions = self._with_affected(source.id, versions)
            self._open_incidents(context, schema_conditions(versions))
        # Those that may mean something first: a timeline keeps no more events, and the first discovery has thousands.
        shown = {version.id for version in sorted(versions, key=needs_look, reverse=True)[:MAX_KEPT]}

        def add_event(transaction: Transaction, version: SchemaVersion) -> None:
            if version.id in shown:
                self.timeline.add(transaction, schema_event(version))

        try:
            store.add(history, versions, context.deadline, add_event)
        except WriteConflict as conflict:
            raise StoreBusy("Another discovery has just stored schemas of this source.") from conflict
        return _summary(versions)

    def _changed(
        self,
        source_id: str,
        history: str,
        found: Sequence[DiscoveredSchema],
        newest: Newest,
        order: TypeOrder,
        *,
        complete: bool,
    ) -> Sequence[SchemaVersion]:
        schemas = {one.name: one.schema for one in found}
        changing = tuple(may_have_changed(newest, found, complete=complete))
        known = {name: newest[name].version for name in changing if name in newest}
        before = self.resources.schemas.find(source_id, history, known)
        # A version that cannot be read was written by a newer release: nothing is compared with it.
        comparable = [name for name in changing if name not in known or name in before]
        now = self.clock()
        versions = (
            next_version(source_id, name, before.get(name), schemas.get(name), order, now) for name in comparable
        )
        return [version for version in versions if version]

    def _with_affected(self, source_id: str, versions: Sequence[SchemaVersion]) -> Sequence[SchemaVersion]:
        """The versions with the pipelines and deliveries that are deployed and concerned."""
        changed = {version.name for version in versions}
        pipelines: dict[TableName, list[Pipeline]] = defaultdict(list)
        deliveries: dict[str, Sequence[Delivery]] = {}
        for pipeline in self.resources.pipelines.list_in("source_id", source_id, limit=_BOUND).items:
            tables = changed.intersection(pipeline.capture.captured_tables)
            if pipeline.desired_state is DesiredState.DRAFT or not tables:
                continue
            listed = self.resources.deliveries.list_in("pipeline_id", pipeline.id, limit=_BOUND)
            deliveries[pipeline.id] = listed.items
            for table in tables:
                pipelines[table].append(pipeline)
        return [replace(one, affects=affected(one, pipelines[one.name], deliveries)) for one in versions]

    def _open_incidents(self, context: RequestContext, conditions: Sequence[Condition]) -> None:
        for start in range(0, len(conditions), _INCIDENTS_PER_TRANSACTION):
            began = conditions[start : start + _INCIDENTS_PER_TRANSACTION]

            def settle(_attempt: int, began: Sequence[Condition] = began) -> None:
                transaction, cause = Transaction(), context.correlation_id
                # Nothing changes where the incidents that are open cannot be read.
                if self.incidents.settle(transaction, OPERATIONS, self.clock(), began=began, correlation_id=cause):
                    transaction.commit()

            at_once(_ATTEMPTS).run(settle, on=WriteConflict)  # a person has just moved one


def _summary(versions: Sequence[SchemaVersion]) -> Mapping[str, Any]:
    affects = [one for version in versions for one in version.affects]
    return {
        "versions": len(versions),
        "breaking": sum(version.impact is SchemaImpact.BREAKING for version in versions),
        "potentially_breaking": sum(version.impact is SchemaImpact.POTENTIALLY_BREAKING for version in versions),
        "affected": [asdict(one) for one in affects[:MAX_NAMED]],
    }
