"""What was wrong with a connector and was not seen to end.

A look that did not find the connector, or could not read its state, says nothing about it. And what has failed has not
recovered while Kafka Connect only tries again.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta

from chalicelib.domain.connectors.memory import ConnectorMemory, DesiredConnector
from chalicelib.domain.monitoring.condition import Condition, ConditionCode, Variant
from chalicelib.domain.observation import RESTING, ConnectorStatus, DesiredState, ObservedState, ReportedState

WRONG_STATE_FOR = timedelta(seconds=60)
"""More than ticks need to resume or pause a connector, or to create it again."""

_NOT_OF_A_LOOK = frozenset(
    {
        ConditionCode.STALLED,
        ConditionCode.PIPELINE_LAG_HIGH,
        ConditionCode.CHANGES_LOST,
        ConditionCode.CONFIG_DRIFT,
        ConditionCode.CONNECTOR_NAME_CONFLICT,
        ConditionCode.CONNECTOR_RESTART_LOOP,
    }
)
"""These follow from fields of the memory, whatever one look finds."""


def not_ended(memory: ConnectorMemory, earlier: Iterable[Condition], now: datetime) -> Iterator[Condition]:
    """Of the earlier conditions of a desired connector those that the look of this memory has not seen to end."""
    remembered = [condition for condition in earlier if condition.code not in _NOT_OF_A_LOOK]
    if memory.missing_since is not None:
        return iter(remembered if now - memory.missing_since < WRONG_STATE_FOR else ())
    observation, desired = memory.observation, memory.desired
    if observation is None or observation.connector is None or observation.state is ObservedState.UNKNOWN:
        return iter(remembered)
    if desired is None:
        return iter(())
    status = observation.connector
    return (condition for condition in remembered if _lasts(memory, status, desired, condition))


def _lasts(memory: ConnectorMemory, status: ConnectorStatus, desired: DesiredConnector, condition: Condition) -> bool:
    states = {task.id: task.state for task in status.tasks}
    if condition.task_id is not None and states.get(condition.task_id) is ReportedState.UNKNOWN:
        return True
    if condition.variant is Variant.MISSING:
        return False
    code = condition.code
    if code is ConditionCode.CONNECTOR_UNASSIGNED:
        return memory.unassigned_since is not None and _is_unassigned(states, condition.task_id)
    if code in (ConditionCode.CONNECTOR_PAUSED, ConditionCode.PIPELINE_DEGRADED):
        is_wrong = memory.wrong_since is not None and status.state is not ReportedState.FAILED
        return is_wrong and desired.should_run == (code is ConditionCode.CONNECTOR_PAUSED)
    return _has_not_recovered(status, states, desired, condition.task_id)


def _is_unassigned(states: Mapping[int, ReportedState], task_id: int | None) -> bool:
    if task_id is None:
        return ReportedState.UNASSIGNED not in states.values()
    return states.get(task_id) is ReportedState.UNASSIGNED


def _has_not_recovered(
    status: ConnectorStatus, states: Mapping[int, ReportedState], desired: DesiredConnector, task_id: int | None
) -> bool:
    """Whether the connector or task neither runs nor rests as desired nor, if it is a task, is gone for good. What has
    failed again is a condition of this look.
    """
    rests = RESTING if desired.desired_state is DesiredState.PAUSED else frozenset()
    over = {ReportedState.RUNNING, ReportedState.FAILED, *rests}
    if task_id is None:
        return status.state not in over
    if task_id in states:
        return states[task_id] not in over
    return len(states) < desired.tasks if status.state is ReportedState.RUNNING else status.state not in rests
