"""An operation on a connector while a worker carries it out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic

from chalicelib.domain.access import RequestContext
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.observation import DesiredState, ObservedState
from chalicelib.domain.operation import Operation, OperationKind, OperationStep
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.plans.plan import Consequence
from chalicelib.domain.release import ReleaseResult
from chalicelib.domain.timing import OPERATION_LEASE
from chalicelib.kit.ids import new_id
from chalicelib.services.connectors.dependencies import ConnectorDependencies
from chalicelib.services.connectors.owner import BEGINS_ANEW, ConnectorOwner, R

DESIRED_AFTER: Mapping[OperationKind, DesiredState] = {
    OperationKind.DEPLOY: DesiredState.RUNNING,
    OperationKind.PAUSE: DesiredState.PAUSED,
    OperationKind.RESUME: DesiredState.RUNNING,
}
"""The desired state that an operation sets; the others leave it as it is."""

_AS_DESIRED: Mapping[OperationKind, tuple[DesiredState, ObservedState]] = {
    OperationKind.PAUSE: (DesiredState.PAUSED, ObservedState.PAUSED),
    OperationKind.RESUME: (DesiredState.RUNNING, ObservedState.RUNNING),
}


def changes_nothing(kind: OperationKind, resource: Pipeline | Delivery) -> bool:
    """Whether the operation would change nothing: the resource is desired and observed as it would be afterwards."""
    if resource.open_operation or resource.observation is None:
        return False
    return _AS_DESIRED.get(kind) == (resource.desired_state, resource.observation.state)


NO_PARAMETERS: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationRun(Generic[R]):
    """An operation that is being carried out. `first_attempt`: no worker before this one may have changed Connect.

    `released` is how the release ended that a deletion has asked for (`ConnectorOwner.release`). `has_config` is false
    when the connector kept another config than the operation would have given it. `consequences` are those that were
    known when it began: a worker that takes it over has none.
    """

    context: RequestContext
    owner: ConnectorOwner[R]
    operation: Operation
    resource: R
    deps: ConnectorDependencies
    first_attempt: bool
    released: ReleaseResult | None = None
    has_config: bool = True
    consequences: Sequence[Consequence] = ()

    @property
    def intended(self) -> R:
        """The resource as it will be, as far as its config depends on it."""
        return self.owner.with_pending_change(self.operation, self.resource)

    @property
    def begins_anew(self) -> bool:
        """Whether the connector goes on without its offset, with another config."""
        return bool(self.operation.parameters.get(BEGINS_ANEW))

    @property
    def desired_after(self) -> DesiredState:
        return DESIRED_AFTER.get(self.operation.kind, self.resource.desired_state)


def new_run(
    context: RequestContext,
    owner: ConnectorOwner[R],
    resource: R,
    deps: ConnectorDependencies,
    kind: OperationKind,
    parameters: Mapping[str, Any],
    *,
    now: datetime,
) -> OperationRun[R]:
    """The first run of a new operation, which is not stored yet."""
    operation = Operation(
        id=new_id(),
        kind=kind,
        resource_type=owner.store.noun,
        resource_id=resource.id,
        connect_cluster_id=resource.connect_cluster_id,
        connector_name=resource.connector_name,
        config_hash=resource.config_hash,
        actor_id=context.actor.id,
        actor_email=context.actor.email,
        actor_via=context.actor.via,
        correlation_id=context.correlation_id,
        step=OperationStep.REQUESTED,
        lease_until=now + OPERATION_LEASE,
        parameters=parameters,
        created_at=now,
    )
    return OperationRun(
        context=context, owner=owner, operation=operation, resource=resource, deps=deps, first_attempt=True
    )
