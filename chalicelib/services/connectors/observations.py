"""The observation that the API shows: the newest of those of an operation, a tick and a live read, with its age."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from chalicelib.domain.access import RequestContext
from chalicelib.domain.cluster import ConnectCluster
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.observation import (
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
from chalicelib.domain.reconcile.recreations import reasons
from chalicelib.domain.reconcile.snapshot import ClusterView
from chalicelib.errors import HeadgateError
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.services.client_factory import ClientFactory
from chalicelib.services.connectors.known_progress import KnownProgress, known_progress, progress_asked
from chalicelib.services.connectors.owner import R
from chalicelib.stores.documents import read_together
from chalicelib.stores.monitoring.progress import ProgressStore
from chalicelib.stores.observations import Observations

LIVE_SECONDS = 15.0

Views = Mapping[str, ClusterView]
"""Views of Connect clusters, by id."""

NO_VIEWS: Views = {}

_TORN = "The last look at Kafka Connect was not stored completely. The next one, some seconds later, stores it again."


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservationReader:
    """Adds observations to resources."""

    observations: Observations
    progress: ProgressStore
    clients: ClientFactory
    clock: Clock

    def latest(
        self, resources: Sequence[R], loaded: Views = NO_VIEWS, known: KnownProgress | None = None
    ) -> tuple[R, ...]:
        """The resources with their newest stored observations and metrics: one read, without drafts, the views in
        `loaded`, and progress when it is `known`.
        """
        deployed = [one for one in resources if not _is_draft(one)]
        unread = sorted({one.connect_cluster_id for one in deployed} - loaded.keys())
        asked = progress_asked(deployed) if known is None else []
        rows = read_together(*((self.observations, one) for one in unread), *((self.progress, one) for one in asked))
        views = {**loaded, **self.observations.views(filter(None, rows[: len(unread)]))}
        known = known or known_progress(asked, [self.progress.found(row) for row in rows[len(unread) :]])
        return tuple(self._with_observation(one, views.get(one.connect_cluster_id), known) for one in resources)

    def measured(self, resource: R, known: KnownProgress) -> R:
        """The resource with its metrics."""
        return known.measured(resource, self.clock())

    def now(self, context: RequestContext, resource: R, cluster: ConnectCluster, view: ClusterView | None = None) -> R:
        """The resource with its connector's state in Connect now; UNKNOWN when Connect cannot be read.

        `view`, if it was read, says what was tried about a connector that is missing.
        """
        if _is_draft(resource):
            return replace(resource, observation=_not_deployed(self.clock()))
        try:
            deadline = Deadline.after(context.deadline.remaining(LIVE_SECONDS))
            status = self.clients.connect(cluster).find_status(resource.connector_name, deadline)
        except HeadgateError as error:
            return replace(resource, observation=unreadable(error.message, self.clock()))
        if status is None:
            return replace(resource, observation=_missing(resource, view or ClusterView(), self.clock()))
        return _explained(resource, observe(status, now=self.clock(), tasks=resource.expected_tasks))

    def _with_observation(self, resource: R, view: ClusterView | None, known: KnownProgress) -> R:
        if _is_draft(resource):
            return replace(resource, observation=_not_deployed(resource.updated_at))
        now = self.clock()
        seen = newer(unless_ahead(resource.observation, now), _seen_by_tick(view, resource))
        return _explained(self.measured(resource, known), unless_old(seen, now))


def _explained(resource: R, observation: Observation | None) -> R:
    """The resource with this observation, and with what its progress says about it."""
    if observation and resource.metrics:
        observation = resource.metrics.explain(observation)
    return replace(resource, observation=observation)


def _is_draft(resource: Pipeline | Delivery) -> bool:
    return resource.desired_state is DesiredState.DRAFT and resource.open_operation is None


def _seen_by_tick(view: ClusterView | None, resource: Pipeline | Delivery) -> Observation | None:
    """What the last tick saw; None before the first one. A connector that it did not find does not exist."""
    if view is None or view.observed_at is None:
        return None
    if view.unreadable:
        return unreadable(view.unreadable, view.observed_at)
    if view.torn:
        return unreadable(_TORN, view.observed_at)
    name, snapshot = resource.connector_name, view.snapshot
    if name in snapshot.missing or name not in snapshot.observed:
        return _missing(resource, view, view.observed_at)
    return replace(snapshot.observed[name], observed_at=view.observed_at)


def _missing(resource: Pipeline | Delivery, view: ClusterView, at: datetime) -> Observation:
    found = reasons(view.snapshot.recreations.get(resource.connector_name), resource.last_error)
    return Observation(state=ObservedState.NOT_DEPLOYED, observed_at=at, reasons=found)


def _not_deployed(at: datetime) -> Observation:
    return Observation(state=ObservedState.NOT_DEPLOYED, observed_at=at, reasons=("It has not been deployed.",))
