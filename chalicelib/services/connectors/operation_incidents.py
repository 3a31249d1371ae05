"""What an operation that was settled means for incidents."""

from dataclasses import replace
from datetime import datetime

from chalicelib.domain.monitoring.incident import Condition, Signal
from chalicelib.domain.operation import OperationKind
from chalicelib.errors import Conflict, HeadgateError, Invalid, NotFound
from chalicelib.services.connectors.operation_run import OperationRun
from chalicelib.services.connectors.owner import R

ORIGIN = "operations"
"""Nothing observes whether an operation would succeed now: its incident ends with the next one that does."""

_HINT = "Its last_error and the audit trail say more. Remove the cause, then do it again."


def failure_signals(run: OperationRun[R], error: HeadgateError, now: datetime) -> tuple[Signal, ...]:
    """The incident of an operation that has failed; none when its answer says that the request itself was wrong."""
    if run.first_attempt and isinstance(error, Invalid | Conflict | NotFound):
        return ()
    verb = run.operation.kind.replace("_", " ")
    return (_signal(run, f"To {verb} has failed: {error.message}", now, began=True),)


def success_signals(run: OperationRun[R], now: datetime) -> tuple[Signal, ...]:
    """The end of the incident of an earlier failure, also of one that an earlier release has stored with the name of
    the connector. A delivery whose deploy has failed was not stored; a deletion ends all incidents of its resource.
    """
    if run.operation.kind is OperationKind.DELETE:
        return ()
    if run.resource.last_error or _deploys_delivery(run):
        ended = _signal(run, "It has succeeded.", now, began=False)
        former = replace(ended, condition=replace(ended.condition, connector_name=run.operation.connector_name))
        return (ended, former) if former.condition.key != ended.condition.key else (ended,)
    return ()


def _signal(run: OperationRun[R], message: str, now: datetime, *, began: bool) -> Signal:
    """A failed connector of a delivery, which ticks find, has the same code: what an operation has met with is a
    condition of the delivery itself, so that neither ends the other.
    """
    operation, parent_id = run.operation, run.owner.parent_id(run.resource)
    code = "DESTINATION_CONNECTOR_FAILED" if parent_id else "PIPELINE_FAILED"
    if parent_id and _deploys_delivery(run):
        condition = Condition(
            code=code, resource_type="destination", resource_id=parent_id, message=message, hint=_HINT
        )
    else:
        condition = Condition(
            code=code,
            resource_type=operation.resource_type,
            resource_id=operation.resource_id,
            message=message,
            hint=_HINT,
            connector_name=None if parent_id else operation.connector_name,
        )
    return Signal(condition=condition, began=began, at=now, correlation_id=operation.correlation_id)


def _deploys_delivery(run: OperationRun[R]) -> bool:
    return run.operation.kind is OperationKind.DEPLOY and run.operation.resource_type == "delivery"
