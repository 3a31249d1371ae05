"""Removing our records of a pipeline or a delivery whose Kafka Connect is gone for good. No connector is touched.

One transaction: what is open is settled as failed, and the row goes with its claims and references. If its Connect
cluster answers again one day, ticks remove the connector that was left there as an orphan.
"""

from datetime import timedelta

from chalicelib.domain.access import RequestContext
from chalicelib.errors import Conflict, HeadgateError, StoreUnavailable, WriteConflict
from chalicelib.kit.clock import Deadline
from chalicelib.services.audit import view
from chalicelib.services.connectors.dependencies import ConnectorDependencies
from chalicelib.services.connectors.lifecycle import Lifecycle
from chalicelib.services.connectors.operation_run import NO_PARAMETERS, OperationRun
from chalicelib.services.connectors.owner import ConnectorOwner, R, require_found
from chalicelib.services.registry import in_use
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
    opened = resource.open_operation
    overdue = opened is not None and lifecycle.clock() - opened.started_at >= FORGETTABLE_AFTER
    if not overdue and _can_be_read(lifecycle, context, resource, deps):
        raise Conflict(
            "Kafka Connect can be read, so this can be deleted in the ordinary way: repeat without forget=true."
        )
    operation = lifecycle.operations.find(opened.id) if opened else None
    if operation and operation.step.settled:
        raise _changed()
    transaction = Transaction()
    if operation:
        run = OperationRun(
            context=context, owner=owner, operation=operation, resource=resource, deps=deps, first_attempt=False
        )
        lifecycle.write_failure(transaction, run, Conflict("Somebody had Headgate forget this while it was open."))
    owner.on_forgotten(transaction, operation, resource, deps)
    lifecycle.observations.bump(transaction, resource.connect_cluster_id)
    lifecycle.audit.record(
        transaction,
        context,
        f"{owner.store.noun}.forget",
        resource.id,
        before=view(resource),
        after={
            "connector_that_may_be_left": {"name": resource.connector_name, "on": resource.connect_cluster_id},
            **owner.deletion_details(resource, NO_PARAMETERS),
        },
        parent_id=owner.parent_id(resource),
    )
    _commit(transaction, owner, resource)


def _can_be_read(lifecycle: Lifecycle, context: RequestContext, resource: R, deps: ConnectorDependencies) -> bool:
    """Whether Connect answers the question that every deletion begins with."""
    deadline = Deadline.after(context.deadline.remaining(_READ_SECONDS))
    try:
        lifecycle.clients.connect(require_found(deps.connect_cluster)).find_config(resource.connector_name, deadline)
    except StoreUnavailable:
        raise
    except HeadgateError:
        return False
    return True


def _commit(transaction: Transaction, owner: ConnectorOwner[R], resource: R) -> None:
    try:
        transaction.commit()
    except WriteConflict as conflict:
        if owner.store.references(resource.id):
            raise in_use(owner.store.noun) from conflict
        raise _changed() from conflict


def _changed() -> Conflict:
    return Conflict("It was changed at the same moment. Read it again and repeat.")
