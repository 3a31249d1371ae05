"""Carries out the actions of a tick: a bounded number of isolated steps.

They were chosen from reads that may be out of date. So the cluster's registration, and before each step the resource,
are read again, consistently, and the connector has to carry our owner marker.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from chalicelib.clients.connect.client import Connect
from chalicelib.domain.access import SYSTEM, RequestContext
from chalicelib.domain.cluster import ConnectCluster
from chalicelib.domain.connectors.cluster import Actions
from chalicelib.domain.connectors.memory import ClusterMemory, DesiredConnector
from chalicelib.domain.connectors.orphans import Verdict
from chalicelib.domain.connectors.step import Action
from chalicelib.domain.connectors.transitions import RESOURCE_TYPES
from chalicelib.domain.names import parse_connector_name
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.operation import OperationKind
from chalicelib.kit.clock import Deadline
from chalicelib.kit.ids import new_id
from chalicelib.kit.isolation import isolated
from chalicelib.kit.log import current_correlation_id
from chalicelib.kit.randomness import shuffled
from chalicelib.services.connectors.lifecycle import Lifecycle
from chalicelib.services.connectors.operation_run import NO_PARAMETERS
from chalicelib.services.connectors.owner import ConnectorOwner
from chalicelib.stores.clusters import ConnectClusters

STEPS_PER_TICK = 10
"""Steps of one kind: changes of the state of connectors, and removals of orphans. Re-creations and restarts have bounds
of their own already (`CREATED_PER_TICK`, `RESTARTED_PER_TICK`).
"""

STEP_SECONDS = 20.0

Act = Callable[[str, Deadline], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionExecutor:
    connects: ConnectClusters
    owners: Mapping[str, ConnectorOwner[Any]]
    lifecycle: Lifecycle

    def carry_out(
        self, cluster: ConnectCluster, actions: Actions, memory: ClusterMemory, deadline: Deadline
    ) -> Mapping[str, Verdict]:
        """Carry out the actions; none of them when the cluster's registration has changed since they were chosen.

        The result is the owner of each orphan that had to be looked up.
        """
        verdicts: dict[str, Verdict] = {}
        if not actions:
            return verdicts
        current = self.connects.find(cluster.id)
        if current is None or current.version != cluster.version:
            return verdicts
        clients = self.lifecycle.clients
        owned = OwnedConnectors(connect=clients.connect(current), is_ours=clients.is_ours, deadline=deadline)
        for step in self._steps(cluster, owned, actions, memory.desired, verdicts):
            if deadline.passed:
                break
            with isolated():
                step()
        return verdicts

    def _steps(
        self,
        cluster: ConnectCluster,
        owned: "OwnedConnectors",
        actions: Actions,
        desired: Mapping[str, DesiredConnector],
        verdicts: dict[str, Verdict],
    ) -> Iterable[Callable[[], object]]:
        connect, judge = owned.connect, partial(self._judge, cluster, owned, verdicts)

        def names(action: Action) -> tuple[str, ...]:
            return actions.get(action, ())

        controls = [
            *(partial(self._resume, owned, name, desired[name]) for name in names(Action.RESUME)),
            *(partial(self._pause, owned, name, desired[name]) for name in names(Action.PAUSE)),
        ]
        removals = [
            *(partial(self._remove, owned, judge, connect.stop, name) for name in names(Action.STOP)),
            *(partial(self._remove, owned, judge, connect.delete, name) for name in names(Action.DELETE)),
        ]
        # Repairs first, with bounds of their own: nothing that belongs to others can delay them.
        yield from shuffled(controls)[:STEPS_PER_TICK]
        yield from (partial(self._create, owned, desired[name]) for name in names(Action.CREATE))
        yield from (partial(self._restart, owned, name, desired[name]) for name in names(Action.RESTART))
        yield from shuffled(removals)[:STEPS_PER_TICK]
        yield from (partial(judge, name) for name in names(Action.JUDGE) if name not in verdicts)

    def _create(self, owned: "OwnedConnectors", desired: DesiredConnector) -> None:
        # An operation, so that nothing else happens to the connector meanwhile.
        resource = self._without_operation(desired)
        if resource is None:
            return
        owner = self.owners[desired.resource_type]
        deps = owner.load_dependencies(resource)
        self.lifecycle.execute(owned.context(), owner, resource, deps, OperationKind.RECREATE)

    def _pause(self, owned: "OwnedConnectors", name: str, desired: DesiredConnector) -> None:
        resource = self._without_operation(desired)
        if resource is not None and resource.desired_state is DesiredState.PAUSED:
            owned.do(owned.connect.pause, name)

    def _resume(self, owned: "OwnedConnectors", name: str, desired: DesiredConnector) -> None:
        """Raises Conflict when it may not continue."""
        resource = self._without_operation(desired)
        if resource is not None and resource.desired_state is DesiredState.RUNNING:
            self._start(owned, OperationKind.RESUME, desired, resource, partial(owned.do, owned.connect.resume, name))

    def _restart(self, owned: "OwnedConnectors", name: str, desired: DesiredConnector) -> None:
        """Raises Conflict when it may not continue."""
        resource = self._without_operation(desired)
        if resource is None or resource.desired_state is not DesiredState.RUNNING:
            return
        act = partial(owned.do, owned.connect.restart_failed, name)
        if self._start(owned, OperationKind.RESTART, desired, resource, act):
            owner = self.owners[desired.resource_type]
            action, parent_id = f"{owner.store.noun}.restart_failed", owner.parent_id(resource)
            self.lifecycle.audit.record_alone(
                owned.context(), action, resource.id, resource_name=resource.name, parent_id=parent_id
            )

    def _start(
        self,
        owned: "OwnedConnectors",
        kind: OperationKind,
        desired: DesiredConnector,
        resource: Any,
        act: Callable[[], bool],
    ) -> bool:
        """Whether it was started. Where it has to wait for connectors beside it, a later tick tries it again.

        Raises Conflict when it may not continue.
        """
        owner, context = self.owners[desired.resource_type], owned.context()
        deps = owner.load_dependencies(resource)
        owner.check_before(context, kind, resource, deps, NO_PARAMETERS)
        done: list[bool] = []
        return owner.start(context, resource, deps, lambda: done.append(act()), wait=0.0) and all(done)

    def _remove(self, owned: "OwnedConnectors", judge: Callable[[str], Verdict | None], act: Act, name: str) -> None:
        if judge(name) is Verdict.OURS:
            act(name, owned.deadline)

    def _judge(
        self, cluster: ConnectCluster, owned: "OwnedConnectors", verdicts: dict[str, Verdict], name: str
    ) -> Verdict | None:
        """Look up the owner of an orphan, with one call to the store if it is not ours; None when it is gone.

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
                verdict = Verdict.OURS if owned.is_ours(name, config) else Verdict.FOREIGN
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
        return bool(trail.items or trail.unreadable)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnedConnectors:
    """Changes connectors that carry our owner marker, and no others."""

    connect: Connect
    is_ours: Callable[[str, Mapping[str, str]], bool]
    deadline: Deadline

    def do(self, act: Act, name: str) -> bool:
        """Do this to a connector; False when there is none of this name that carries our marker."""
        config = self.connect.find_config(name, self.deadline)
        if config is None or not self.is_ours(name, config):
            return False
        act(name, self.deadline)
        return True

    def context(self) -> RequestContext:
        correlation_id, within = current_correlation_id() or new_id(), self.deadline.within(STEP_SECONDS)
        return RequestContext(actor=SYSTEM, correlation_id=correlation_id, deadline=within)
