"""Observed state: from a connector and all of its tasks. Never mixed with what is desired."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from chalicelib.domain.diagnosis.cause import Cause
from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.diagnosis.hints import Hint, hint_about
from chalicelib.domain.health import last_looked
from chalicelib.domain.names import kind_of_connector
from chalicelib.domain.timing import CLOCKS_APART, OBSERVED_FOR


class DesiredState(StrEnum):
    """What people asked for."""

    DRAFT = "DRAFT"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"


class ObservedState(StrEnum):
    """`UNKNOWN` is a state: Connect could not be read."""

    UNKNOWN = "UNKNOWN"
    NOT_DEPLOYED = "NOT_DEPLOYED"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"
    UNASSIGNED = "UNASSIGNED"
    RESTARTING = "RESTARTING"
    DEGRADED = "DEGRADED"
    FAILED = "FAILED"


class ReportedState(StrEnum):
    """State of a connector or a task as Kafka Connect reports it. `UNKNOWN`: one that Headgate does not know."""

    UNASSIGNED = "UNASSIGNED"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"
    RESTARTING = "RESTARTING"
    FAILED = "FAILED"
    UNKNOWN = "UNKNOWN"


RESTING = frozenset({ReportedState.PAUSED, ReportedState.STOPPED})


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStatus:
    """One task as Connect reports it, its trace replaced by a diagnosis, and by what is known of its cause: an empty
    one where that was looked up, and nothing is known. `checksum` is that of the names in the trace.
    """

    id: int
    state: ReportedState
    worker_id: str | None
    diagnosis: Diagnosis | None = None
    cause: Cause | None = None
    checksum: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorStatus:
    """A connector as Connect reports it, traces replaced by diagnoses. `cause` and `checksum` are those of its own."""

    name: str
    state: ReportedState
    worker_id: str | None
    tasks: tuple[TaskStatus, ...]
    diagnosis: Diagnosis | None = None
    cause: Cause | None = None
    checksum: int | None = None

    def hint(self, part: "ConnectorStatus | TaskStatus") -> Hint | None:
        """The hint for what is wrong with this connector, or with one of its tasks."""
        return hint_about(part.diagnosis, kind_of_connector(self.name), part.cause) if part.diagnosis else None

    @property
    def parts(self) -> "tuple[ConnectorStatus | TaskStatus, ...]":
        return (self, *self.tasks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """`reasons` say why it is not simply RUNNING; `connector` is None when it was not seen."""

    state: ObservedState
    observed_at: datetime
    reasons: tuple[str, ...] = ()
    connector: ConnectorStatus | None = None

    @property
    def rests(self) -> bool:
        """Whether the connector itself is paused or stopped: also when its tasks have failed."""
        return self.connector is not None and self.connector.state in RESTING

    @property
    def has_failed(self) -> bool:
        """Whether the connector or one of its tasks has."""
        return self.connector is not None and any(part.state is ReportedState.FAILED for part in self.connector.parts)

    @property
    def is_paused(self) -> bool:
        return self.connector is not None and self.connector.state is ReportedState.PAUSED

    @property
    def is_stopped(self) -> bool:
        return self.connector is not None and self.connector.state is ReportedState.STOPPED


MISSING = "The connector does not exist in Kafka Connect."
NEVER_DEPLOYED = "It has not been deployed."
PAUSED = "The connector is paused."

LOOKS_APART = timedelta(seconds=5)
"""What was seen twice within less was seen once: messages that were delayed arrive together."""

OLD_AFTER = OBSERVED_FOR

_STATES: Mapping[ReportedState, tuple[ObservedState, str]] = {
    ReportedState.UNASSIGNED: (ObservedState.UNASSIGNED, "No Connect worker has taken up the connector."),
    ReportedState.RESTARTING: (ObservedState.RESTARTING, "The connector is restarting."),
    ReportedState.FAILED: (ObservedState.FAILED, "The connector has failed."),
}
_TASK_PHRASES: Mapping[ReportedState, str] = {
    ReportedState.RUNNING: "is running",
    ReportedState.PAUSED: "is paused",
    ReportedState.FAILED: "has failed",
    ReportedState.UNASSIGNED: "is not taken up by any worker",
    ReportedState.RESTARTING: "is restarting",
    ReportedState.STOPPED: "is stopped",
    ReportedState.UNKNOWN: "is in a state that Headgate does not know",
}
_MAX_TASKS_NAMED = 10


def observe(status: ConnectorStatus | None, *, now: datetime, tasks: int = 1) -> Observation:
    """The observation that a status means. `None` says that the connector is absent, not that Connect is unreadable.

    A connector counts as RUNNING, PAUSED or STOPPED only when all of its tasks agree, and as RUNNING only when it has
    so many `tasks`.
    """
    if status is None:
        return Observation(state=ObservedState.NOT_DEPLOYED, observed_at=now, reasons=(MISSING,))
    state, reasons = _judge(status, tasks)
    return Observation(state=state, observed_at=now, reasons=reasons, connector=status)


def unreadable(reason: str, now: datetime) -> Observation:
    """Connect could not be read. `reason` is a sentence of ours."""
    return Observation(state=ObservedState.UNKNOWN, observed_at=now, reasons=(reason,))


def unless_old(observation: Observation | None, now: datetime) -> Observation | None:
    """The observation, or UNKNOWN with its age and its `observed_at` when nobody has looked for a while."""
    if observation is None or now - observation.observed_at < OLD_AFTER:
        return observation
    at, state = observation.observed_at, observation.state
    age = last_looked(at, now)
    before = observation.reasons if state is ObservedState.UNKNOWN else (f"It was {state} then.",)
    return Observation(state=ObservedState.UNKNOWN, observed_at=at, reasons=(age, *before))


def unless_ahead(observation: Observation | None, now: datetime) -> Observation | None:
    """The observation, or None when it is of a time that has not come yet."""
    # The clock was set back since, and the observation would count as the newest until that time.
    return None if observation is None or observation.observed_at - now > CLOCKS_APART else observation


def newer(first: Observation | None, second: Observation | None) -> Observation | None:
    """The later of two observations; the first when they are of the same time."""
    if first is None or second is None:
        return first or second
    return second if second.observed_at > first.observed_at else first


def _judge(status: ConnectorStatus, expected: int) -> tuple[ObservedState, tuple[str, ...]]:
    match status.state:
        case ReportedState.RUNNING:
            return _judge_running(status, expected)
        case ReportedState.PAUSED:
            return _judge_inactive(ObservedState.PAUSED, status, ReportedState.PAUSED)
        case ReportedState.STOPPED:
            # A stopped connector has no tasks, so no state is expected: whatever is left has not ended yet.
            return _judge_inactive(ObservedState.STOPPED, status, None)
        case ReportedState.UNKNOWN:
            return ObservedState.UNKNOWN, ("Kafka Connect reports a connector state that Headgate does not know.",)
    state, sentence = _STATES[status.state]
    hint = status.hint(status)
    failed = _tasks_that(status, lambda task: task.state is ReportedState.FAILED)
    return state, (sentence, *((hint.message,) if hint else ()), *failed)


def _judge_running(status: ConnectorStatus, expected: int) -> tuple[ObservedState, tuple[str, ...]]:
    states = {task.state for task in status.tasks}
    if states == {ReportedState.RUNNING} and len(status.tasks) < expected:
        return ObservedState.DEGRADED, (f"It has {len(status.tasks)} of its {expected} tasks.",)
    if states == {ReportedState.RUNNING}:
        return ObservedState.RUNNING, ()
    # Connect starts the tasks of a new connector with its next rebalance.
    if not states:
        return ObservedState.UNASSIGNED, ("The connector runs and has no task yet.",)
    state = ObservedState.FAILED if states == {ReportedState.FAILED} else ObservedState.DEGRADED
    return state, _tasks_that(status, lambda task: task.state is not ReportedState.RUNNING)


def _judge_inactive(
    state: ObservedState, status: ConnectorStatus, expected: ReportedState | None
) -> tuple[ObservedState, tuple[str, ...]]:
    others = _tasks_that(status, lambda task: task.state is not expected)
    if others:
        # A task that has failed is neither paused nor stopped. A stopped connector loses its tasks, also these.
        all_failed = {task.state for task in status.tasks} == {ReportedState.FAILED}
        wrong = ObservedState.FAILED if all_failed and state is ObservedState.PAUSED else ObservedState.DEGRADED
        return wrong, (f"The connector is {state.lower()}, but not all of its tasks are.", *others)
    return state, (PAUSED if state is ObservedState.PAUSED else f"The connector is {state.lower()}.",)


def _tasks_that(status: ConnectorStatus, picked: Callable[[TaskStatus], bool]) -> tuple[str, ...]:
    chosen = [task for task in status.tasks if picked(task)]
    sentences = [_task_sentence(status, task) for task in chosen[:_MAX_TASKS_NAMED]]
    rest = len(chosen) - len(sentences)
    return (*sentences, f"{rest} more tasks are not listed here.") if rest else tuple(sentences)


def _task_sentence(status: ConnectorStatus, task: TaskStatus) -> str:
    hint = status.hint(task)
    return f"Task {task.id} {_TASK_PHRASES[task.state]}." + (f" {hint.message}" if hint else "")
