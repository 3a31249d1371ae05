"""The tick of one Connect cluster: look once, remember what changed, finish what was left open, mend what has drifted.

Level-triggered: it acts on what is, not on what happened. It never touches a connector that does not carry our marker,
and does nothing at all when Connect cannot be read.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from chalicelib.clients.connect.client import Connect
from chalicelib.domain.access import SYSTEM, RequestContext
from chalicelib.domain.cluster import ConnectCluster, SecretDelivery
from chalicelib.domain.lease import abandoned
from chalicelib.domain.names import parse_connector_name
from chalicelib.domain.observation import ConnectorStatus, DesiredState, observe_again
from chalicelib.domain.operation import MOST_DEFECTS, Operation, OperationStep
from chalicelib.domain.reconcile.drift import SUSPECT_EVERY, compare_due, suspicious
from chalicelib.domain.reconcile.plan import Plan, annotated, changed, decide
from chalicelib.domain.reconcile.snapshot import ClusterSnapshot, ClusterView, Wanted
from chalicelib.errors import HeadgateError, WriteConflict
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.kit.log import failure, get_logger
from chalicelib.services.client_factory import ClientFactory
from chalicelib.services.connectors.lifecycle import LEASE, Lifecycle, OperationRun
from chalicelib.services.connectors.owner import ConnectorOwner
from chalicelib.services.connectors.plan_executor import PlanExecutor, isolated, shuffled, within
from chalicelib.stores.clusters import ConnectClusters
from chalicelib.stores.leases import take_lease
from chalicelib.stores.observations import Observations
from chalicelib.stores.operations import Operations
from chalicelib.stores.transaction import Transaction

SETTLED_PER_TICK = 10
_CLUSTERS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectSnapshot:
    """What Connect has just told: every connector's status, and the hashes of configs, when it was asked for those.

    `compared_at` is when it was last asked for them.
    """

    statuses: Mapping[str, ConnectorStatus]
    config_hashes: Mapping[str, str] | None
    compared_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciler:
    """Ticks."""

    connects: ConnectClusters
    operations: Operations
    observations: Observations
    owners: Mapping[str, ConnectorOwner[Any]]
    lifecycle: Lifecycle
    clients: ClientFactory
    clock: Clock
    ring: Callable[[str, int], None]

    def dispatch(self, spacing_seconds: int = 10, per_minute: int = 6) -> int:
        """Send each cluster its ticks for the coming minute; returns how many messages went out."""
        clusters = self.connects.list(limit=_CLUSTERS).items
        for cluster in clusters:
            for number in range(per_minute):
                self.ring(cluster.id, number * spacing_seconds)
        return len(clusters) * per_minute

    def tick(self, cluster_id: str, deadline: Deadline) -> None:
        """One look at one cluster, and what follows from it."""
        cluster, view = self.observations.look(cluster_id, self.connects)
        if cluster is None:
            return
        try:
            connect = self.clients.connect(cluster)
            sight = self._look(cluster, connect, view, deadline)
        except HeadgateError as error:
            unread = replace(view, unreadable=error.message, observed_at=self.clock())
            self.observations.write(cluster_id, unread, changed=False)
            return
        if cluster.connect_version is None:
            self._recognise(cluster, connect, deadline)
        self._digest(cluster, view, sight, deadline)

    def _recognise(self, cluster: ConnectCluster, connect: Connect, deadline: Deadline) -> None:
        """Fill in what could not be learnt when it was registered. Who cannot tell now, or lost a race, tells later."""
        with suppress(HeadgateError, WriteConflict):
            root, transaction = connect.root(deadline), Transaction()
            known = replace(cluster, connect_version=root.version, kafka_cluster_id=root.kafka_cluster_id)
            self.connects.save(transaction, known)
            transaction.commit()

    def _look(
        self, cluster: ConnectCluster, connect: Connect, view: ClusterView, deadline: Deadline
    ) -> ConnectSnapshot:
        """One question to Connect. Configs are asked for now and then, when nothing that people want is on its way.

        Where secrets stand in configs themselves, those are not asked for: what Headgate gave can only be told from
        references, and no hash of a secret may be kept.
        """
        now = self.clock()
        may_compare = view.settled and cluster.secret_delivery is SecretDelivery.CONFIG_PROVIDER
        if not (may_compare and compare_due(view.compared_at, len(view.snapshot.observed), now)):
            return ConnectSnapshot(
                statuses=connect.statuses(deadline), config_hashes=None, compared_at=view.compared_at
            )
        try:
            statuses, hashes = connect.statuses_and_configs(deadline)
        except HeadgateError:
            # Too large for us, or too slow; the statuses alone may still be had. The configs have to wait.
            return ConnectSnapshot(statuses=connect.statuses(deadline), config_hashes=None, compared_at=now)
        return ConnectSnapshot(statuses=statuses, config_hashes=hashes, compared_at=now)

    def _digest(self, cluster: ConnectCluster, view: ClusterView, sight: ConnectSnapshot, deadline: Deadline) -> None:
        before, now = view.snapshot, self.clock()
        known = [name for name in sight.statuses if name in before.wanted]
        # Only what nobody may want is drawn by lot: of that, a bounded number gets its turn.
        others = shuffled(name for name in sight.statuses if name not in before.wanted and parse_connector_name(name))
        statuses, observed = sight.statuses, before.observed
        seen = {name: observe_again(observed.get(name), statuses[name], now=now) for name in (*known, *others)}
        wanted, open_operations = dict(before.wanted), []
        if not view.settled:
            wanted = self._wanted(cluster.id)
            open_operations = list(self.operations.open_on(cluster.id))
        busy = {operation.connector_name for operation in open_operations}
        plan = decide(wanted, seen, before, busy=busy, now=now, held=sight.config_hashes)
        after = ClusterSnapshot(
            epoch=view.epoch,
            # One more look after each change: the index that `wanted` is read from may lag behind the epoch.
            unsettled=bool(open_operations) or view.epoch != before.epoch,
            wanted=wanted,
            observed=annotated(seen, plan),
            missing=plan.missing,
            wrong_state=plan.wrong_state,
            orphans=plan.orphans,
            restarts=plan.restarts,
            drifted=plan.drifted,
        )
        moved = changed(before.observed, after.observed)
        different = moved or replace(after, observed=before.observed) != before
        suspect = moved and view.settled and suspicious(before.observed, seen)
        mended = bool(plan.drifted) and not view.settled
        compared_at = None if mended or _compare_soon(sight, plan, now, suspect=suspect) else sight.compared_at
        noted = replace(view, unreadable=None, observed_at=now, compared_at=compared_at, snapshot=after)
        if not self.observations.write(cluster.id, noted, changed=different):
            return  # Another tick was faster: it acts, and what this one knew was no longer true.
        for operation in abandoned(open_operations, now, limit=SETTLED_PER_TICK):
            self.roll_forward(operation, deadline)
        self._mending.carry_out(cluster, plan, wanted, deadline)

    @property
    def _mending(self) -> PlanExecutor:
        return PlanExecutor(connects=self.connects, owners=self.owners, lifecycle=self.lifecycle, clients=self.clients)

    def roll_forward(self, operation: Operation, deadline: Deadline) -> None:
        """Take the lease of an open operation and finish it from what is observed, if there is time for it.

        What goes wrong is written down by whoever settles the operation, or is tried again when this lease has ended.
        A bug of ours is not tried for ever: see `MOST_DEFECTS`.
        """
        if deadline.passed:
            return
        with isolated():
            leased = take_lease(self.operations, operation, self.clock() + LEASE)
            try:
                self._finish(leased, deadline)
            except HeadgateError:
                return
            except Exception as error:  # noqa: BLE001 - one poisoned operation must not take a whole cluster with it
                get_logger().error("an operation could not be finished", extra={"failure": failure(error)})
                self._count_defect(leased, deadline)

    def _finish(self, leased: Operation, deadline: Deadline) -> None:
        run = self._work(leased, deadline)
        if run is None:
            self._close(leased)
        else:
            self.lifecycle.carry_out(run)

    def _work(self, operation: Operation, deadline: Deadline) -> OperationRun[Any] | None:
        """What is left to do; None when nothing is left that the operation could be about."""
        owner = self.owners[operation.resource_type]
        resource = owner.load(operation)
        if resource is None:
            return None
        return OperationRun(
            context=RequestContext(actor=SYSTEM, correlation_id=operation.correlation_id, deadline=within(deadline)),
            owner=owner,
            operation=operation,
            resource=resource,
            deps=owner.load_dependencies(resource),
            first_attempt=False,
        )

    def _count_defect(self, leased: Operation, deadline: Deadline) -> None:
        """Settle the operation as failed when a bug has spoilt it often enough; whoever looks next mends what is left.

        A connector that a failed deploy has left behind is a stranger, and goes its way.
        """
        stored = self.operations.get(leased.id)
        if stored.step.settled:
            return
        counted = replace(stored, defects=stored.defects + 1)
        if counted.defects >= MOST_DEFECTS and (run := self._work(counted, deadline)):
            error = HeadgateError("A defect of Headgate stopped this. Its log holds the details.")
            self.lifecycle.settle_failed(run, error)
            return
        transaction = Transaction()
        self.operations.save(transaction, counted)
        transaction.commit()

    def _close(self, operation: Operation) -> None:
        """Nothing is left that the operation could be about."""
        transaction = Transaction()
        self.operations.save(transaction, replace(operation, step=OperationStep.FAILED, finished_at=self.clock()))
        transaction.commit()

    def _wanted(self, cluster_id: str) -> dict[str, Wanted]:
        return {
            resource.connector_name: Wanted(
                resource_type=noun,
                resource_id=resource.id,
                desired_state=resource.desired_state,
                config_hash=resource.config_hash,
            )
            for noun, owner in self.owners.items()
            for resource in owner.store.all_in("connect_cluster_id", cluster_id)
            if resource.desired_state is not DesiredState.DRAFT
        }


def _compare_soon(sight: ConnectSnapshot, plan: Plan, now: datetime, *, suspect: bool) -> bool:
    """Whether the next look is to compare configs: to confirm what was found, or because somebody was at work."""
    if sight.config_hashes is not None and not all(drift.confirmed for drift in plan.drifted.values()):
        return True
    return suspect and sight.compared_at is not None and now - sight.compared_at >= SUSPECT_EVERY
