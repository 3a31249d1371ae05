"""Views of Connect clusters, as ticks store and read them."""

from dataclasses import replace
from datetime import UTC, datetime

from chalicelib.domain.connectors.cluster_view import ClusterView
from chalicelib.domain.connectors.memory import ClusterMemory, ConnectorMemory, DesiredConnector
from chalicelib.domain.connectors.recreations import Recreations
from chalicelib.domain.connectors.restarts import RestartCause, Restarts
from chalicelib.domain.observation import DesiredState, Observation, ObservedState
from chalicelib.kit.ids import id_from
from chalicelib.stores.clusters import ConnectClusters
from chalicelib.stores.connectors.observations import Observations

NOW = datetime(2026, 1, 1, tzinfo=UTC)
RECREATIONS = Recreations(count=1, tried_at=NOW, vanished=(NOW,), seen_since=NOW)
RESTARTS = Restarts(count=2, tried_at=NOW, cause=RestartCause.FAILED, since=NOW)


def view(count: int, **changes: ObservedState) -> ClusterView:
    """A view in which every connector runs, except those in `changes`."""
    connectors = {name: running(name) for name in (f"c{number}" for number in range(count))}
    for name, state in changes.items():
        connectors[name] = replace(connectors[name], observation=Observation(state=state, observed_at=NOW))
    return ClusterView(observed_at=NOW, memory=ClusterMemory(epoch=3, unsettled=True, connectors=connectors))


def running(name: str) -> ConnectorMemory:
    desired = DesiredConnector(
        resource_type="pipeline", resource_id=id_from(name), desired_state=DesiredState.RUNNING,
        config_hash=id_from("hash", name) * 2,
    )  # fmt: skip
    return ConnectorMemory(desired=desired, observation=Observation(state=ObservedState.RUNNING, observed_at=NOW))


def after_a_read(observations: Observations, seen: ClusterView) -> ClusterView:
    """This view, as a tick writes it that has read the stored one before."""
    return replace(seen, write_id=observations.read(["k"]).get("k", ClusterView()).write_id)


def view_for_tick(observations: Observations) -> ClusterView:
    return observations.cluster_and_view("k", ConnectClusters())[1]
