"""Carries out the plan of a tick: a bounded number of isolated steps.

A plan is made from reads that may be out of date. So before each step the cluster's registration and the resource are
read again, consistently, and the connector has to carry our owner marker.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from chalicelib.clients.connect.client import Connect
from chalicelib.domain.access import SYSTEM, RequestContext
from chalicelib.domain.cluster import ConnectCluster
from chalicelib.domain.names import parse_connector_name
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.operation import OperationKind
from chalicelib.domain.reconcile.orphans import Verdict
from chalicelib.domain.reconcile.plan import Plan
from chalicelib.domain.reconcile.snapshot import DesiredConnector
from chalicelib.domain.reconcile.transitions import RESOURCE_TYPES
from chalicelib.errors import HeadgateError
from chalicelib.kit.clock import Deadline
from chalicelib.kit.ids import new_id
from chalicelib.kit.log import failure, get_logger
from chalicelib.services.client_factory import ClientFactory
from chalicelib.services.connectors.actions import ours
from chalicelib.services.connectors.lifecycle import Lifecycle
from chalicelib.services.connectors.operation_run import NO_PARAMETERS
from chalicelib.services.connectors.owner import ConnectorOwner
from chalicelib.stores.clusters import ConnectClusters

STEPS_PER_TICK = 10
"""Steps of one kind: changes of the state of connectors, and removals of orphans. Re-creations and restarts have bounds
of their own in the plan (`CREATED_PER_TICK`, `RESTARTED_PER_TICK`).
"""

STEP_SECONDS = 20.0

Act = Callable[[str, Deadline], object]
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanExecutor:
    """Carries out plans."""

    connects: ConnectClusters
    owners: Mapping[str, ConnectorOwner[Any]]
    lifecycle: Lifecycle
    clients: ClientFactory

    def carry_out(
        self, cluster: ConnectCluster, plan: Plan, desired: Mapping[str, DesiredConnector], deadline: Deadline
    ) -> Mapping[str, Verdict]:
        """Do what the plan says; nothing when the cluster's registration has changed since it was made.

        Repairs come first and have their own bounds, so that nothing that belongs to others can delay them. The result
        is whose the orphans are that had to be looked up.
        """
        verdicts: dict[str, Verdict] = {}
        if plan.idle:
            return verdicts
        current = self.connects.find(cluster.id)
        if current is None or current.version != cluster.version:
            return verdicts
        owned = OwnedConnectors(connect=self.clients.connect(current), deadline=deadline)
        for step in self._steps(cluster, owned, plan, desired, verdicts):
            if deadline.passed:
                break
            with isolated():
                step()
        return verdicts

    def _steps(
        self,
        cluster: ConnectCluster,
        owned: "OwnedConnectors",
        plan: Plan,
        desired: Mapping[str, DesiredConnector],
        verdicts: dict[str, Verdict],
    ) -> Iterable[Callable[[], object]]:
        connect, judged = owned.connect, partial(self._judge, cluster, owned, verdicts)
        controls = [
            *(partial(self._resume, owned, name, desired[name]) for name in plan.resume),
            *(partial(self._pause, owned, name, desired[name]) for name in plan.pause),
        ]
        removals = [
            *(partial(self._remove, owned, judged, connect.stop, name) for name in plan.stop),
            *(partial(self._remove, owned, judged, connect.delete, name) for name in plan.delete),
        ]
        yield from shuffled(controls)[:STEPS_PER_TICK]
        yield from (partial(self._create, owned, desired[name]) for name in plan.create)
        yield from (partial(self._restart, owned, name, desired[name]) for name in plan.restart)
        yield from shuffled(removals)[:STEPS_PER_TICK]
        yield from (partial(judged, name) for name in plan.judge if name not in verdicts)

    def _create(self, owned: "OwnedConnectors", desired: DesiredConnector) -> None:
        """Create a desired connector again that was missing twice: an operation, so that nothing else happens to it."""
        resource = self._without_operation(desired)
        if resource is None:
            return
        owner = self.owners[desired.resource_type]
        deps = owner.load_dependencies(resource)
        self.lifecycle.execute(owned.context(), owner, resource, deps, OperationKind.RECREATE)

    def _pause(self, owned: "OwnedConnectors", name: str, desired: DesiredConnector) -> None:
        """Pause a connector, if that is still desired."""
        resource = self._without_operation(desired)
        if resource is not None and resource.desired_state is DesiredState.PAUSED:
            owned.do(owned.connect.pause, name)

    def _resume(self, owned: "OwnedConnectors", name: str, desired: DesiredConnector) -> None:
        """Resume a connector, if that is still desired. Raises Conflict when it may not continue."""
        resource = self._without_operation(desired)
        if resource is not None and resource.desired_state is DesiredState.RUNNING:
            self._check_before(owned, OperationKind.RESUME, desired, resource)
            owned.do(owned.connect.resume, name)

    def _restart(self, owned: "OwnedConnectors", name: str, desired: DesiredConnector) -> None:
        """Restart what has failed of a connector that should be running. Raises Conflict when it may not continue."""
        resource = self._without_operation(desired)
        if resource is None or resource.desired_state is not DesiredState.RUNNING:
            return
        self._check_before(owned, OperationKind.RESTART, desired, resource)
        if owned.do(owned.connect.restart_failed, name):
            self._audit(owned.context(), self.owners[desired.resource_type], "restart_failed", resource)

    def _check_before(
        self, owned: "OwnedConnectors", kind: OperationKind, desired: DesiredConnector, resource: Any
    ) -> None:
        owner = self.owners[desired.resource_type]
        owner.check_before(owned.context(), kind, resource, owner.load_dependencies(resource), NO_PARAMETERS)

    def _remove(self, owned: "OwnedConnectors", judge: Callable[[str], Verdict | None], act: Act, name: str) -> None:
        """Stop or delete an orphan, if it is ours."""
        if judge(name) is Verdict.OURS:
            act(name, owned.deadline)

    def _judge(
        self, cluster: ConnectCluster, owned: "OwnedConnectors", verdicts: dict[str, Verdict], name: str
    ) -> Verdict | None:
        """Find out whose an orphan is, with one call to the store if it is not ours; None when it is gone.

        Without an audit record it belongs to another installation on the same workers. When its resource is deployed
        on another cluster, the same workers are registered twice.
        """
        parsed = parse_connector_name(name)
        if parsed is None:
            return None
        kind, resource_id = parsed
        verdict = Verdict.FOREIGN
        if self._audited(resource_id):
            resource = self.owners[RESOURCE_TYPES[kind]].store.find(resource_id)
            if resource and (resource.open_operation or resource.desired_state is not DesiredState.DRAFT):
                verdict = Verdict.DESIRED if resource.connect_cluster_id == cluster.id else Verdict.FOREIGN
            else:
                config = owned.connect.find_config(name, owned.deadline)
                if config is None:
                    return None
                verdict = Verdict.OURS if ours(name, config) else Verdict.FOREIGN
        verdicts[name] = verdict
        return verdict

    def _without_operation(self, desired: DesiredConnector) -> Any:
        """The resource as it is now; None when it should have no connector, or has an open operation."""
        resource = self.owners[desired.resource_type].store.find(desired.resource_id)
        if resource is None or resource.open_operation or resource.desired_state is DesiredState.DRAFT:
            return None
        return resource

    def _audited(self, resource_id: str) -> bool:
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
    """Changes connectors that carry our owner marker, and no others."""

    connect: Connect
    deadline: Deadline

    def do(self, act: Act, name: str) -> bool:
        """Do this to a connector; False when there is none of this name that carries our marker."""
        config = self.connect.find_config(name, self.deadline)
        if config is None or not ours(name, config):
            return False
        act(name, self.deadline)
        return True

    def context(self) -> RequestContext:
        """The context of an action without a request."""
        return RequestContext(actor=SYSTEM, correlation_id=new_id(), deadline=within(self.deadline))


@contextmanager
def isolated() -> Iterator[None]:
    """Stops errors, so that the rest of the tick goes on; the next tick sees their cause again."""
    try:
        yield
    except HeadgateError:
        return
    except Exception as error:  # noqa: BLE001 - one broken step must not stop the rest of the tick
        get_logger().error("a step of the tick failed", extra={"failure": failure(error)})


def within(deadline: Deadline) -> Deadline:
    """How long one step may take."""
    return Deadline.after(deadline.remaining(STEP_SECONDS))


def shuffled(items: Iterable[T]) -> list[T]:
    """In random order: when only some are handled, those that always fail must not exclude the others."""
    result = list(items)
    random.shuffle(result)
    return result
