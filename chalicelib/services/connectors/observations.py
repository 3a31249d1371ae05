"""The observation that the API shows: the newest of those of an operation, a tick and a live read, with its age."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from chalicelib.domain.access import RequestContext
from chalicelib.domain.cluster import ConnectCluster
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.observation import DesiredState, Observation, ObservedState, newer, observe, unreadable
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.reconcile.snapshot import ClusterView
from chalicelib.errors import HeadgateError
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.services.client_factory import ClientFactory
from chalicelib.services.connectors.owner import R
from chalicelib.stores.observations import Observations

LIVE_SECONDS = 15.0

Views = Mapping[str, ClusterView]
"""Views of Connect clusters, by id."""

NO_VIEWS: Views = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservationReader:
    """Adds observations to resources."""

    observations: Observations
    clients: ClientFactory
    clock: Clock

    def latest(self, resources: Sequence[R], loaded: Views = NO_VIEWS) -> tuple[R, ...]:
        """The resources with their newest stored observations: one read, without drafts and the views in `loaded`."""
        unread = {one.connect_cluster_id for one in resources if not _is_draft(one)} - loaded.keys()
        views = {**loaded, **self.observations.read(unread)}
        return tuple(self._with_observation(one, views.get(one.connect_cluster_id)) for one in resources)

    def now(self, context: RequestContext, resource: R, cluster: ConnectCluster) -> R:
        """The resource with its connector's state in Connect now; UNKNOWN when Connect cannot be read."""
        if _is_draft(resource):
            return replace(resource, observation=_not_deployed(self.clock()))
        try:
            deadline = Deadline.after(context.deadline.remaining(LIVE_SECONDS))
            status = self.clients.connect(cluster).find_status(resource.connector_name, deadline)
        except HeadgateError as error:
            return replace(resource, observation=unreadable(error.message, self.clock()))
        return replace(resource, observation=observe(status, now=self.clock()))

    def _with_observation(self, resource: R, view: ClusterView | None) -> R:
        if _is_draft(resource):
            return replace(resource, observation=_not_deployed(resource.updated_at))
        seen = _seen_by_tick(view, resource.connector_name)
        return replace(resource, observation=newer(resource.observation, seen))


def _is_draft(resource: Pipeline | Delivery) -> bool:
    return resource.desired_state is DesiredState.DRAFT and resource.open_operation is None


def _seen_by_tick(view: ClusterView | None, connector: str) -> Observation | None:
    if view is None or view.observed_at is None:
        return None
    if view.unreadable:
        return unreadable(view.unreadable, view.observed_at)
    seen = view.snapshot.observed.get(connector)
    return replace(seen, observed_at=view.observed_at) if seen else None


def _not_deployed(at: datetime) -> Observation:
    return Observation(state=ObservedState.NOT_DEPLOYED, observed_at=at, reasons=("It has not been deployed.",))
