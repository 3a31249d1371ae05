"""The tick of one Connect cluster: look once, remember what changed, finish what was left open, mend what has drifted.

Level-triggered: it acts on what is, not on what happened. It never touches a connector that does not carry our marker,
and does nothing at all when Connect cannot be read.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from chalicelib.clients.connect import Connect
from chalicelib.domain.access import SYSTEM, Call
from chalicelib.domain.cluster import ConnectCluster
from chalicelib.domain.cluster_view import ClusterView, Remembered, Wanted
from chalicelib.domain.names import ConnectorKind, parse_connector_name
from chalicelib.domain.observation import DesiredState, Observation, observe
from chalicelib.domain.operation import Operation, OperationStep
from chalicelib.domain.reconciliation import Plan, changed, decide
from chalicelib.errors import HeadgateError
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.kit.ids import new_id
from chalicelib.kit.log import failure, get_logger
from chalicelib.services.effects import Effect, deploy, ours
from chalicelib.services.lifecycle import LEASE, Lifecycle, Work
from chalicelib.services.managed import Family
from chalicelib.services.outside import Outside
from chalicelib.stores.clusters import ConnectClusters
from chalicelib.stores.observations import Observations
from chalicelib.stores.operations import Operations
from chalicelib.stores.transaction import Transaction

SETTLED_PER_TICK = 10
MENDED_PER_TICK = 10
_SETTLE_SECONDS = 20.0
_CLUSTERS = 500
FAMILY_OF = {ConnectorKind.SOURCE: "pipeline", ConnectorKind.SINK: "delivery"}
"""Which family each kind of connector belongs to."""

Act = Callable[[str, Deadline], object]
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciler:
    """Ticks."""

    connects: ConnectClusters
    operations: Operations
    observations: Observations
    families: Mapping[str, Family[Any]]
    lifecycle: Lifecycle
    outside: Outside
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
        cluster = self.connects.find(cluster_id)
        if cluster is None:
            return
        view = self.observations.read([cluster_id]).get(cluster_id, ClusterView())
        connect = self.outside.connect(cluster)
        try:
            statuses = connect.statuses(deadline)
        except HeadgateError as error:
            unread = replace(view, unreadable=error.message, observed_at=self.clock())
            self.observations.write(cluster_id, unread, changed=False)
            return
        now = self.clock()
        ours_by_name = [name for name in statuses if parse_connector_name(name)]
        seen = {name: observe(statuses[name], now=now) for name in _by_lot(ours_by_name)}
        self._digest(cluster, connect, view, seen, deadline)

    def _digest(
        self,
        cluster: ConnectCluster,
        connect: Connect,
        view: ClusterView,
        seen: Mapping[str, Observation],
        deadline: Deadline,
    ) -> None:
        before, now = view.remembered, self.clock()
        fresh = view.epoch != before.epoch
        wanted, open_operations = dict(before.wanted), []
        if fresh or before.unsettled:
            wanted = self._wanted(cluster.id)
            open_operations = list(self.operations.open_on(cluster.id))
        busy = {operation.connector_name for operation in open_operations}
        plan = decide(wanted, seen, before, busy=busy, now=now)
        after = Remembered(
            epoch=view.epoch,
            # One more look after each change: the index that `wanted` is read from may lag behind the epoch.
            unsettled=bool(open_operations) or fresh,
            wanted=wanted,
            observed=seen,
            missing=plan.missing,
            misplaced=plan.misplaced,
            strangers=plan.strangers,
        )
        different = changed(before.observed, seen) or replace(after, observed=before.observed) != before
        self.observations.write(
            cluster.id, replace(view, unreadable=None, observed_at=now, remembered=after), changed=different
        )
        for operation in [one for one in open_operations if one.lease_until <= now][:SETTLED_PER_TICK]:
            self.roll_forward(operation, deadline)
        self._mend(cluster, connect, plan, wanted, deadline)

    def roll_forward(self, operation: Operation, deadline: Deadline) -> None:
        """Take the lease of an open operation and finish it from what is observed, if there is time for it.

        What goes wrong is written down by whoever settles the operation, or is tried again when this lease has ended.
        """
        if deadline.passed:
            return
        family = self.families[operation.resource_type]
        call = Call(actor=SYSTEM, correlation_id=operation.correlation_id, deadline=_within(deadline))
        with _by_itself():
            leased = self._lease(operation)
            resource = family.subject(leased)
            if resource is None:
                self._close(leased)
            else:
                setting = family.setting(resource)
                work = Work(
                    call=call, family=family, operation=leased, resource=resource, setting=setting, first=False
                )
                self.lifecycle.carry_out(work)

    def _lease(self, operation: Operation) -> Operation:
        """Raises WriteConflict when another worker was faster."""
        transaction = Transaction()
        leased = self.operations.save(transaction, replace(operation, lease_until=self.clock() + LEASE))
        transaction.commit()
        return leased

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
            for noun, family in self.families.items()
            for resource in family.rows.all_in("connect_cluster_id", cluster_id)
            if resource.desired_state is not DesiredState.DRAFT
        }

    def _mend(
        self, cluster: ConnectCluster, connect: Connect, plan: Plan, wanted: Mapping[str, Wanted], deadline: Deadline
    ) -> None:
        """Do what the plan says, a bounded number of things, each by itself: one that fails stops no other."""
        hands = _Hands(connect=connect, deadline=deadline)
        steps: list[Callable[[], None]] = [
            *(partial(self._create, cluster, connect, wanted[name], deadline) for name in plan.create),
            *(partial(hands.do, connect.resume, name) for name in plan.resume),
            *(partial(hands.do, connect.pause, name) for name in plan.pause),
            *(partial(self._quarantine, hands, connect.stop, name) for name in plan.stop),
            *(partial(self._quarantine, hands, connect.delete, name) for name in plan.delete),
        ]
        for step in _by_lot(steps)[:MENDED_PER_TICK]:
            if deadline.passed:
                return
            with _by_itself():
                step()

    def _create(self, cluster: ConnectCluster, connect: Connect, wanted: Wanted, deadline: Deadline) -> None:
        """Make a connector again that is wanted and was missing twice, if a direct look agrees that it is."""
        family = self.families[wanted.resource_type]
        resource = family.rows.find(wanted.resource_id)
        if resource is None or resource.open_operation or resource.desired_state is DesiredState.DRAFT:
            return

        def config() -> Mapping[str, str]:
            built, credentials = family.config(resource, family.setting(resource))
            return self.outside.for_connect(cluster, built, credentials)

        call = Call(actor=SYSTEM, correlation_id=new_id(), deadline=_within(deadline))
        deploy(Effect(connect=connect, name=resource.connector_name, config=config, deadline=call.deadline))
        order = connect.pause if resource.desired_state is DesiredState.PAUSED else connect.resume
        order(resource.connector_name, call.deadline)
        self.lifecycle.audit.record_alone(call, f"{family.rows.noun}.recreate", resource.id)

    def _quarantine(self, hands: "_Hands", act: Act, name: str) -> None:
        """Stop or delete a connector that nobody wants, if a direct look agrees that it was ours and that nobody does.

        A connector that the audit trail has never heard of belongs to another installation on the same workers; one
        that is wanted may be seen here as well because its workers are registered twice.
        """
        parsed = parse_connector_name(name)
        if parsed is None:
            return
        kind, resource_id = parsed
        resource = self.families[FAMILY_OF[kind]].rows.find(resource_id)
        wanted = resource and (resource.open_operation or resource.desired_state is not DesiredState.DRAFT)
        if not wanted and self._made(resource_id):
            hands.do(act, name)

    def _made(self, resource_id: str) -> bool:
        """Whether this installation has ever had such a resource."""
        trail = self.lifecycle.audit.list(
            limit=1, after=None, resource_id=resource_id, include_related=False, meaningful=None
        )
        return bool(trail.items)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hands:
    """Touches connectors that carry our marker, and no others."""

    connect: Connect
    deadline: Deadline

    def do(self, act: Act, name: str) -> None:
        held = self.connect.find_config(name, self.deadline)
        if held is not None and ours(name, held):
            act(name, self.deadline)


@contextmanager
def _by_itself() -> Iterator[None]:
    """What goes wrong in here stops nothing else of the tick, and is seen again by the next one."""
    try:
        yield
    except HeadgateError:
        return
    except Exception as error:  # noqa: BLE001 - one poisoned operation must not take a whole cluster with it
        get_logger().error("a step of the tick failed", extra={"failure": failure(error)})


def _within(deadline: Deadline) -> Deadline:
    return Deadline.after(deadline.left(_SETTLE_SECONDS))


def _by_lot(things: Iterable[T]) -> list[T]:
    """In an order of chance: where only some get their turn, those that always fail must not keep out the others."""
    drawn = list(things)
    random.shuffle(drawn)
    return drawn
