"""What a tick does about a plan: a bounded number of things, each by itself, each after one more look.

A plan is made of what was read at little cost and may be a moment old. So nothing is done on the plan's word alone: the
cluster's registration and the resource are read again, consistently, and the connector has to carry our marker.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from chalicelib.clients.connect.client import Connect
from chalicelib.domain.access import SYSTEM, Call
from chalicelib.domain.cluster import ConnectCluster
from chalicelib.domain.connector_config import config_hash
from chalicelib.domain.names import ConnectorKind, parse_connector_name
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.reconcile.plan import Plan
from chalicelib.domain.reconcile.snapshot import Wanted
from chalicelib.errors import HeadgateError
from chalicelib.kit.clock import Deadline
from chalicelib.kit.ids import new_id
from chalicelib.kit.log import failure, get_logger
from chalicelib.services.client_factory import Outside
from chalicelib.services.connectors.actions import Effect, deploy, ours
from chalicelib.services.connectors.lifecycle import Lifecycle
from chalicelib.services.connectors.owner import Family
from chalicelib.stores.clusters import ConnectClusters
from chalicelib.stores.transaction import Transaction

MENDED_PER_TICK = 10
STEP_SECONDS = 20.0
FAMILY_OF = {ConnectorKind.SOURCE: "pipeline", ConnectorKind.SINK: "delivery"}
"""Which family each kind of connector belongs to."""

Act = Callable[[str, Deadline], object]
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mending:
    """Carries out plans."""

    connects: ConnectClusters
    families: Mapping[str, Family[Any]]
    lifecycle: Lifecycle
    outside: Outside

    def carry_out(self, cluster: ConnectCluster, plan: Plan, wanted: Mapping[str, Wanted], deadline: Deadline) -> None:
        """Do what the plan says. Nothing at all when the cluster's registration is no longer what it was made with."""
        if plan.idle:
            return
        current = self.connects.find(cluster.id)
        if current is None or current.version != cluster.version:
            return
        hands = _Hands(connect=self.outside.connect(current), deadline=deadline)
        steps: list[Callable[[], None]] = [
            *(partial(self._create, current, hands, wanted[name]) for name in plan.create),
            *(partial(self._order, hands, hands.connect.resume, name, wanted[name]) for name in plan.resume),
            *(partial(self._order, hands, hands.connect.pause, name, wanted[name]) for name in plan.pause),
            *(partial(self._quarantine, hands, hands.connect.stop, name) for name in plan.stop),
            *(partial(self._quarantine, hands, hands.connect.delete, name) for name in plan.delete),
        ]
        turns = by_lot(steps)[:MENDED_PER_TICK]
        turns += [partial(self._restart, hands, name, wanted[name]) for name in plan.restart]
        for step in turns:
            if deadline.passed:
                return
            with by_itself():
                step()

    def _create(self, cluster: ConnectCluster, hands: "_Hands", wanted: Wanted) -> None:
        """Make a connector again that is wanted and was missing twice, if a direct look agrees that it is."""
        family = self.families[wanted.resource_type]
        resource = self._unheld(wanted)
        if resource is None:
            return
        call = hands.call()
        built, credentials = family.config(resource, family.setting(resource))
        resource = self._note_config(family, resource, config_hash(built))
        config = self.outside.for_connect(cluster, built, credentials)
        name = resource.connector_name
        deploy(Effect(connect=hands.connect, name=name, config=lambda: config, deadline=call.deadline))
        order = hands.connect.pause if resource.desired_state is DesiredState.PAUSED else hands.connect.resume
        order(name, call.deadline)
        self._audit(call, family, "recreate", resource)

    def _note_config(self, family: Family[Any], resource: Any, hashed: str) -> Any:
        """Write down what Connect is about to be given, where it is not what it was given before."""
        if resource.config_hash == hashed:
            return resource
        transaction = Transaction()
        noted = family.rows.save(transaction, replace(resource, config_hash=hashed))
        self.lifecycle.observations.bump(transaction, resource.connect_cluster_id)
        transaction.commit()
        return noted

    def _order(self, hands: "_Hands", act: Act, name: str, wanted: Wanted) -> None:
        """Pause or resume a connector, if that is what people want of it now."""
        resource = self._unheld(wanted)
        if resource is not None and resource.desired_state is wanted.desired_state:
            hands.do(act, name)

    def _restart(self, hands: "_Hands", name: str, wanted: Wanted) -> None:
        """Restart what has failed of a connector that people want to run."""
        resource = self._unheld(wanted)
        if resource is None or resource.desired_state is not DesiredState.RUNNING:
            return
        if hands.do(hands.connect.restart_failed, name):
            self._audit(hands.call(), self.families[wanted.resource_type], "restart_failed", resource)

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

    def _unheld(self, wanted: Wanted) -> Any:
        """The resource as it is now; None when it has no connector, or when an operation holds it."""
        resource = self.families[wanted.resource_type].rows.find(wanted.resource_id)
        if resource is None or resource.open_operation or resource.desired_state is DesiredState.DRAFT:
            return None
        return resource

    def _made(self, resource_id: str) -> bool:
        """Whether this installation has ever had such a resource."""
        trail = self.lifecycle.audit.list(
            limit=1, after=None, resource_id=resource_id, include_related=False, meaningful=None
        )
        return bool(trail.items)

    def _audit(self, call: Call, family: Family[Any], verb: str, resource: Any) -> None:
        self.lifecycle.audit.record_alone(
            call, f"{family.rows.noun}.{verb}", resource.id, parent_id=family.parent_id(resource)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hands:
    """Touches connectors that carry our marker, and no others."""

    connect: Connect
    deadline: Deadline

    def do(self, act: Act, name: str) -> bool:
        """Whether there was such a connector of ours to do it to."""
        held = self.connect.find_config(name, self.deadline)
        if held is None or not ours(name, held):
            return False
        act(name, self.deadline)
        return True

    def call(self) -> Call:
        """Something that Headgate does by itself."""
        return Call(actor=SYSTEM, correlation_id=new_id(), deadline=within(self.deadline))


@contextmanager
def by_itself() -> Iterator[None]:
    """What goes wrong in here stops nothing else of the tick, and is seen again by the next one."""
    try:
        yield
    except HeadgateError:
        return
    except Exception as error:  # noqa: BLE001 - one poisoned step must not take a whole cluster with it
        get_logger().error("a step of the tick failed", extra={"failure": failure(error)})


def within(deadline: Deadline) -> Deadline:
    """How long one step may take."""
    return Deadline.after(deadline.left(STEP_SECONDS))


def by_lot(things: Iterable[T]) -> list[T]:
    """In an order of chance: where only some get their turn, those that always fail must not keep out the others."""
    drawn = list(things)
    random.shuffle(drawn)
    return drawn
