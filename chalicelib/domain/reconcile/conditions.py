"""What is wrong with the connectors of a Connect cluster, from what its ticks remember.

A state that may pass by itself counts once it has lasted: Kafka Connect leaves the tasks of a lost worker unassigned
for `scheduled.rebalance.max.delay.ms`, five minutes by default.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta

from chalicelib.domain.classify.classifier import OTHER, kind_of
from chalicelib.domain.monitoring.incident import CONFIG_DRIFT, Condition, Severity
from chalicelib.domain.monitoring.source_conditions import CODES
from chalicelib.domain.monitoring.source_state import FindingCode
from chalicelib.domain.observation import (
    MISSING,
    ConnectorStatus,
    DesiredState,
    Observation,
    ObservedState,
    TaskStatus,
)
from chalicelib.domain.reconcile.drift import DRIFTED
from chalicelib.domain.reconcile.recovery import (
    NOT_PAUSED,
    PAUSED,
    RESTART_LOOP,
    UNASSIGNED,
    WRONG_STATE_FOR,
    not_ended,
)
from chalicelib.domain.reconcile.recreations import CONTESTED, Recreations
from chalicelib.domain.reconcile.restarts import MAX_RESTARTS, Restarts
from chalicelib.domain.reconcile.reverts import REVERTED, is_contested
from chalicelib.domain.reconcile.snapshot import ClusterSnapshot, DesiredConnector

UNASSIGNED_FOR = timedelta(seconds=330)
"""More than the time for which Kafka Connect waits for a lost worker."""

UNREADABLE_FOR = timedelta(seconds=30)
"""Connect's REST API answers nothing for a while when its workers rebalance."""

LOOP_AFTER = 3
"""Restarts by Headgate that did not help."""

_RESTARTING = "It has to be restarted again and again: Headgate has tried {count} times."
_STOPPED_RESTARTING = "Headgate has restarted it {count} times, and does not try again."
_LOOP_HINT = "Remove the cause that its other incidents and its status name, then restart it."
_UNASSIGNED = "No Connect worker has taken up {what} for more than five minutes."
_UNASSIGNED_HINT = "Its rows do not move. Look at the workers: too few are running, or one of them cannot start it."
_PAUSED = "It should be running and is {state} in Kafka Connect. Somebody has done that without Headgate."
_PAUSED_HINT = "Headgate resumes it in each tick. If it does not stay so, another program controls this connector."
_REVERTED_HINT = "Headgate resumes it each time. The incident ends when it has run for 15 minutes."
_RUNNING = "It should be paused and is {state} in Kafka Connect."
_RUNNING_HINT = "Headgate pauses it in each tick. If it does not stay so, another program controls this connector."
_MISSING_HINT = "Headgate creates it again. Its status says what was tried, and when it is tried again."
_LOST_HINT = (
    "What was removed stays missing in the target, also when the delivery goes on. This incident ends when a person "
    "resolves it or the delivery is deleted."
)
_UNREADABLE_HINT = "What its connectors do is not known until it answers. Look at its workers and at the network."


_NONE: Mapping[str, tuple[Condition, ...]] = {}


def is_unassigned(seen: Observation, tasks: int) -> bool:
    """Whether no worker has taken up the connector or one of its tasks, or a running connector has fewer tasks."""
    if seen.connector is None:
        return False
    states = {task.state for task in seen.connector.tasks}
    lacking = seen.connector.state == "RUNNING" and len(seen.connector.tasks) < tasks
    return seen.state is ObservedState.UNASSIGNED or "UNASSIGNED" in states or lacking


def connector_conditions(
    snapshot: ClusterSnapshot,
    names: Iterable[str],
    now: datetime,
    earlier: Mapping[str, tuple[Condition, ...]] = _NONE,
) -> dict[str, tuple[Condition, ...]]:
    """The conditions of these connectors, by name, without those that have none. `earlier` are those of the last tick:
    what this one could not see stays.
    """
    found: dict[str, tuple[Condition, ...]] = {}
    for name in names:
        if name in snapshot.desired:
            kept = {one.key: one for one in not_ended(snapshot, name, earlier.get(name, ()), now)}
            kept |= {one.key: one for one in _conditions(snapshot, name, now)}
            found[name] = tuple(kept.values())
    return {name: conditions for name, conditions in found.items() if conditions}


def cluster_condition(
    cluster_id: str, unreadable: str | None, since: datetime | None, now: datetime | None
) -> Condition | None:
    """The condition of a Connect cluster that has not been readable for a while. `unreadable` says why."""
    if unreadable is None or since is None or now is None or now - since < UNREADABLE_FOR:
        return None
    return Condition(
        code="STREAM_CONNECT_UNAVAILABLE",
        resource_type="connect_cluster",
        resource_id=cluster_id,
        message=unreadable,
        hint=_UNREADABLE_HINT,
    )


def _conditions(snapshot: ClusterSnapshot, name: str, now: datetime) -> Iterator[Condition]:
    about, seen = _About(name, snapshot.desired[name]), snapshot.observed.get(name)
    if name in snapshot.missing:
        if now - snapshot.missing[name] >= WRONG_STATE_FOR:
            yield about.condition("CONNECTOR_FAILED", MISSING, _MISSING_HINT)
    elif seen is not None:
        yield from _failures(about, seen)
        yield from _unassigned(about, seen, snapshot.unassigned.get(name), now)
        since, times = snapshot.wrong_state.get(name), snapshot.reverted.get(name, ())
        if is_contested(times) and _should_run(about):
            yield about.condition(PAUSED, REVERTED, _REVERTED_HINT)
        else:
            yield from _wrong_state(about, seen, since, now)
    for finding in snapshot.progress.get(name, ()):
        hint = _LOST_HINT if finding.code is FindingCode.CHANGES_LOST else None
        yield about.condition(CODES[finding.code], finding.message, hint, severity=finding.severity)
    yield from _repeated(about, snapshot.restarts.get(name), snapshot.recreations.get(name))
    if (drift := snapshot.drifted.get(name)) and drift.confirmed:
        yield about.condition(CONFIG_DRIFT, DRIFTED, severity=Severity.WARNING)


class _About:
    """Makes the conditions of one connector."""

    def __init__(self, name: str, desired: DesiredConnector) -> None:
        self.name, self.desired = name, desired

    def condition(
        self,
        code: str,
        message: str,
        hint: str | None = None,
        *,
        severity: Severity = Severity.ERROR,
        task_id: int | None = None,
    ) -> Condition:
        return Condition(
            code=code,
            resource_type=self.desired.resource_type,
            resource_id=self.desired.resource_id,
            message=message,
            hint=hint,
            severity=severity,
            connector_name=self.name,
            task_id=task_id,
        )


def _failures(about: _About, seen: Observation) -> Iterator[Condition]:
    if seen.connector is None:
        return
    if seen.connector.state == "FAILED":
        yield _failure(about, seen.connector, "CONNECTOR_FAILED", "The connector has failed.")
    for task in seen.connector.tasks:
        if task.state == "FAILED":
            yield _failure(about, task, "CONNECT_TASK_FAILED", f"Task {task.id} of the connector has failed.")


def _failure(about: _About, part: ConnectorStatus | TaskStatus, code: str, message: str) -> Condition:
    """The classifier's event kind, where it has found one."""
    hint, task_id = part.hint, part.id if isinstance(part, TaskStatus) else None
    kind = kind_of(hint) if hint else OTHER
    return about.condition(code if kind == OTHER else kind, message, hint.message if hint else None, task_id=task_id)


def _unassigned(about: _About, seen: Observation, since: datetime | None, now: datetime) -> Iterator[Condition]:
    if since is None or now - since < UNASSIGNED_FOR or seen.connector is None:
        return
    tasks = [task.id for task in seen.connector.tasks if task.state == "UNASSIGNED"]
    if not tasks:
        what = "it, or not all of its tasks exist"
        yield about.condition(UNASSIGNED, _UNASSIGNED.format(what=what), _UNASSIGNED_HINT)
    for task_id in tasks:
        message = _UNASSIGNED.format(what=f"task {task_id}")
        yield about.condition(UNASSIGNED, message, _UNASSIGNED_HINT, task_id=task_id)


def _wrong_state(about: _About, seen: Observation, since: datetime | None, now: datetime) -> Iterator[Condition]:
    if since is None or now - since < WRONG_STATE_FOR:
        return
    if _should_run(about) and seen.connector is not None:
        yield about.condition(PAUSED, _PAUSED.format(state=seen.connector.state.lower()), _PAUSED_HINT)
    elif seen.state is not ObservedState.FAILED:
        message = _RUNNING.format(state=seen.state.lower())
        yield about.condition(NOT_PAUSED, message, _RUNNING_HINT, severity=Severity.WARNING)


def _should_run(about: _About) -> bool:
    return about.desired.desired_state is DesiredState.RUNNING


def _repeated(about: _About, restarts: Restarts | None, recreations: Recreations | None) -> Iterator[Condition]:
    if restarts and restarts.count >= LOOP_AFTER:
        text = _STOPPED_RESTARTING if restarts.count >= MAX_RESTARTS else _RESTARTING
        yield about.condition(RESTART_LOOP, text.format(count=restarts.count), _LOOP_HINT)
    elif recreations and recreations.contested:
        yield about.condition(RESTART_LOOP, CONTESTED)


def by_name(conditions: Mapping[str, tuple[Condition, ...]]) -> Iterator[Condition]:
    """All conditions of a mapping."""
    return (one for found in conditions.values() for one in found)
