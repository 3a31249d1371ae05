"""The tick of one Connect cluster, in four steps: look, digest, publish, carry out.

Level-triggered: it acts on what is, not on what happened. It never touches a connector that does not carry our marker,
and does nothing at all when Connect cannot be read. Crash safety: `infra/decisions/005-observations.md`.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from chalicelib.clients.connect.client import Connect
from chalicelib.domain.cluster import ConnectCluster, SecretDelivery
from chalicelib.domain.names import parse_connector_name
from chalicelib.domain.observation import ConnectorStatus, DesiredState
from chalicelib.domain.reconcile.digest import TickResult, digest
from chalicelib.domain.reconcile.drift import compare_due
from chalicelib.domain.reconcile.snapshot import ClusterView, ConnectSnapshot, DesiredConnector, TickInput
from chalicelib.domain.reconcile.transitions import Transition
from chalicelib.errors import HeadgateError, WriteConflict
from chalicelib.kit.clock import Clock, Deadline, rfc3339
from chalicelib.kit.log import get_logger
from chalicelib.services.client_factory import ClientFactory
from chalicelib.services.connectors.lifecycle import Lifecycle
from chalicelib.services.connectors.open_operations import OpenOperations
from chalicelib.services.connectors.owner import ConnectorOwner
from chalicelib.services.connectors.plan_executor import PlanExecutor, isolated, shuffled
from chalicelib.stores.clusters import ConnectClusters
from chalicelib.stores.observations import Observations
from chalicelib.stores.operations import Operations

_MAX_CLUSTERS = 500

Consumer = Callable[[str, Sequence[Transition]], None]
"""Receives the transitions of a Connect cluster (its id), the oldest first. It may receive the same ones again."""


def log_transitions(cluster_id: str, transitions: Sequence[Transition]) -> None:
    """One line for each."""
    for one in transitions:
        resource_type, resource_id = one.resource or ("connect_cluster", cluster_id)
        details = {"connect_cluster_id": cluster_id, "resource_type": resource_type, "resource_id": resource_id}
        details |= {name: getattr(one, name) for name in ("connector", "before", "after", "kinds", "reasons")}
        details["at"] = rfc3339(one.at)
        get_logger().info("observed state changed", extra=details)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """Runs ticks. `send` puts a cluster's tick into the queue, to be delivered after so many seconds."""

    connects: ConnectClusters
    operations: Operations
    observations: Observations
    owners: Mapping[str, ConnectorOwner[Any]]
    lifecycle: Lifecycle
    clients: ClientFactory
    clock: Clock
    send: Callable[[str, int], None]
    consumers: Sequence[Consumer] = (log_transitions,)

    def dispatch(self, spacing_seconds: int = 10, per_minute: int = 6) -> int:
        """Send each cluster its ticks for the coming minute; returns how many messages were sent."""
        clusters = self.connects.list(limit=_MAX_CLUSTERS).items
        for cluster in clusters:
            for number in range(per_minute):
                self.send(cluster.id, number * spacing_seconds)
        return len(clusters) * per_minute

    def run(self, cluster_id: str, deadline: Deadline) -> None:
        """One tick of one cluster. Does nothing when the cluster was deleted, or when another tick was faster."""
        cluster, view = self.observations.cluster_and_view(cluster_id, self.connects)
        if cluster is None:
            return
        result = digest(view, self.look(cluster, view, deadline), now=self.clock())
        stored = self.observations.write(cluster_id, result.view, changed=result.changed)
        if stored is None:
            return  # Another tick acts, and what this one has read is out of date.
        self.publish(cluster_id, stored)
        self.carry_out(cluster, result, deadline)

    def look(self, cluster: ConnectCluster, view: ClusterView, deadline: Deadline) -> TickInput:
        """Ask Connect once, and read what is desired when that may have changed. Raises StoreUnavailable."""
        try:
            connect = self.clients.connect(cluster)
            snapshot = self._ask(cluster, connect, view, deadline)
        except HeadgateError as error:
            return TickInput(connect=ConnectSnapshot(unreadable=error.message))
        if cluster.connect_version is None:
            self._complete_registration(cluster, connect, deadline)
        if view.settled:
            return TickInput(connect=snapshot)
        desired = self._desired(cluster.id)
        return TickInput(connect=snapshot, desired=desired, open_operations=tuple(self.operations.open_on(cluster.id)))

    def publish(self, cluster_id: str, stored: ClusterView) -> None:
        """Hand the stored transitions to their consumers, then remove them. If that fails the next tick tries again."""
        if not stored.transitions:
            return
        with isolated():
            for consume in self.consumers:
                consume(cluster_id, stored.transitions)
            self.observations.remove_transitions(cluster_id, stored)

    def carry_out(self, cluster: ConnectCluster, result: TickResult, deadline: Deadline) -> None:
        """Finish overdue operations, then do what the plan says, as far as the deadline allows."""
        operations = OpenOperations(
            operations=self.operations, owners=self.owners, lifecycle=self.lifecycle, clock=self.clock
        )
        for operation in result.overdue:
            operations.roll_forward(operation, deadline)
        executor = PlanExecutor(
            connects=self.connects, owners=self.owners, lifecycle=self.lifecycle, clients=self.clients
        )
        executor.carry_out(cluster, result.plan, result.view.snapshot.desired, deadline)

    def _ask(self, cluster: ConnectCluster, connect: Connect, view: ClusterView, deadline: Deadline) -> ConnectSnapshot:
        """Statuses, and now and then the hashes of configs, when no change of what is desired is being carried out.

        Configs with inline secrets are not read: Headgate hashes the config with references, and stores no hash of a
        secret.
        """
        now, hashes = self.clock(), None
        may_compare = view.settled and cluster.secret_delivery is SecretDelivery.CONFIG_PROVIDER
        comparing = may_compare and compare_due(view.compared_at, len(view.snapshot.observed), now)
        if comparing:
            # Too large for us, or too slow: the statuses alone may still be read, and the configs have to wait.
            with suppress(HeadgateError):
                statuses, hashes = connect.statuses_and_configs(deadline)
        if hashes is None:
            statuses = connect.statuses(deadline)
        return ConnectSnapshot(
            statuses=_ours(statuses, view.snapshot.desired),
            config_hashes=hashes,
            compared_at=now if comparing else view.compared_at,
        )

    def _complete_registration(self, cluster: ConnectCluster, connect: Connect, deadline: Deadline) -> None:
        """Store what could not be read when the cluster was registered. Where that fails, a later tick does it."""
        with suppress(HeadgateError, WriteConflict):
            root = connect.root(deadline)
            self.connects.save_alone(
                replace(cluster, connect_version=root.version, kafka_cluster_id=root.kafka_cluster_id)
            )

    def _desired(self, cluster_id: str) -> dict[str, DesiredConnector]:
        return {
            resource.connector_name: DesiredConnector(
                resource_type=noun,
                resource_id=resource.id,
                desired_state=resource.desired_state,
                config_hash=resource.config_hash,
                restartable=owner.restartable(resource),
            )
            for noun, owner in self.owners.items()
            for resource in owner.store.all_in("connect_cluster_id", cluster_id)
            if resource.desired_state is not DesiredState.DRAFT
        }


def _ours(
    statuses: Mapping[str, ConnectorStatus], desired: Mapping[str, DesiredConnector]
) -> dict[str, ConnectorStatus]:
    """The connectors with names of ours: those desired, then the others in random order.

    A tick handles a bounded number of the others. In a fixed order, connectors of another installation, which are never
    removed, could use up that number in every tick.
    """
    others = shuffled(name for name in statuses if name not in desired and parse_connector_name(name))
    return {name: statuses[name] for name in (*(name for name in statuses if name in desired), *others)}
