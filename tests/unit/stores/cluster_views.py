"""Views of Connect clusters, as ticks store and read them."""

from dataclasses import replace
from datetime import UTC, datetime

from chalicelib.domain.observation import DesiredState, Observation, ObservedState
from chalicelib.domain.reconcile.drift import Drift
from chalicelib.domain.reconcile.orphans import Orphan
from chalicelib.domain.reconcile.recreations import Recreations
from chalicelib.domain.reconcile.restarts import RestartCause, Restarts
from chalicelib.domain.reconcile.snapshot import ClusterSnapshot, ClusterView, DesiredConnector
from chalicelib.kit.ids import id_from
from chalicelib.stores.clusters import ConnectClusters
from chalicelib.stores.observations import Observations

NOW = datetime(2026, 1, 1, tzinfo=UTC)
RECREATIONS = Recreations(count=1, tried_at=NOW, vanished=(NOW,), seen_since=NOW)
RESTARTS = Restarts(count=2, tried_at=NOW, cause=RestartCause.FAILED, since=NOW)


def view(connectors: int, **changes: ObservedState) -> ClusterView:
    """A view in which every connector runs, except those in `changes`."""
    names = [f"c{number}" for number in range(connectors)]
    desired = {
        name: DesiredConnector(
            resource_type="pipeline", resource_id=id_from(name), desired_state=DesiredState.RUNNING,
            config_hash=id_from("hash", name) * 2,
        )
        for name in names
    }  # fmt: skip
    observed = {name: Observation(state=changes.get(name, ObservedState.RUNNING), observed_at=NOW) for name in names}
    snapshot = ClusterSnapshot(
        epoch=3, unsettled=True, desired=desired, observed=observed, missing={"gone": NOW},
        orphans={"c0": Orphan(since=NOW, ours=True)}, foreign={"c1": NOW}, recreations={"c0": RECREATIONS},
        restarts={"c0": RESTARTS}, drifted={"c0": Drift(expected="hash", confirmed=True)},
    )  # fmt: skip
    return ClusterView(observed_at=NOW, snapshot=snapshot)


def after_a_read(observations: Observations, seen: ClusterView) -> ClusterView:
    """This view, as a tick writes it that has read the stored one before."""
    return replace(seen, write_id=observations.read(["k"]).get("k", ClusterView()).write_id)


def view_for_tick(observations: Observations) -> ClusterView:
    """The view that a tick starts with."""
    return observations.cluster_and_view("k", ConnectClusters())[1]
