"""What an operation that was settled means for incidents."""

from chalicelib.domain.monitoring.condition import Condition, ConditionCode
from chalicelib.domain.monitoring.consequences import by_consequence
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.operation import OperationKind
from chalicelib.errors import Conflict, HeadgateError, Invalid, NotFound
from chalicelib.services.connectors.operation_run import OperationRun
from chalicelib.services.connectors.owner import R


def failure_condition(run: OperationRun[R], error: HeadgateError) -> Condition | None:
    """What is wrong when an operation has failed; None when its answer says that the request itself was wrong. Nobody
    reads the answer when Headgate itself could not create a connector again. It is no error while nothing should run.
    """
    answered = run.first_attempt and isinstance(error, Invalid | Conflict | NotFound)
    if answered and not (run.operation.kind is OperationKind.RECREATE and isinstance(error, Conflict)):
        return None
    verb = run.operation.kind.replace("_", " ")
    condition = _condition(run, f"To {verb} has failed: {error.message}")
    runs = run.resource.desired_state is DesiredState.RUNNING and not _deploys_delivery(run)
    return condition if runs else by_consequence(condition, {condition.resource_id})


def success_condition(run: OperationRun[R]) -> Condition | None:
    """What an earlier failure may have begun and a success ends. A delivery whose deploy has failed was not stored; a
    deletion ends all incidents of its resource.
    """
    may_have_failed = run.resource.last_error or _deploys_delivery(run)
    if run.operation.kind is OperationKind.DELETE or not may_have_failed:
        return None
    return _condition(run, "It has succeeded.")


def _condition(run: OperationRun[R], message: str) -> Condition:
    """A failed connector of a delivery, which ticks find, has the same code: what an operation has met with is a
    condition of the delivery itself, so that neither ends the other.
    """
    operation, parent_id = run.operation, run.owner.parent_id(run.resource)
    code = ConditionCode.DESTINATION_CONNECTOR_FAILED if parent_id else ConditionCode.PIPELINE_FAILED
    if parent_id and _deploys_delivery(run):
        return Condition(code=code, resource_type="destination", resource_id=parent_id, message=message)
    return Condition(
        code=code,
        resource_type=operation.resource_type,
        resource_id=operation.resource_id,
        message=message,
        connector_name=None if parent_id else operation.connector_name,
    )


def _deploys_delivery(run: OperationRun[R]) -> bool:
    return run.operation.kind is OperationKind.DEPLOY and run.operation.resource_type == "delivery"
