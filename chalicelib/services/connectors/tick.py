"""The tick of one Connect cluster, in five steps: look, digest, publish, carry out, report to alerting.

Level-triggered: it acts on what is, not on what happened. It never touches a connector that does not carry our marker,
and does nothing at all when Connect cannot be read. Crash safety: `infra/decisions/005-observations.md`.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from chalicelib.alerting.bus import EventBus
from chalicelib.clients.connect.client import Connect
from chalicelib.domain.alerts.event import REPORT_SECONDS
from chalicelib.domain.cluster import ConnectCluster, PendingDeletions, SecretDelivery
from chalicelib.domain.monitoring.incident import origin_of
from chalicelib.domain.monitoring.progress import findings, is_known, measure_due
from chalicelib.domain.names import connector_name, parse_connector_name
from chalicelib.domain.observation import ConnectorStatus, DesiredState
from chalicelib.domain.pipeline import SnapshotMode
from chalicelib.domain.reconcile.digest import TickResult, digest, with_verdicts
from chalicelib.domain.reconcile.drift import MAX_COMPARED, refresh_due
from chalicelib.domain.reconcile.open_incidents import with_open_incidents
from chalicelib.domain.reconcile.report import cluster_report, report_due
from chalicelib.domain.reconcile.snapshot import ClusterView, ConnectSnapshot, DesiredConnector, TickInput
from chalicelib.domain.reconcile.transitions import RESOURCE_TYPES, Transition
from chalicelib.errors import HeadgateError, StoreUnavailable, TimedOut, WriteConflict
from chalicelib.kit.clock import Clock, Deadline, rfc3339
from chalicelib.kit.log import get_logger
from chalicelib.services.client_factory import ClientFactory
from chalicelib.services.connectors.lifecycle import Lifecycle
from chalicelib.services.connectors.open_operations import OpenOperations
from chalicelib.services.connectors.owner import ConnectorOwner
from chalicelib.services.connectors.plan_executor import PlanExecutor, isolated, shuffled
from chalicelib.services.connectors.progress_reader import ProgressReader
from chalicelib.services.incidents import IncidentService
from chalicelib.stores.clusters import ConnectClusters
from chalicelib.stores.observations import Observations
from chalicelib.stores.operations import Operations

_DISPATCH_SECONDS = 40.0

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
    incidents: IncidentService
    progress: ProgressReader
    bus: EventBus
    clock: Clock
    send: Callable[[str, int], None]
    consumers: Sequence[Consumer] = (log_transitions,)

    def dispatch(
        self, spacing_seconds: int = 10, per_minute: int = 6, *, within_seconds: float = _DISPATCH_SECONDS
    ) -> int:
        """Send each cluster its ticks for the coming minute; returns how many messages were sent.

        A message that is refused does not stop the others. Raises StoreUnavailable at the end when some were not sent.
        """
        deadline = Deadline.after(within_seconds)
        clusters = [cluster.id for cluster in self.connects.all()]
        sent = 0
        for cluster_id in shuffled(clusters):
            for number in range(per_minute):
                if deadline.passed:
                    break
                with suppress(StoreUnavailable):
                    self.send(cluster_id, number * spacing_seconds)
                    sent += 1
        if missing := len(clusters) * per_minute - sent:
            raise StoreUnavailable(f"{missing} of {len(clusters) * per_minute} messages for ticks were not sent.")
        return sent

    def run(self, cluster_id: str, deadline: Deadline) -> None:
        """One tick of one cluster. Does nothing when the cluster was deleted, when another tick was faster, or during
        the pause after a look at workers that did not answer.
        """
        cluster, view = self.observations.cluster_and_view(cluster_id, self.connects)
        # The time of an observation is when the look begins: what an operation sees in the meantime is newer.
        now = self.clock()
        if cluster is None or (view.next_look_at and now < view.next_look_at):
            return
        read = self.look(cluster, view, deadline, now)
        if read is None:
            self.observations.write(cluster_id, replace(view, compared_at=now), changed=False)
            return
        if read.desired is not None and (view.torn or read.connect.compared_at == now):
            conditions = self.incidents.current_conditions(origin_of("connect_cluster", cluster_id))
            view = with_open_incidents(view, conditions, read.desired, now)
        result = digest(cluster_id, view, self._with_progress(cluster, view, read, deadline, now), now=now)
        due = report_due(result.view, now)
        noted = replace(result.view, reported_at=now) if due else result.view
        stored = self.observations.write(cluster_id, noted, changed=result.changed)
        if stored is None:
            return  # Another tick acts, and what this one has read is out of date.
        if stored.pending and not view.pending:
            log_pending(cluster_id, stored.pending)
        stored = self.publish(cluster_id, stored, deadline)
        try:
            self.carry_out(cluster, result, stored, deadline)
        finally:
            if due:
                self.report(cluster_id, stored)

    def look(self, cluster: ConnectCluster, view: ClusterView, deadline: Deadline, now: datetime) -> TickInput | None:
        """Ask Connect once, and read what is desired when that may have changed; None when configs took too long, and
        the next tick has to ask without them. Raises StoreUnavailable: that our own store does not answer, or holds
        another secret, says nothing about Connect.
        """
        try:
            connect = self.clients.connect(cluster)
            snapshot = self._ask(cluster, connect, view, deadline, now)
        except StoreUnavailable:
            raise
        except HeadgateError as error:
            return TickInput(connect=ConnectSnapshot(unreadable=error.message))
        if snapshot is None:
            return None
        if cluster.connect_version is None:
            self._complete_registration(cluster, connect, deadline)
        if view.settled and snapshot.compared_at != now:
            return TickInput(connect=snapshot)
        desired = self._desired(cluster.id, deadline)
        operations = () if view.settled else tuple(self.operations.open_on(cluster.id))
        return TickInput(connect=snapshot, desired=desired, open_operations=operations)

    def _with_progress(
        self, cluster: ConnectCluster, view: ClusterView, read: TickInput, deadline: Deadline, now: datetime
    ) -> TickInput:
        """With what a measurement finds, if one is due. What it cannot tell of a connector stays as it was.

        After a snapshot was lost one is due at once: what the incidents say may be over.
        """
        desired, earlier = view.snapshot.desired if read.desired is None else read.desired, view.snapshot.progress
        due = read.desired is not None if view.torn else measure_due(view.observed_at, now)
        if not due:
            return read
        statuses = None if read.connect.unreadable else read.connect.statuses
        with isolated():
            measured = self.progress.measure(cluster, desired, statuses, deadline, now)
            if measured is not None:
                found = {
                    name: findings(one, now) if is_known(one, now) else earlier.get(name, ())
                    for name, one in measured.items()
                }
                return replace(read, progress=found)
        return read

    def publish(self, cluster_id: str, stored: ClusterView, deadline: Deadline) -> ClusterView:
        """Hand the stored transitions to their consumers and the signals to the incidents, then remove them; the view
        as it is stored then. If that fails the next tick tries again.
        """
        if stored.has_unpublished:
            with isolated():
                for consume in self.consumers if stored.transitions else ():
                    consume(cluster_id, stored.transitions)
                self._publish_incidents(cluster_id, stored, deadline)
                return self.observations.remove_published(cluster_id, stored)
        return stored

    def _publish_incidents(self, cluster_id: str, stored: ClusterView, deadline: Deadline) -> None:
        origin = origin_of("connect_cluster", cluster_id)
        self.incidents.publish(origin, stored.signals, deadline, compared=stored.torn)

    def carry_out(self, cluster: ConnectCluster, result: TickResult, stored: ClusterView, deadline: Deadline) -> None:
        """Finish overdue operations, then do what the plan says, as far as the deadline allows.

        What is found out about orphans is stored, unless another tick was faster: then it is found out again.
        """
        operations = OpenOperations(
            operations=self.operations, owners=self.owners, lifecycle=self.lifecycle, clock=self.clock
        )
        for operation in result.overdue:
            operations.roll_forward(operation, deadline)
        executor = PlanExecutor(
            connects=self.connects, owners=self.owners, lifecycle=self.lifecycle, clients=self.clients
        )
        verdicts = executor.carry_out(cluster, result.plan, stored.snapshot.desired, deadline)
        if verdicts and (judged := with_verdicts(stored.snapshot, verdicts, self.clock())) != stored.snapshot:
            self.observations.write(cluster.id, replace(stored, snapshot=judged), changed=True)

    def report(self, cluster_id: str, stored: ClusterView) -> None:
        """Report what is wrong to alerting; the next tick does it again when not everything was recorded."""
        with isolated():
            if not self.bus.publish(cluster_report(cluster_id, stored), Deadline.after(REPORT_SECONDS)):
                self.observations.report_again(cluster_id, stored)

    def _ask(
        self, cluster: ConnectCluster, connect: Connect, view: ClusterView, deadline: Deadline, now: datetime
    ) -> ConnectSnapshot | None:
        """Statuses, and now and then the hashes of configs, when no change of what is desired is being carried out;
        None when these took too long: workers that hang must not cost a second time-out.

        Configs with inline secrets are not read: Headgate hashes the config with references, and stores no hash of a
        secret.
        """
        hashes, known = None, len(view.snapshot.observed)
        refreshing = view.settled and view.unreadable is None and refresh_due(view.compared_at, now)
        if refreshing and known <= MAX_COMPARED and cluster.secret_delivery is SecretDelivery.CONFIG_PROVIDER:
            try:
                statuses, hashes = connect.statuses_and_configs(deadline)
            except TimedOut:
                return None
            except HeadgateError:
                hashes = None  # Too large for us: the statuses alone can still be read, and the configs have to wait.
        if hashes is None:
            statuses = connect.statuses(deadline)
        return ConnectSnapshot(
            statuses=_ours(statuses, view.snapshot.desired),
            config_hashes=hashes,
            compared_at=now if refreshing else view.compared_at,
        )

    def _complete_registration(self, cluster: ConnectCluster, connect: Connect, deadline: Deadline) -> None:
        """Store what could not be read when the cluster was registered. Where that fails, a later tick does it."""
        with suppress(HeadgateError, WriteConflict):
            root = connect.root(deadline)
            self.connects.save_alone(
                replace(cluster, connect_version=root.version, kafka_cluster_id=root.kafka_cluster_id)
            )

    def _desired(self, cluster_id: str, deadline: Deadline) -> dict[str, DesiredConnector]:
        """What should exist on a cluster, of each resource only what that takes. Raises TimedOut."""
        return {
            connector_name(kind, resource_id): DesiredConnector(
                resource_type=noun,
                resource_id=resource_id,
                desired_state=DesiredState(columns["desired_state"] or DesiredState.DRAFT),
                config_hash=columns["config_hash"],
                # Each start of such a connector reads the whole source again.
                restartable=columns.get("snapshot_mode") != SnapshotMode.ALWAYS,
                tasks=int(columns.get("expected_tasks") or 1),
            )
            for kind, noun in RESOURCE_TYPES.items()
            for resource_id, columns in self.owners[noun].store.columns_in("connect_cluster_id", cluster_id, deadline)
            if columns["desired_state"] != DesiredState.DRAFT
        }


def log_pending(cluster_id: str, pending: PendingDeletions) -> None:
    """One line, when deletions begin to wait for a confirmation."""
    details = {"connect_cluster_id": cluster_id, "count": pending.count, "connectors": pending.names}
    get_logger().warning("deletions wait for the confirmation of an Admin", extra=details)


def _ours(
    statuses: Mapping[str, ConnectorStatus], desired: Mapping[str, DesiredConnector]
) -> dict[str, ConnectorStatus]:
    """The connectors with names of ours: those desired, then the others in random order.

    A tick handles a bounded number of the others: in a fixed order, those that always fail would exclude the rest.
    """
    others = shuffled(name for name in statuses if name not in desired and parse_connector_name(name))
    return {name: statuses[name] for name in (*(name for name in statuses if name in desired), *others)}
