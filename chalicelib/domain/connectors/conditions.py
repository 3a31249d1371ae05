"""What is wrong with the connectors of a Connect cluster, from what its ticks remember.

A state that may pass by itself counts once it has lasted: Kafka Connect leaves the tasks of a lost worker unassigned
for `scheduled.rebalance.max.delay.ms`, five minutes by default.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from chalicelib.domain.connectors.cluster_view import ClusterView, creations_wait
from chalicelib.domain.connectors.drift import DRIFTED
from chalicelib.domain.connectors.memory import CONFLICTING, ConnectorMemory, DesiredConnector
from chalicelib.domain.connectors.recovery import WRONG_STATE_FOR, not_ended
from chalicelib.domain.connectors.recreations import CONTESTED, Recreations
from chalicelib.domain.connectors.restarts import MAX_RESTARTS, Restarts
from chalicelib.domain.connectors.reverts import REVERTED, is_contested
from chalicelib.domain.connectors.workers import WorkersFaultCode
from chalicelib.domain.diagnosis.cause import Cause
from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.diagnosis.hints import hint_of
from chalicelib.domain.monitoring.condition import DESCRIPTIONS, Condition, ConditionCode, Severity, Variant
from chalicelib.domain.monitoring.source_conditions import CODES
from chalicelib.domain.monitoring.source_state import FindingCode
from chalicelib.domain.names import kind_of_connector
from chalicelib.domain.observation import (
    MISSING,
    ConnectorStatus,
    Observation,
    ObservedState,
    ReportedState,
    TaskStatus,
)
from chalicelib.kit.clock import rfc3339

UNASSIGNED_FOR = timedelta(seconds=330)
"""More than the time for which Kafka Connect waits for a lost worker."""

UNREADABLE_FOR = timedelta(seconds=30)
"""Connect's REST API answers nothing for a while when its workers rebalance."""

LOOP_AFTER = 3
"""Restarts by Headgate that did not help."""

_RESTARTING = "It has to be restarted again and again: Headgate has tried {count} times."
_STOPPED_RESTARTING = "Headgate has restarted it {count} times, and does not try again."
_UNASSIGNED = "No Connect worker has taken up {part} for more than five minutes."
_PAUSED = "It should be running and is {state} in Kafka Connect. Somebody has done that without Headgate."
_NOT_STARTED = "Headgate created it more than a minute ago, and could not start it yet."
_RUNNING = "It should be paused and is {state} in Kafka Connect."


def is_unassigned(observation: Observation, tasks: int) -> bool:
    """Whether no worker has taken up the connector or one of its tasks, or a running connector has fewer tasks."""
    status = observation.connector
    if status is None:
        return False
    if observation.state is ObservedState.UNASSIGNED or any(map(_has_no_worker, status.tasks)):
        return True
    return status.state is ReportedState.RUNNING and len(status.tasks) < tasks


def _has_no_worker(task: TaskStatus) -> bool:
    return task.state is ReportedState.UNASSIGNED


def connector_conditions(
    name: str, memory: ConnectorMemory, now: datetime, earlier: Iterable[Condition] = ()
) -> tuple[Condition, ...]:
    """All that is wrong with this connector, nothing when it is not desired. `earlier` are the conditions of the last
    tick: what this one could not see stays.
    """
    if memory.desired is None:
        return ()
    subject = _Subject(name, memory.desired)
    if memory.conflict:  # what somebody else's connector does is no concern of this resource
        return (subject.condition(ConditionCode.CONNECTOR_NAME_CONFLICT, CONFLICTING),)
    conditions = {condition.key: condition for condition in not_ended(memory, earlier, now)}
    conditions |= {condition.key: condition for condition in _conditions(subject, memory, now)}
    return tuple(conditions.values())


def cluster_conditions(cluster_id: str, view: ClusterView) -> tuple[Condition, ...]:
    """All that is wrong with a Connect cluster itself: it has not been readable for a while, other workers answer, or
    many of its connectors are missing at once.
    """
    since, now = view.unreadable_since, view.observed_at
    messages: dict[ConditionCode, str] = {}
    if view.unreadable and since and now and now - since >= UNREADABLE_FOR:
        messages[ConditionCode.STREAM_CONNECT_UNAVAILABLE] = view.unreadable
    if view.fault and view.fault.code is WorkersFaultCode.OTHER_KAFKA:
        messages[ConditionCode.KAFKA_CLUSTER_CHANGED] = view.fault.message
    if view.pending_creations:
        messages[ConditionCode.CREATIONS_PENDING] = creations_wait(view.pending_creations)
    return tuple(
        Condition(code=code, resource_type="connect_cluster", resource_id=cluster_id, message=message)
        for code, message in messages.items()
    )


def unobserved_condition(cluster_id: str, since: datetime) -> Condition:
    """The condition of a Connect cluster at which nobody has looked since that time, for too long."""
    return Condition(
        code=ConditionCode.CONNECT_NOT_OBSERVED,
        resource_type="connect_cluster",
        resource_id=cluster_id,
        message=f"Headgate has not looked at this Connect cluster since {rfc3339(since)}.",
    )


def _conditions(subject: "_Subject", memory: ConnectorMemory, now: datetime) -> Iterator[Condition]:
    if memory.missing_since is not None:
        if now - memory.missing_since >= WRONG_STATE_FOR:
            yield subject.condition(ConditionCode.CONNECTOR_FAILED, MISSING, Variant.MISSING)
    elif memory.observation is not None and (status := memory.observation.connector) is not None:
        yield from _failures(subject, status)
        yield from _unassigned(subject, status, memory.unassigned_since, now)
        if is_contested(memory.reverted_at) and subject.desired.should_run:
            yield subject.condition(ConditionCode.CONNECTOR_PAUSED, REVERTED, Variant.PAUSED_REPEATEDLY)
        elif memory.recreations is None or not subject.desired.should_run:
            # Headgate creates connectors STOPPED: nobody else has stopped one that has not run since.
            yield from _wrong_state(subject, memory, memory.observation.state, status, now)
    for finding in memory.findings:
        variant = Variant.RECORDS_REMOVED if finding.code is FindingCode.CHANGES_LOST else None
        condition = subject.condition(CODES[finding.code], finding.message, variant, severity=finding.severity)
        yield replace(condition, advice=finding.hint)
    yield from _repeated(subject, memory.restarts, memory.recreations)
    if memory.drift and memory.drift.confirmed:
        yield subject.condition(ConditionCode.CONFIG_DRIFT, DRIFTED)


class _Subject:
    def __init__(self, name: str, desired: DesiredConnector) -> None:
        self.name, self.desired = name, desired

    def condition(
        self,
        code: ConditionCode,
        message: str,
        variant: Variant | None = None,
        *,
        diagnosis: Diagnosis | None = None,
        cause: Cause | None = None,
        severity: Severity | None = None,
        task_id: int | None = None,
    ) -> Condition:
        """`severity` is the usual one of the code, unless it is given."""
        return Condition(
            code=code,
            resource_type=self.desired.resource_type,
            resource_id=self.desired.resource_id,
            message=message,
            variant=variant,
            diagnosis=diagnosis,
            cause=cause,
            severity=severity or DESCRIPTIONS[code].severity,
            connector_name=self.name,
            task_id=task_id,
        )


def _failures(subject: _Subject, status: ConnectorStatus) -> Iterator[Condition]:
    for part in status.parts:
        if part.state is ReportedState.FAILED:
            yield _failure(subject, part)


def _failure(subject: _Subject, part: ConnectorStatus | TaskStatus) -> Condition:
    """Its code is the event kind of the diagnosis, where there is one."""
    if isinstance(part, TaskStatus):
        code, message = ConditionCode.CONNECT_TASK_FAILED, f"Task {part.id} of the connector has failed."
    else:
        code, message = ConditionCode.CONNECTOR_FAILED, "The connector has failed."
    if part.diagnosis not in (None, Diagnosis.GENERAL):
        code = ConditionCode(hint_of(part.diagnosis, kind_of_connector(subject.name)).event_type)
    task_id, cause = part.id if isinstance(part, TaskStatus) else None, part.cause or None
    if cause and cause.sentence:
        message = f"{message} {cause.sentence}"
    return subject.condition(code, message, diagnosis=part.diagnosis, cause=cause, task_id=task_id)


def _unassigned(
    subject: _Subject, status: ConnectorStatus, since: datetime | None, now: datetime
) -> Iterator[Condition]:
    if since is None or now - since < UNASSIGNED_FOR:
        return
    code, tasks = ConditionCode.CONNECTOR_UNASSIGNED, [task.id for task in status.tasks if _has_no_worker(task)]
    if not tasks:
        yield subject.condition(code, _UNASSIGNED.format(part="it, or not all of its tasks exist"))
    for task_id in tasks:
        yield subject.condition(code, _UNASSIGNED.format(part=f"task {task_id}"), task_id=task_id)


def _wrong_state(
    subject: _Subject, memory: ConnectorMemory, state: ObservedState, status: ConnectorStatus, now: datetime
) -> Iterator[Condition]:
    if memory.wrong_since is None or now - memory.wrong_since < WRONG_STATE_FOR:
        return
    if memory.not_started:
        code = ConditionCode.PIPELINE_DEGRADED
        yield subject.condition(code, _NOT_STARTED, Variant.NOT_STARTED, severity=Severity.ERROR)
    elif subject.desired.should_run:
        message = _PAUSED.format(state=status.state.lower())
        yield subject.condition(ConditionCode.CONNECTOR_PAUSED, message, Variant.PAUSED_ONCE)
    elif status.state is not ReportedState.FAILED:
        yield subject.condition(ConditionCode.PIPELINE_DEGRADED, _RUNNING.format(state=state.lower()))


def _repeated(subject: _Subject, restarts: Restarts | None, recreations: Recreations | None) -> Iterator[Condition]:
    if restarts and restarts.count >= LOOP_AFTER:
        text = _STOPPED_RESTARTING if restarts.count >= MAX_RESTARTS else _RESTARTING
        message = text.format(count=restarts.count)
        yield subject.condition(ConditionCode.CONNECTOR_RESTART_LOOP, message, Variant.RESTARTS)
    elif recreations and recreations.contested:
        yield subject.condition(ConditionCode.CONNECTOR_RESTART_LOOP, CONTESTED, Variant.RECREATIONS)
