"""The observation that the API shows: the newest of those of an operation, a tick and a live read, with its age."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from chalicelib.domain.access import RequestContext
from chalicelib.domain.cluster import ConnectCluster
from chalicelib.domain.connector_row import AnyListed, ConnectorRow, Listed
from chalicelib.domain.connectors import recreations
from chalicelib.domain.connectors.causes import NotedNames, with_known_tables
from chalicelib.domain.connectors.cluster_view import ClusterView
from chalicelib.domain.connectors.memory import NOT_STARTED
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.live_reads import LiveAnswer, LiveQuestion
from chalicelib.domain.monitoring.metrics import Metrics
from chalicelib.domain.observation import (
    MISSING,
    NEVER_DEPLOYED,
    OLD_AFTER,
    ConnectorStatus,
    DesiredState,
    Observation,
    ObservedState,
    newer,
    observe,
    unless_ahead,
    unless_old,
    unreadable,
)
from chalicelib.domain.pipeline import Pipeline
from chalicelib.errors import HeadgateError, ServerBusy, UnreadableRow
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.services.client_factory import ClientFactory
from chalicelib.services.connectors.known_progress import KnownProgress, known_progress, progress_rows
from chalicelib.services.connectors.owner import R
from chalicelib.services.live_reads import LiveReads
from chalicelib.stores.connectors.observations import Observations
from chalicelib.stores.documents import batch_read, batch_results
from chalicelib.stores.monitoring.findings import FaultyIds
from chalicelib.stores.monitoring.progress import ProgressStore

LIVE_SECONDS = 15.0

Views = Mapping[str, ClusterView]
"""Views of Connect clusters, by id."""

NO_VIEWS: Views = {}

_Statuses = Mapping[str, ConnectorStatus] | str
"""Connectors by name, or why Connect could not be read."""

_Answer = LiveAnswer[_Statuses]

_NOT_MEASURED = Metrics()

_TORN = "The last look at Kafka Connect was not stored completely. The next one, some seconds later, stores it again."


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservationReader:
    observations: Observations
    progress: ProgressStore
    clients: ClientFactory
    live_reads: LiveReads
    clock: Clock

    def latest(
        self, resources: Sequence[Listed], loaded: Views = NO_VIEWS, known: KnownProgress | None = None
    ) -> tuple[Listed, ...]:
        """The resources with their newest stored observations and metrics: one read, without drafts, the views in
        `loaded`, and progress when it is `known`.
        """
        views, known = self._read(resources, loaded, known)
        return tuple(self._with_observation(resource, views, known) for resource in resources)

    def latest_with(
        self, resources: Sequence[Listed], keys: Iterable[tuple[Any, Any]]
    ) -> tuple[tuple[Listed, ...], Sequence[Any]]:
        """The resources with their newest stored observations and metrics, and what `keys` name: one read."""
        clusters = sorted({resource.connect_cluster_id for resource in resources})
        rows = progress_rows(resources)
        found = batch_results(
            *((self.observations, cluster_id) for cluster_id in clusters),
            *((self.progress, row) for row in rows),
            *keys,
        )
        views: Views = dict(zip(clusters, found, strict=False))
        after = len(clusters) + len(rows)
        observed = self.latest(resources, views, known_progress(rows, found[len(clusters) : after]))
        return observed, found[after:]

    def views(self, rows: Sequence[ConnectorRow]) -> Views:
        """The views of their Connect clusters, without those of drafts: one read."""
        return self.observations.read({row.connect_cluster_id for row in rows if not _is_draft(row)})

    @staticmethod
    def latest_of_row(
        row: ConnectorRow, views: Views, now: datetime, metrics: Metrics | None = _NOT_MEASURED
    ) -> Observation | None:
        """The newest stored observation of this row. Without `metrics` with what ticks remember of its progress: what
        is wrong with it, and a row of a pipeline shows no more.
        """
        if _is_draft(row):
            return _not_deployed(row.updated_at)
        view = _view(views, row)
        return _with_progress(row, _newest(row, view, now), metrics, view)

    @staticmethod
    def state(row: ConnectorRow, views: Views, faulty: FaultyIds, now: datetime) -> ObservedState:
        """The observed state by the last look at Connect, and by those elsewhere."""
        if _is_draft(row):
            return ObservedState.NOT_DEPLOYED
        view = _view(views, row)
        observation = _newest(row, view, now)
        if observation is None or observation.state is not ObservedState.RUNNING:
            return observation.state if observation else ObservedState.UNKNOWN
        wrong = row.id in faulty.degraded or view.memory.of(row.connector_name).has_error
        return ObservedState.DEGRADED if wrong else ObservedState.RUNNING

    def measured(self, resource: Listed, known: KnownProgress) -> Listed:
        return known.measured(resource, self.clock())

    def explained(self, resource: R, known: KnownProgress, view: ClusterView) -> R:
        """A resource whose connector was seen now, with its metrics and what its progress says about it."""
        measured, seen = self.measured(resource, known), resource.observation
        return _explained(measured, seen, view) if seen and seen.connector else measured

    def now(self, context: RequestContext, resource: R, cluster: ConnectCluster, view: ClusterView | None = None) -> R:
        """The resource with its connector's state in Connect now, for what acts on it; UNKNOWN when Connect cannot be
        read.

        `view`, if it was read, says what was tried about the connector, and what is to be known of it.
        """
        statuses: _Statuses = {}
        if not _is_draft(resource):
            statuses = self._statuses(cluster, [resource], view or ClusterView(), context.deadline.within(LIVE_SECONDS))
        return self._observed(resource, _answered(statuses, self.clock()), view or ClusterView())

    def recent(
        self, context: RequestContext, resource: R, cluster: ConnectCluster, view: ClusterView, *, fresh: bool
    ) -> R:
        """The resource with its connector's state in Connect some seconds ago, for people; with `fresh`, of now.

        What the last tick or operation saw, while others ask Connect and that is newer. Raises RateLimited, and, with
        `fresh`, ServerBusy.
        """
        if _is_draft(resource):
            return self._observed(resource, _answered({}, self.clock()), view)
        answer = self._ask(context, cluster, [resource], view, context.deadline.within(LIVE_SECONDS), fresh=fresh)
        return self._observed(resource, answer, view)

    def all_recent(
        self,
        context: RequestContext,
        resources: Sequence[R],
        clusters: Mapping[str, ConnectCluster | UnreadableRow],
        *,
        fresh: bool,
    ) -> tuple[R, ...]:
        """The same for resources on these Connect clusters, with metrics. Each cluster is asked once, and none takes
        the time of the others: first those that the last tick could read.
        """
        views, known = self._read(resources)
        measured = [self.measured(resource, known) for resource in resources]
        on_cluster = defaultdict[str, list[R]](list)
        for resource in measured:
            if not _is_draft(resource):
                on_cluster[resource.connect_cluster_id].append(resource)
        ids = sorted(on_cluster, key=lambda cluster_id: cluster_id in views and bool(views[cluster_id].unreadable))
        deadline, answers = context.deadline.within(LIVE_SECONDS), dict[str, _Answer | None]()
        for number, cluster_id in enumerate(ids):
            share, view = Deadline.after(deadline.remaining() / (len(ids) - number)), views.get(cluster_id)
            answers[cluster_id] = self._ask(
                context, clusters[cluster_id], on_cluster[cluster_id], view or ClusterView(), share, fresh=fresh
            )
        nothing = _answered({}, self.clock())
        return tuple(
            self._observed(resource, answers.get(resource.connect_cluster_id, nothing), _view(views, resource))
            for resource in measured
        )

    def _ask(
        self,
        context: RequestContext,
        cluster: ConnectCluster | UnreadableRow,
        resources: Sequence[R],
        view: ClusterView,
        deadline: Deadline,
        *,
        fresh: bool,
    ) -> _Answer | None:
        """What Connect says about the connectors of these resources; None for what is older than the view."""
        if isinstance(cluster, UnreadableRow):
            return _answered(cluster.message, self.clock())
        question = LiveQuestion[_Statuses](
            server=cluster.address.identity,
            # An operation on a connector is a write of the resource that owns it: what was seen before is outdated.
            subject=("statuses", cluster.id, cluster.version, *((one.id, one.revision) for one in resources)),
            answer=_Statuses,
        )
        try:
            answer = self.live_reads.ask(
                context,
                question,
                lambda: self._statuses(cluster, resources, view, deadline),
                fresh=fresh,
                deadline=deadline,
            )
        except ServerBusy:
            if fresh:
                raise
            return None
        is_older = view.observed_at is not None and view.observed_at > answer.at
        return None if is_older and not fresh else answer

    def _read(
        self, resources: Sequence[AnyListed], loaded: Views = NO_VIEWS, known: KnownProgress | None = None
    ) -> tuple[Views, KnownProgress]:
        """What is known of their Connect clusters and of their progress, as far as it is not given: one read."""
        deployed = [resource for resource in resources if not _is_draft(resource)]
        unread = sorted({resource.connect_cluster_id for resource in deployed} - loaded.keys())
        parts = progress_rows(deployed) if known is None else []
        rows = batch_read(
            *((self.observations, cluster_id) for cluster_id in unread), *((self.progress, part) for part in parts)
        )
        views = {**loaded, **self.observations.views(filter(None, rows[: len(unread)]))}
        return views, known or known_progress(parts, [self.progress.decode(row) for row in rows[len(unread) :]])

    def _statuses(
        self, cluster: ConnectCluster, resources: Sequence[Pipeline | Delivery], view: ClusterView, deadline: Deadline
    ) -> _Statuses:
        """The connectors by name; of one alone only that one is asked for. Of their failures is told what the last tick
        has found out, or which tables of the resources they name.
        """
        noted, name = NotedNames(), resources[0].connector_name
        try:
            connect = self.clients.connect(cluster)
            if len(resources) > 1:
                statuses = connect.statuses(deadline, noted.note)
            else:
                status = connect.find_status(name, deadline, noted.note)
                statuses = {name: status} if status else {}
        except HeadgateError as error:
            return error.message
        return with_known_tables(statuses, noted, view.memory, resources)

    def _observed(self, resource: R, answer: _Answer | None, view: ClusterView) -> R:
        if answer is None:
            return self._with_newest(resource, view)
        statuses, at = answer.value, answer.at
        if _is_draft(resource):
            return replace(resource, observation=_not_deployed(at))
        if isinstance(statuses, str):
            return replace(resource, observation=unreadable(statuses, at))
        status = statuses.get(resource.connector_name)
        if status is None:
            return replace(resource, observation=_missing(resource, view, at))
        observation: Observation = observe(status, now=at, tasks=resource.expected_tasks)
        reasons = (*observation.reasons, *_remembered(resource, observation, view))
        return _explained(resource, replace(observation, reasons=reasons), view)

    def _with_observation(self, resource: Listed, views: Views, known: KnownProgress) -> Listed:
        if _is_draft(resource):
            return replace(resource, observation=_not_deployed(resource.updated_at))
        return self._with_newest(self.measured(resource, known), _view(views, resource))

    def _with_newest(self, resource: Listed, view: ClusterView) -> Listed:
        return _explained(resource, _newest(resource, view, self.clock()), view)


def _answered(statuses: _Statuses, at: datetime) -> _Answer:
    return LiveAnswer(statuses, at, at)


def _explained(resource: Listed, observation: Observation | None, view: ClusterView) -> Listed:
    """The resource with this observation, and with what its progress says about it."""
    return replace(resource, observation=_with_progress(resource, observation, resource.metrics, view))


def _with_progress(
    resource: AnyListed, observation: Observation | None, metrics: Metrics | None, view: ClusterView
) -> Observation | None:
    """The observation with what the progress says about it: while nothing can be measured what ticks remember, whose
    incident is open.
    """
    if observation is None:
        return None
    if metrics:
        findings = metrics.findings if metrics.measured else view.memory.of(resource.connector_name).findings
        observation = Metrics(findings=findings).explain(observation) if findings else observation
    return _with_refused_start(resource, observation)


def _with_refused_start(resource: AnyListed, observation: Observation) -> Observation:
    """The observation with why the connector was not started, when it rests and should run."""
    failure = resource.last_error
    if failure is None or not observation.rests or resource.desired_state is not DesiredState.RUNNING:
        return observation
    reason = f"The last attempt to start it failed: {failure.message}"
    # What was seen now is explained a second time, once its progress is read.
    added = () if reason in observation.reasons else (reason,)
    return replace(observation, reasons=(*observation.reasons, *added))


def _is_draft(resource: AnyListed) -> bool:
    return resource.desired_state is DesiredState.DRAFT and resource.open_operation is None


def _newest(resource: AnyListed, view: ClusterView, now: datetime) -> Observation | None:
    """The newest observation of an operation or of a tick."""
    newest = newer(unless_ahead(resource.observation, now), _seen_by_tick(view, resource))
    return unless_old(newest, now)


def _seen_by_tick(view: ClusterView, resource: AnyListed) -> Observation | None:
    """What the last tick saw; None before the first one. A connector that it did not find does not exist."""
    if view.observed_at is None:
        return None
    if view.unreadable:
        return unreadable(view.unreadable, view.observed_at)
    if view.torn:
        return unreadable(_TORN, view.observed_at)
    memory = view.memory.of(resource.connector_name)
    observation = memory.observation
    if observation is None:
        return _missing(resource, view, view.observed_at)
    reasons = (*observation.reasons, *memory.reasons(observation))
    return Observation(
        state=observation.state, observed_at=view.observed_at, reasons=reasons, connector=observation.connector
    )


def _view(views: Views, resource: AnyListed) -> ClusterView:
    return views.get(resource.connect_cluster_id) or ClusterView()


def _remembered(resource: Pipeline | Delivery, observation: Observation, view: ClusterView) -> tuple[str, ...]:
    """What the last tick remembers about a connector that was observed now; nothing when that tick was before the last
    operation, or too long ago. That Headgate has created the connector and not started it yet is known also then.
    """
    at, stored, memory = view.observed_at, resource.observation, view.memory.of(resource.connector_name)
    changed_since = stored is not None and at is not None and stored.observed_at > at
    if at is not None and not changed_since and not view.unreadable and observation.observed_at - at < OLD_AFTER:
        return memory.reasons(observation)
    # The observation of a deploy that has not started its connector; no tick has seen it run since.
    created = stored is not None and stored.state is ObservedState.STOPPED and stored.connector is None
    waits = created and (memory.observation is None or memory.not_started) and observation.is_stopped
    return (NOT_STARTED,) if waits and resource.desired_state is DesiredState.RUNNING else ()


def _missing(resource: AnyListed, view: ClusterView, at: datetime) -> Observation:
    memory = view.memory.of(resource.connector_name)
    withheld = view.why_not_created(memory.missing_since, at)
    reasons = (MISSING, withheld) if withheld else recreations.reasons(memory.recreations, resource.last_error)
    return Observation(state=ObservedState.NOT_DEPLOYED, observed_at=at, reasons=reasons)


def _not_deployed(at: datetime) -> Observation:
    return Observation(state=ObservedState.NOT_DEPLOYED, observed_at=at, reasons=(NEVER_DEPLOYED,))
