"""What clients can do with pipelines and deliveries alike: list, observe, control and delete them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic

from chalicelib.domain.access import RequestContext
from chalicelib.domain.connector_config import ConfigWarning
from chalicelib.domain.connector_row import ObservedRow
from chalicelib.domain.delivery import SetupDocument, TargetStatement
from chalicelib.domain.operation import OperationKind
from chalicelib.domain.search import EVERY_CONNECTOR, ConnectorSearch, Sort
from chalicelib.errors import TimedOut, Unavailable
from chalicelib.kit.clock import Deadline
from chalicelib.kit.pages import Page
from chalicelib.services.connectors.capture_checks import ACCEPT_DATA_LOSS
from chalicelib.services.connectors.forget import forget_resource
from chalicelib.services.connectors.lifecycle import Lifecycle
from chalicelib.services.connectors.observations import ObservationReader, Views
from chalicelib.services.connectors.operation_run import NO_PARAMETERS, changes_nothing
from chalicelib.services.connectors.owner import (
    DELETE_TOPICS,
    RELEASE,
    ConnectorOwner,
    Notices,
    R,
    require_deployed,
    require_found,
    with_notice,
)
from chalicelib.services.connectors.row_lists import ChosenRows, RowLists
from chalicelib.services.connectors.validation import Validation
from chalicelib.stores.monitoring.findings import FaultyIds
from chalicelib.stores.rows import ROWS_PER_CALL

_JUDGED = 500
"""Resources that one request judges by what no column of theirs says."""
_LOOKUP_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorPreview:
    """What would be created. Nothing of it is stored. A warning never prevents the creation."""

    connector_name: str
    config: Mapping[str, str]
    topics: Sequence[str]
    validation: Validation
    warnings: tuple[ConfigWarning, ...] = ()
    internal_topics: tuple[str, ...] = ()
    target_ddl: tuple[TargetStatement, ...] = ()
    setup: tuple[SetupDocument, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorService(ABC, Generic[R]):
    OUTDATED: ClassVar[Notices]
    """The notices for a resource whose connector has an outdated config, or outdated secrets."""

    OWN_END: ClassVar[str]
    """The end that a resource names itself: `source_id` or `destination_id`."""

    connector: ConnectorOwner[R]
    lifecycle: Lifecycle
    observation_reader: ObservationReader

    def list(
        self,
        *,
        limit: int,
        after: str | None,
        search: ConnectorSearch = EVERY_CONNECTOR,
        sort: Sort = Sort.CREATED_AT,
    ) -> Page[R]:
        """What is looked for, each with its latest observation.

        A page may have few entries, or none, although the list goes on. Raises TimedOut.
        """
        if sort is not Sort.CREATED_AT:
            return self._sorted(search, sort, min(limit, ROWS_PER_CALL), after)
        belongs = self.belongs_to(search, Deadline.after(_LOOKUP_SECONDS))
        # What no column says is judged here: more is read than may be shown.
        judged_here = belongs is not None or search.observed_state is not None
        columns = {name: getattr(search, name) for name in ("desired_state", "connect_cluster_id", self.OWN_END)}
        page = self.connector.store.search(search, limit=_JUDGED if judged_here else limit, after=after, **columns)
        page = page.only(belongs) if belongs else page
        observed = page.with_items(self.observed(page.items))
        return observed.only(lambda resource: search.observes(resource.observation)).first(limit)

    def rows(self, *, limit: int, after: str | None, search: ConnectorSearch, sort: Sort) -> Page[ObservedRow]:
        """The same as rows, which cost a tenth of that."""
        chosen = self._chosen(search, sort, limit, after)
        observed = chosen.page.with_items(self.observed_rows(chosen.page.items, chosen.views, chosen.faulty))
        return observed.only(lambda row: search.observes(row.observation)) if search.observed_state else observed

    def _sorted(self, search: ConnectorSearch, sort: Sort, limit: int, after: str | None) -> Page[R]:
        rows = self._chosen(search, sort, limit, after).page
        found = {resource.id: resource for resource in self.connector.store.with_ids(row.id for row in rows.items)}
        page = rows.only(lambda row: row.id in found)
        observed = page.with_items(self.observed([found[row.id] for row in page.items]))
        return observed.only(lambda resource: search.observes(resource.observation))

    def _chosen(self, search: ConnectorSearch, sort: Sort, limit: int, after: str | None) -> ChosenRows:
        deadline = Deadline.after(_LOOKUP_SECONDS)
        belongs = self.belongs_to(search, deadline)
        lists = RowLists(
            store=self.connector.store, reader=self.observation_reader, findings=self.connector.monitoring.findings
        )
        if sort is Sort.CREATED_AT:
            return lists.newest(search, belongs, limit=limit, after=after)
        return lists.sorted(search, belongs, sort, deadline, limit=limit, after=after)

    def belongs_to(self, search: ConnectorSearch, deadline: Deadline) -> Callable[[Any], bool] | None:
        """Whether a resource belongs to the other end that is looked for; None where none is. Raises TimedOut."""
        return None

    def observed(self, resources: Sequence[R]) -> tuple[R, ...]:
        """The resources with their latest observations."""
        return self.observation_reader.latest(resources)

    @abstractmethod
    def observed_rows(self, rows: Sequence[Any], views: Views, faulty: FaultyIds) -> Sequence[ObservedRow]:
        """Rows with their latest observations. The views of their Connect clusters, and what looks elsewhere have
        found, were read.
        """

    def status(self, context: RequestContext, resource_id: str, *, fresh: bool = True) -> R:
        """The resource with an observation made now; without `fresh`, some seconds ago. `UNKNOWN`, with the reason,
        when Connect cannot be read. Raises ServerBusy while others ask Connect, RateLimited.
        """
        resource, deps = self._read(resource_id)
        cluster = require_found(deps.connect_cluster)
        observed = self.observation_reader.recent(context, resource, cluster, deps.view, fresh=fresh)
        return self.explained(observed, deps)

    def explained(self, resource: R, deps: Any) -> R:
        """A resource that was observed now, with everything else that is known about its connector: all answers about
        one resource say the same.
        """
        measured = self.observation_reader.explained(resource, deps.progress, deps.view)
        return with_notice(self.connector, self.with_findings(measured, deps), deps, self.OUTDATED)

    def _seen_now(self, context: RequestContext, resource: R, deps: Any) -> R:
        """The resource with what Kafka Connect says about its connector now."""
        return self.observation_reader.now(context, resource, require_found(deps.connect_cluster), deps.view)

    def with_findings(self, resource: R, deps: Any) -> R:
        """The resource, its observation with what else is known about its connector than Connect says."""
        return resource

    def control(
        self, context: RequestContext, resource_id: str, kind: OperationKind, of: str | None = None, **parameters: Any
    ) -> R:
        """Pause, resume, restart, or restart one task (`task`). `of` is the id of the destination of a delivery.

        To pause what is paused already, as stored and as Connect says now, or to resume what runs, writes nothing.
        """
        resource, deps = self._read(resource_id, of)
        require_deployed(resource)
        if changes_nothing(kind, self._latest(resource, deps)):
            # What the last tick saw may be ten seconds old: a writing call follows unless Connect says the same now.
            observed = self._seen_now(context, resource, deps)
            if changes_nothing(kind, observed) and self._has_our_connector(context, resource, deps):
                return self.explained(observed, deps)
        changed = self._execute(context, resource, deps, kind, parameters) or resource
        # What was known about lost changes has just been accepted.
        return changed if parameters.get(ACCEPT_DATA_LOSS) else self.with_findings(changed, deps)

    def _has_our_connector(self, context: RequestContext, resource: R, deps: Any) -> bool:
        """Whether the connector of this name carries our marker; False also when Connect cannot be read."""
        clients = self.lifecycle.clients
        connect = clients.connect(require_found(deps.connect_cluster))
        try:
            config = connect.find_config(resource.connector_name, context.deadline)
        except (Unavailable, TimedOut):
            return False
        return config is not None and clients.is_ours(resource.connector_name, config)

    def delete(
        self,
        context: RequestContext,
        resource_id: str,
        *,
        of: str | None = None,
        release: bool = False,
        delete_topics: bool = False,
        forget: bool = False,
    ) -> R | None:
        """Delete the connector, then the resource. What was written is not deleted. `release` also releases what only a
        pipeline uses in its source, `delete_topics` deletes the topics that its connector keeps for itself. `forget`
        removes our records and touches no connector: Connect is gone for good.

        None when it is done; the resource with its open operation when Connect did not answer. Raises Conflict
        RESOURCE_IN_USE for a pipeline that has deliveries, and STATE_CONFLICT where nothing may be forgotten.
        """
        resource, deps = self._read(resource_id, of)
        context.expect_version(resource.version)
        if forget:
            forget_resource(self.lifecycle, context, self.connector, resource, deps)
            return None
        asked = {RELEASE: release, DELETE_TOPICS: delete_topics}
        parameters = {name: True for name, is_asked in asked.items() if is_asked}
        return self._execute(context, resource, deps, OperationKind.DELETE, parameters)

    def _read(self, resource_id: str, of: str | None = None) -> tuple[R, Any]:
        """The resource and its dependencies; raises NotFound."""
        resource = self.connector.store.get(resource_id)
        return resource, self.connector.load_dependencies(resource)

    def _latest(self, resource: R, deps: Any) -> R:
        """The resource with its latest observation, from the dependencies that were loaded with it."""
        views = {resource.connect_cluster_id: deps.view}
        observed = self.observation_reader.latest([resource], views, deps.progress)[0]
        return self.with_findings(observed, deps)

    def _execute(
        self,
        context: RequestContext,
        resource: R,
        deps: Any,
        kind: OperationKind,
        parameters: Mapping[str, Any] = NO_PARAMETERS,
    ) -> R | None:
        return self.lifecycle.execute(context, self.connector, resource, deps, kind, parameters=parameters)
