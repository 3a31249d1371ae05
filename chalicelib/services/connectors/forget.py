"""Removing our records of a pipeline or a delivery whose Kafka Connect is gone for good. No connector is touched.

One transaction: what is open is settled as failed, and the row goes with its claims and references. If its Connect
cluster answers again one day, ticks remove the connector that was left there as an orphan.
"""

from collections.abc import Sequence
from datetime import timedelta

from chalicelib.domain.access import RequestContext
from chalicelib.domain.audit.view import view
from chalicelib.domain.operation import Operation, OperationKind
from chalicelib.domain.plans.of_connectors import of_forgotten
from chalicelib.domain.plans.plan import Consequence
from chalicelib.errors import Conflict, HeadgateError, StoreUnavailable, WriteConflict
from chalicelib.kit.isolation import isolated
from chalicelib.services.connectors.dependencies import ConnectorDependencies
from chalicelib.services.connectors.lifecycle import Lifecycle
from chalicelib.services.connectors.operation_run import NO_PARAMETERS, OperationRun
from chalicelib.services.connectors.owner import ConnectorOwner, R, require_found
from chalicelib.stores.transaction import Transaction

FORGETTABLE_AFTER = timedelta(minutes=10)
"""An operation that is open for so long may never be settled: its workers are gone, or Connect never answers."""

_READ_SECONDS = 6.0


def forget_resource(
    lifecycle: Lifecycle, context: RequestContext, owner: ConnectorOwner[R], resource: R, deps: ConnectorDependencies
) -> None:
    """Remove all records of the resource.

    Raises Conflict STATE_CONFLICT while Connect can be read and no operation has been open for long, and
    RESOURCE_IN_USE for a pipeline that has deliveries.
    """
    _require_forgettable(lifecycle, context, resource, deps)
    transaction = Transaction()
    operation = _fail_open_operation(lifecycle, transaction, context, owner, resource, deps)
    owner.on_forgotten(transaction, operation, resource, deps)
    lifecycle.incidents.end_about(transaction, resource.id)
    lifecycle.stores.observations.bump(transaction, resource.connect_cluster_id, resource.id)
    kind, now = OperationKind.DELETE, lifecycle.clock()
    of_deletion: Sequence[Consequence] = owner.consequences(kind, resource, deps, NO_PARAMETERS, now)
    left = {"name": resource.connector_name, "on": resource.connect_cluster_id}
    lifecycle.audit.record(
        transaction,
        context,
        f"{owner.store.noun}.forget",
        resource.id,
        before=view(resource),
        after={"connector_that_may_be_left": left, **owner.deletion_details(resource, None)},
        resource_name=resource.name,
        parent_id=owner.parent_id(resource),
        consequences=[of_forgotten(resource.connector_name), *of_deletion],
    )
    _commit(lifecycle, transaction, owner, resource)
    with isolated():  # No tick ends them: it cannot read Connect.
        lifecycle.incidents.end_rest_about(resource.id)


def _require_forgettable(
    lifecycle: Lifecycle, context: RequestContext, resource: R, deps: ConnectorDependencies
) -> None:
    opened = resource.open_operation
    if opened is not None and lifecycle.clock() - opened.started_at >= FORGETTABLE_AFTER:
        return
    if _can_be_read(lifecycle, context, resource, deps):
        raise Conflict(
            "Kafka Connect can be read, so delete this without forget=true. It can be forgotten while Connect cannot "
            "be read, or when an operation has been open for ten minutes."
        )


def _fail_open_operation(
    lifecycle: Lifecycle,
    transaction: Transaction,
    context: RequestContext,
    owner: ConnectorOwner[R],
    resource: R,
    deps: ConnectorDependencies,
) -> Operation | None:
    """Settle what is open as failed. Raises Conflict when it was settled since the resource was read."""
    operation = lifecycle.stores.operations.find(resource.open_operation.id) if resource.open_operation else None
    if operation is None:
        return None
    if operation.step.settled:
        raise _changed()
    run = OperationRun(
        context=context, owner=owner, operation=operation, resource=resource, deps=deps, first_attempt=False
    )
    lifecycle.write_failure(transaction, run, Conflict("An Admin had Headgate forget this while it was open."))
    return operation


def _can_be_read(lifecycle: Lifecycle, context: RequestContext, resource: R, deps: ConnectorDependencies) -> bool:
    # Every deletion begins with this question.
    deadline = context.deadline.within(_READ_SECONDS)
    try:
        lifecycle.clients.connect(require_found(deps.connect_cluster)).find_config(resource.connector_name, deadline)
    except StoreUnavailable:
        raise
    except HeadgateError:
        return False
    return True


def _commit(lifecycle: Lifecycle, transaction: Transaction, owner: ConnectorOwner[R], resource: R) -> None:
    try:
        transaction.commit()
    except WriteConflict as conflict:
        if owner.store.references(resource.id):
            raise lifecycle.usage.in_use(owner.store.noun, resource.id) from conflict
        raise _changed() from conflict


def _changed() -> Conflict:
    return Conflict("It was changed at the same moment. Read it again and repeat.")
