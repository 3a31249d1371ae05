"""The tick of one Connect cluster, in four steps: look, evaluate, publish, carry out.

Level-triggered: it acts on what is, not on what happened. It never touches a connector that does not carry our marker,
and does nothing at all when Connect cannot be read. Crash safety: `infra/decisions/005-observations.md`.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from chalicelib.clients.connect.client import Connect
from chalicelib.domain.cluster import ChangeKind, ConnectCluster, PendingChanges, SecretDelivery
from chalicelib.domain.connectors.causes import NotedNames
from chalicelib.domain.connectors.cluster import ConnectSnapshot, TickInput, TickResult, evaluate_tick, with_verdicts
from chalicelib.domain.connectors.cluster_view import ClusterView
from chalicelib.domain.connectors.drift import MAX_COMPARED, refresh_due
from chalicelib.domain.connectors.memory import ClusterMemory, DesiredConnector
from chalicelib.domain.connectors.open_incidents import with_open_incidents
from chalicelib.domain.connectors.report import cluster_report, has_changed, report_due
from chalicelib.domain.connectors.transitions import RESOURCE_TYPES, Transition
from chalicelib.domain.monitoring.incident import OPERATIONS, origin_of
from chalicelib.domain.monitoring.progress import findings, is_known, measure_due
from chalicelib.domain.monitoring.report import REPORT_SECONDS, MonitorReport
from chalicelib.domain.names import connector_name, parse_connector_name
from chalicelib.domain.observation import ConnectorStatus, DesiredState
from chalicelib.domain.pipeline import SnapshotMode
from chalicelib.domain.timeline.event import observed_event
from chalicelib.domain.timing import TICK, TICKS_PER_MINUTE
from chalicelib.errors import HeadgateError, StoreUnavailable, TimedOut, UnreadableRow, WriteConflict
from chalicelib.kit.clock import Clock, Deadline, rfc3339
from chalicelib.kit.isolation import isolated
from chalicelib.kit.log import add_to_log, get_logger
from chalicelib.kit.randomness import shuffled
from chalicelib.services.alerts.bus import EventBus
from chalicelib.services.client_factory import ClientFactory
from chalicelib.services.connectors.cause_lookup import CauseLookup
from chalicelib.services.connectors.lifecycle import Lifecycle
from chalicelib.services.connectors.open_operations import OpenOperations
from chalicelib.services.connectors.owner import ConnectorOwner
from chalicelib.services.connectors.workers import fault_of_version, fault_of_workers
from chalicelib.services.incidents import IncidentService
from chalicelib.services.monitors.action_executor import ActionExecutor
from chalicelib.services.monitors.progress_reader import ProgressReader
from chalicelib.services.monitors.reports import Send, send_all
from chalicelib.stores.connectors.group import ConnectorStores
from chalicelib.stores.connectors.observations import TRANSITIONS_WITH_HEAD
from chalicelib.stores.connectors.operations import OpenRows
from chalicelib.stores.resources import ResourceStores
from chalicelib.stores.timeline import Timeline
from chalicelib.stores.unreadable import read_row

_DISPATCH_SECONDS = 40.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """Runs ticks. `send` puts ticks of clusters (their ids) into the queue."""

    resources: ResourceStores
    stores: ConnectorStores
    timeline: Timeline
    owners: Mapping[str, ConnectorOwner[Any]]
    lifecycle: Lifecycle
    clients: ClientFactory
    incidents: IncidentService
    causes: CauseLookup
    progress: ProgressReader
    bus: EventBus
    clock: Clock
    send: Send

    def dispatch(self, *, within_seconds: float = _DISPATCH_SECONDS) -> int:
        """Send each cluster its ticks for the coming minute. See `send_all`."""
        clusters = shuffled(self.resources.connects.ids())
        delays = [int((number * TICK).total_seconds()) for number in range(TICKS_PER_MINUTE)]
        messages = [(cluster_id, delay) for cluster_id in clusters for delay in delays]
        return send_all("ticks", messages, self.send, within_seconds)

    def run(self, cluster_id: str, deadline: Deadline) -> None:
        """One tick of one cluster. Touches nothing when the cluster was deleted, when another tick was faster, or
        during the pause after a look at workers that did not answer.
        """
        cluster, view = self.stores.observations.cluster_and_view(cluster_id, self.resources.connects)
        # The time of an observation is when the look begins: what an operation sees in the meantime is newer.
        now = self.clock()
        if cluster is None:  # it was just deleted, and its alerts are over
            self.bus.publish(MonitorReport(origin=origin_of("connect_cluster", cluster_id), at=now), deadline)
            return
        if view.waits(cluster, now):
            return
        add_to_log(resource_type="connect_cluster", resource_id=cluster.id, resource_name=cluster.name)
        read = self.look(cluster, view, deadline, now)
        if read is None:
            self.stores.observations.write(cluster_id, replace(view, compared_at=now), changed=False)
            return
        if read.desired is not None and view.torn:
            conditions = self.incidents.current_conditions(origin_of("connect_cluster", cluster_id))
            view = with_open_incidents(view, conditions, read.desired, now)
        result = evaluate_tick(view, self._with_progress(cluster, view, read, deadline, now), now=now)
        stored = self.store(cluster_id, view, result, deadline)
        if stored is None:
            return  # Another tick acts, and what this one has read is out of date.
        for kind in ChangeKind:
            if (pending := stored.waiting(kind)) and not view.waiting(kind):
                log_pending(cluster_id, kind, pending)
        if not view.settled:  # the alerts of an operation that was just settled must not wait for the schedule
            operations = MonitorReport(origin=OPERATIONS, at=self.clock(), looked_at=frozenset(), repeated=True)
            with isolated():
                self.bus.publish(operations, Deadline.after(REPORT_SECONDS))
        self.carry_out(cluster, result, self.report(cluster_id, stored), deadline)

    def store(self, cluster_id: str, view: ClusterView, result: TickResult, deadline: Deadline) -> ClusterView | None:
        """Store what the tick saw with what has changed; the view as stored, None when another tick was faster.

        A report about changes is due until it was recorded: a process that dies before that leaves it to the next tick.
        """
        after, now = result.view, result.view.observed_at
        if has_changed(cluster_id, view, after):
            after = replace(after, reported_at=None)
        elif now and report_due(view, now) and view.reported_at:
            after = replace(after, reported_at=now)
        rows = self.timeline.rows(observed_event(cluster_id, transition) for transition in result.transitions)
        stored = self.stores.observations.write(
            cluster_id, after, changed=result.changed, transitions=rows[:TRANSITIONS_WITH_HEAD]
        )
        if stored and rows:
            log_transitions(cluster_id, result.transitions)
            with isolated():
                self.timeline.write(rows[TRANSITIONS_WITH_HEAD:], deadline)
                self.timeline.trim(shuffled(rows)[0], deadline)
        return stored

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
        if _asks_workers(cluster, view, snapshot):
            snapshot = self._with_workers(cluster, connect, snapshot, deadline)
        # While nothing has changed, the memory has what is desired. It is read with the configs, as the index may lag.
        if view.settled and snapshot.compared_at != now:
            return TickInput(connect=snapshot)
        desired, unreadable = self._desired(cluster.id, deadline)
        opened = OpenRows() if view.settled else self.stores.operations.open_on(cluster.id)
        # One of them may be about any connector, also one that it is about to make desired.
        of_any = (name for name in snapshot.statuses if name not in desired and None in opened.unreadable)
        return TickInput(
            connect=snapshot,
            desired=desired,
            open_operations=opened.operations,
            unreadable=frozenset({*unreadable, *filter(None, opened.unreadable), *of_any}),
        )

    def _with_progress(
        self, cluster: ConnectCluster, view: ClusterView, read: TickInput, deadline: Deadline, now: datetime
    ) -> TickInput:
        """With what a measurement finds, if one is due. What it cannot tell of a connector stays as it was.

        After the memory was lost one is due at once: what the incidents say may be over.
        """
        desired = view.memory.desired if read.desired is None else read.desired
        due = read.desired is not None if view.torn else measure_due(view.observed_at, now)
        if not due:
            return read
        statuses = None if read.connect.unreadable else read.connect.statuses
        with isolated():
            measured = self.progress.measure(cluster, desired, statuses, deadline, now)
            if measured is not None:
                progress = {
                    name: findings(measurement, now) if is_known(measurement, now) else view.memory.of(name).findings
                    for name, measurement in measured.items()
                }
                return replace(read, progress=progress)
        return read

    def report(self, cluster_id: str, stored: ClusterView) -> ClusterView:
        """Publish what is wrong, if that is due; the view as it is stored then. What was not recorded is published by
        the next tick again.
        """
        at = stored.observed_at
        if at is None or stored.reported_at not in (None, at):
            return stored
        with isolated():
            recorded = self.bus.publish(cluster_report(cluster_id, stored), Deadline.after(REPORT_SECONDS))
            if recorded and stored.reported_at is None:
                return self.stores.observations.reported(cluster_id, stored)
            if not recorded and stored.reported_at:
                self.stores.observations.report_again(cluster_id, stored)
        return stored

    def carry_out(self, cluster: ConnectCluster, result: TickResult, stored: ClusterView, deadline: Deadline) -> None:
        """Finish overdue operations, then carry out the actions of this tick, as far as the deadline allows.

        The owners of orphans that were looked up are stored, unless another tick was faster: it looks them up again.
        """
        operations = OpenOperations(owners=self.owners, lifecycle=self.lifecycle)
        for operation in result.overdue:
            operations.roll_forward(operation, deadline)
        executor = ActionExecutor(connects=self.resources.connects, owners=self.owners, lifecycle=self.lifecycle)
        verdicts = executor.carry_out(cluster, result.actions, stored.memory, deadline)
        if verdicts and (judged := with_verdicts(stored.memory, verdicts, self.clock())) != stored.memory:
            self.stores.observations.write(cluster.id, replace(stored, memory=judged), changed=True)

    def _ask(
        self, cluster: ConnectCluster, connect: Connect, view: ClusterView, deadline: Deadline, now: datetime
    ) -> ConnectSnapshot | None:
        """Statuses, and now and then the hashes of configs, when no change of what is desired is being carried out;
        None when these took too long: workers that hang must not cost a second time-out.

        Configs with inline secrets are not read: Headgate hashes the config with references, and stores no hash of a
        secret.
        """
        configs, known, noted = None, view.memory.observed, NotedNames()
        refreshing = view.settled and view.unreadable is None and refresh_due(view.compared_at, now)
        if refreshing and known <= MAX_COMPARED and cluster.secret_delivery is SecretDelivery.CONFIG_PROVIDER:
            try:
                statuses, configs = connect.statuses_and_configs(deadline, noted.note)
            except TimedOut:
                return None
            except HeadgateError:
                configs = None  # Too large for us: the statuses alone can still be read, and the configs have to wait.
        if configs is None:
            statuses = connect.statuses(deadline, noted.note)
        is_ours, listed = self.clients.is_ours, configs or {}
        return ConnectSnapshot(
            statuses=self.causes.found(_ours(statuses, view.memory), noted, view.memory, deadline),
            config_hashes=None if configs is None else {name: config.hash for name, config in listed.items()},
            foreign=frozenset(name for name, config in listed.items() if not is_ours(name, config.marks)),
            compared_at=now if refreshing else view.compared_at,
        )

    def _with_workers(
        self, cluster: ConnectCluster, connect: Connect, snapshot: ConnectSnapshot, deadline: Deadline
    ) -> ConnectSnapshot:
        """With what is wrong with the workers themselves. What the registration does not have yet is stored, once."""
        with suppress(HeadgateError, WriteConflict):  # a later tick does it
            root = connect.root(deadline)
            fault = fault_of_workers(cluster, root)
            snapshot = replace(snapshot, knows_workers=True, fault=fault)
            kafka_cluster_id = cluster.kafka_cluster_id or root.kafka_cluster_id
            completed = replace(cluster, connect_version=root.version, kafka_cluster_id=kafka_cluster_id)
            if completed != cluster:
                self.resources.connects.save_alone(completed)
        return snapshot

    def _desired(self, cluster_id: str, deadline: Deadline) -> tuple[dict[str, DesiredConnector], set[str]]:
        """What should exist on a cluster, of each resource only what that takes; and the connectors of which that
        cannot be read. Raises TimedOut.
        """
        desired, unreadable = dict[str, DesiredConnector](), set[str]()
        for kind, noun in RESOURCE_TYPES.items():
            for resource_id, columns in self.owners[noun].store.columns_in("connect_cluster_id", cluster_id, deadline):
                name = connector_name(kind, resource_id)
                try:
                    connector = read_row(noun, resource_id, partial(desired_connector, noun, resource_id, columns))
                except UnreadableRow:
                    unreadable.add(name)
                else:
                    if connector is not None:
                        desired[name] = connector
        return desired, unreadable


def desired_connector(
    resource_type: str, resource_id: str, columns: Mapping[str, str | None]
) -> DesiredConnector | None:
    """The connector that a resource with these columns should have; None for a draft. Raises ValueError."""
    desired_state = DesiredState(columns["desired_state"] or DesiredState.DRAFT)
    if desired_state is DesiredState.DRAFT:
        return None
    return DesiredConnector(
        resource_type=resource_type,
        resource_id=resource_id,
        desired_state=desired_state,
        config_hash=columns["config_hash"],
        # Each start of such a connector reads the whole source again.
        restartable=SnapshotMode(columns.get("snapshot_mode") or SnapshotMode.INITIAL) is not SnapshotMode.ALWAYS,
        tasks=int(columns.get("expected_tasks") or 1),
    )


def _asks_workers(cluster: ConnectCluster, view: ClusterView, snapshot: ConnectSnapshot) -> bool:
    """Whether the workers have to say who they are: something may be created on them, or they were not known, or not
    the right ones, before.
    """
    if cluster.connect_version is None or view.fault or fault_of_version(cluster.connect_version):
        return True
    return any(name not in snapshot.statuses for name in view.memory.desired)


def log_transitions(cluster_id: str, transitions: Sequence[Transition]) -> None:
    for transition in transitions:
        resource_type, resource_id = transition.resource_on(cluster_id)
        details = {"connect_cluster_id": cluster_id, "resource_type": resource_type, "resource_id": resource_id}
        details |= {name: getattr(transition, name) for name in ("connector", "before", "after", "kinds", "reasons")}
        details["at"] = rfc3339(transition.at)
        get_logger().info("observed state changed", extra=details)


def log_pending(cluster_id: str, kind: ChangeKind, pending: PendingChanges) -> None:
    details = {"connect_cluster_id": cluster_id, "kind": kind, "count": pending.count, "connectors": pending.names}
    get_logger().warning("changes wait for the confirmation of an Admin", extra=details)


def _ours(statuses: Mapping[str, ConnectorStatus], memory: ClusterMemory) -> dict[str, ConnectorStatus]:
    """The connectors with names of ours: those desired, then the others in random order."""
    desired = memory.desired
    # A tick handles a bounded number of the others: in a fixed order, those that always fail would exclude the rest.
    others = shuffled(name for name in statuses if name not in desired and parse_connector_name(name))
    return {name: statuses[name] for name in (*(name for name in statuses if name in desired), *others)}
