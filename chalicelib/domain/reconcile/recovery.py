"""What was wrong with a connector and was not seen to end.

A look that did not find the connector, or could not read its state, says nothing about it. And what has failed has not
recovered while Kafka Connect only tries again.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from chalicelib.domain.monitoring.incident import CHANGES_LOST, CONFIG_DRIFT, STALLED, Condition
from chalicelib.domain.observation import MISSING, ConnectorStatus, DesiredState, ObservedState
from chalicelib.domain.reconcile.snapshot import ClusterSnapshot, DesiredConnector

WRONG_STATE_FOR = timedelta(seconds=60)
"""More than ticks need to resume or pause a connector, or to create it again."""

LAG_HIGH, RESTART_LOOP = "PIPELINE_LAG_HIGH", "CONNECTOR_RESTART_LOOP"
UNASSIGNED, PAUSED, NOT_PAUSED = "CONNECTOR_UNASSIGNED", "CONNECTOR_PAUSED", "PIPELINE_DEGRADED"

_NOT_OF_A_LOOK = frozenset({STALLED, LAG_HIGH, CHANGES_LOST, CONFIG_DRIFT, RESTART_LOOP})
"""What is remembered in the snapshot, whatever one look finds."""

_UNREADABLE = "UNKNOWN"


def not_ended(snapshot: ClusterSnapshot, name: str, earlier: Iterable[Condition], now: datetime) -> Iterator[Condition]:
    """Of the earlier conditions of a desired connector those that the look of this snapshot has not seen to end."""
    seen, remembered = snapshot.observed.get(name), [one for one in earlier if one.code not in _NOT_OF_A_LOOK]
    if name in snapshot.missing:
        return iter(remembered if now - snapshot.missing[name] < WRONG_STATE_FOR else ())
    if seen is None or seen.connector is None or seen.state is ObservedState.UNKNOWN:
        return iter(remembered)
    connector, desired = seen.connector, snapshot.desired[name]
    return (one for one in remembered if _lasts(snapshot, connector, desired, one))


def _lasts(snapshot: ClusterSnapshot, seen: ConnectorStatus, desired: DesiredConnector, condition: Condition) -> bool:
    states = {task.id: task.state for task in seen.tasks}
    if condition.task_id is not None and states.get(condition.task_id) == _UNREADABLE:
        return True
    code = condition.code
    if condition.message == MISSING:
        return False
    if code == UNASSIGNED:
        return seen.name in snapshot.unassigned and _is_unassigned(states, condition.task_id)
    if code in (PAUSED, NOT_PAUSED):
        should_run = desired.desired_state is DesiredState.RUNNING
        return seen.name in snapshot.wrong_state and should_run == (code == PAUSED) and seen.state != "FAILED"
    return _has_not_recovered(seen, states, desired, condition.task_id)


def _is_unassigned(states: dict[int, str], task_id: int | None) -> bool:
    return "UNASSIGNED" not in states.values() if task_id is None else states.get(task_id) == "UNASSIGNED"


def _has_not_recovered(
    seen: ConnectorStatus, states: dict[int, str], desired: DesiredConnector, task_id: int | None
) -> bool:
    """Whether the connector or task neither runs nor rests as desired nor, if it is a task, is gone for good. What has
    failed again is a condition of this look.
    """
    rests = ("PAUSED", "STOPPED") if desired.desired_state is DesiredState.PAUSED else ()
    if task_id is None:
        return seen.state not in ("RUNNING", "FAILED", *rests)
    if task_id in states:
        return states[task_id] not in ("RUNNING", "FAILED", *rests)
    return len(states) < desired.tasks if seen.state == "RUNNING" else seen.state not in rests
