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
from chalicelib.domain.access import SYSTEM, RequestContext
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
from chalicelib.services.client_factory import ClientFactory
from chalicelib.services.connectors.actions import ConnectorAction, deploy, ours
from chalicelib.services.connectors.lifecycle import Lifecycle
from chalicelib.services.connectors.owner import ConnectorOwner
from chalicelib.stores.clusters import ConnectClusters
from chalicelib.stores.transaction import Transaction

MENDED_PER_TICK = 10
STEP_SECONDS = 20.0
OWNER_OF = {ConnectorKind.SOURCE: "pipeline", ConnectorKind.SINK: "delivery"}
"""Which family each kind of connector belongs to."""

Act = Callable[[str, Deadline], object]
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanExecutor:
    """Carries out plans."""

    connects: ConnectClusters
    owners: Mapping[str, ConnectorOwner[Any]]
    lifecycle: Lifecycle
    clients: ClientFactory

    def carry_out(self, cluster: ConnectCluster, plan: Plan, wanted: Mapping[str, Wanted], deadline: Deadline) -> None:
        """Do what the plan says. Nothing at all when the cluster's registration is no longer what it was made with."""
        if plan.idle:
            return
        current = self.connects.find(cluster.id)
        if current is None or current.version != cluster.version:
            return
        connectors = OwnedConnectors(connect=self.clients.connect(current), deadline=deadline)
        steps: list[Callable[[], None]] = [
            *(partial(self._create, current, connectors, wanted[name]) for name in plan.create),
            *(partial(self._order, connectors, connectors.connect.resume, name, wanted[name]) for name in plan.resume),
            *(partial(self._order, connectors, connectors.connect.pause, name, wanted[name]) for name in plan.pause),
            *(partial(self._quarantine, connectors, connectors.connect.stop, name) for name in plan.stop),
            *(partial(self._quarantine, connectors, connectors.connect.delete, name) for name in plan.delete),
        ]
        turns = shuffled(steps)[:MENDED_PER_TICK]
        turns += [partial(self._restart, connectors, name, wanted[name]) for name in plan.restart]
        for step in turns:
            if deadline.passed:
                return
            with isolated():
                step()

    def _create(self, cluster: ConnectCluster, connectors: "OwnedConnectors", wanted: Wanted) -> None:
        """Make a connector again that is wanted and was missing twice, if a direct look agrees that it is."""
        owner = self.owners[wanted.resource_type]
        resource = self._unheld(wanted)
        if resource is None:
            return
        context = connectors.context()
        built = owner.config(resource, owner.load_dependencies(resource))
        resource = self._note_config(owner, resource, config_hash(built.config))
        config = self.clients.for_connect(cluster, built)
        name = resource.connector_name
        deploy(ConnectorAction(connect=connectors.connect, name=name, config=lambda: config, deadline=context.deadline))
        order = connectors.connect.pause if resource.desired_state is DesiredState.PAUSED else connectors.connect.resume
        order(name, context.deadline)
        self._audit(context, owner, "recreate", resource)

    def _note_config(self, owner: ConnectorOwner[Any], resource: Any, hashed: str) -> Any:
        """Write down what Connect is about to be given, where it is not what it was given before."""
        if resource.config_hash == hashed:
            return resource
        transaction = Transaction()
        noted = owner.store.save(transaction, replace(resource, config_hash=hashed))
        self.lifecycle.observations.bump(transaction, resource.connect_cluster_id)
        transaction.commit()
        return noted

    def _order(self, connectors: "OwnedConnectors", act: Act, name: str, wanted: Wanted) -> None:
        """Pause or resume a connector, if that is what people want of it now."""
        resource = self._unheld(wanted)
        if resource is not None and resource.desired_state is wanted.desired_state:
            connectors.do(act, name)

    def _restart(self, connectors: "OwnedConnectors", name: str, wanted: Wanted) -> None:
        """Restart what has failed of a connector that people want to run."""
        resource = self._unheld(wanted)
        if resource is None or resource.desired_state is not DesiredState.RUNNING:
            return
        if connectors.do(connectors.connect.restart_failed, name):
            self._audit(connectors.context(), self.owners[wanted.resource_type], "restart_failed", resource)

    def _quarantine(self, connectors: "OwnedConnectors", act: Act, name: str) -> None:
        """Stop or delete a connector that nobody wants, if a direct look agrees that it was ours and that nobody does.

        A connector that the audit trail has never heard of belongs to another installation on the same workers; one
        that is wanted may be seen here as well because its workers are registered twice.
        """
        parsed = parse_connector_name(name)
        if parsed is None:
            return
        kind, resource_id = parsed
        resource = self.owners[OWNER_OF[kind]].store.find(resource_id)
        wanted = resource and (resource.open_operation or resource.desired_state is not DesiredState.DRAFT)
        if not wanted and self._made(resource_id):
            connectors.do(act, name)

    def _unheld(self, wanted: Wanted) -> Any:
        """The resource as it is now; None when it has no connector, or when an operation holds it."""
        resource = self.owners[wanted.resource_type].store.find(wanted.resource_id)
        if resource is None or resource.open_operation or resource.desired_state is DesiredState.DRAFT:
            return None
        return resource

    def _made(self, resource_id: str) -> bool:
        """Whether this installation has ever had such a resource."""
        trail = self.lifecycle.audit.list(
            limit=1, after=None, resource_id=resource_id, include_related=False, meaningful=None
        )
        return bool(trail.items)

    def _audit(self, context: RequestContext, owner: ConnectorOwner[Any], verb: str, resource: Any) -> None:
        self.lifecycle.audit.record_alone(
            context, f"{owner.store.noun}.{verb}", resource.id, parent_id=owner.parent_id(resource)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnedConnectors:
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

    def context(self) -> RequestContext:
        """Something that Headgate does by itself."""
        return RequestContext(actor=SYSTEM, correlation_id=new_id(), deadline=within(self.deadline))


@contextmanager
def isolated() -> Iterator[None]:
    """What goes wrong in here stops nothing else of the tick, and is seen again by the next one."""
    try:
        yield
    except HeadgateError:
        return
    except Exception as error:  # noqa: BLE001 - one poisoned step must not take a whole cluster with it
        get_logger().error("a step of the tick failed", extra={"failure": failure(error)})


def within(deadline: Deadline) -> Deadline:
    """How long one step may take."""
    return Deadline.after(deadline.remaining(STEP_SECONDS))


def shuffled(things: Iterable[T]) -> list[T]:
    """In an order of chance: where only some get their turn, those that always fail must not keep out the others."""
    drawn = list(things)
    random.shuffle(drawn)
    return drawn
