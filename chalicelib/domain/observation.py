"""Observed state: from a connector and all of its tasks. Never mixed with what is desired."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from chalicelib.domain.names import ConnectorKind, parse_connector_name
from chalicelib.kit.clock import rfc3339


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """What the classifier finds in a trace: an event kind of the specification (section 6) and a sentence of ours."""

    event_type: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStatus:
    """One task as Connect reports it, its trace replaced by a hint."""

    id: int
    state: str
    worker_id: str | None
    hint: Hint | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorStatus:
    """A connector as Connect reports it, traces replaced by hints. `state` is spelled as Connect does."""

    name: str
    state: str
    worker_id: str | None
    tasks: tuple[TaskStatus, ...]
    hint: Hint | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """`reasons` say why it is not simply RUNNING; `connector` is None when it was not seen."""

    state: ObservedState
    observed_at: datetime
    reasons: tuple[str, ...] = ()
    connector: ConnectorStatus | None = None

    @property
    def rests(self) -> bool:
        """Whether the connector itself is paused or stopped: DEGRADED all the same when one of its tasks has failed."""
        return self.connector is not None and self.connector.state in ("PAUSED", "STOPPED")


PAUSED_CAPTURE = (
    "Pausing stops what reaches Kafka, not the capture itself: a replication slot stays active, and the source keeps "
    "its log for it until it is resumed."
)
MISSING = "The connector does not exist in Kafka Connect."

LOOKS_APART = timedelta(seconds=5)
"""What was seen twice within less was seen once: messages that were delayed arrive together."""

OLD_AFTER = timedelta(minutes=3)
"""How long an observation counts. Ticks are ten seconds apart, and at most a minute while Connect does not answer."""

CLOCKS_APART = timedelta(seconds=5)
"""By how much the clocks of two machines may differ."""

_STATES = {
    "UNASSIGNED": (ObservedState.UNASSIGNED, "No Connect worker has taken up the connector."),
    "RESTARTING": (ObservedState.RESTARTING, "The connector is restarting."),
    "FAILED": (ObservedState.FAILED, "The connector has failed."),
}
_TASK_PHRASES = {
    "RUNNING": "is running",
    "PAUSED": "is paused",
    "FAILED": "has failed",
    "UNASSIGNED": "is not taken up by any worker",
    "RESTARTING": "is restarting",
    "STOPPED": "is stopped",
}
_MAX_TASKS_NAMED = 10


def observe(status: ConnectorStatus | None, *, now: datetime, tasks: int = 1) -> Observation:
    """The observation that a status means. `None` says that the connector is absent, not that Connect is unreadable.

    A connector counts as RUNNING, PAUSED or STOPPED only when all of its tasks agree, and as RUNNING only when it has
    so many `tasks`.
    """
    if status is None:
        return Observation(state=ObservedState.NOT_DEPLOYED, observed_at=now, reasons=(MISSING,))
    state, found = _judge(status, tasks)
    return Observation(state=state, observed_at=now, reasons=found, connector=status)


def observe_again(before: Observation | None, status: ConnectorStatus, *, now: datetime, tasks: int = 1) -> Observation:
    """The same, or the observation before, with its older `observed_at`, when nothing has changed and it had no
    reasons: most connectors run, and are not judged in every tick.
    """
    if before is not None and not before.reasons and before.connector == status:
        return before
    return observe(status, now=now, tasks=tasks)


def unreadable(reason: str, now: datetime) -> Observation:
    """Connect could not be read. `reason` is a sentence of ours."""
    return Observation(state=ObservedState.UNKNOWN, observed_at=now, reasons=(reason,))


def unless_old(seen: Observation | None, now: datetime) -> Observation | None:
    """The observation, or UNKNOWN with its age and its `observed_at` when nobody has looked for a while."""
    if seen is None or now - seen.observed_at < OLD_AFTER:
        return seen
    minutes = (now - seen.observed_at) // timedelta(minutes=1)
    age = f"Headgate last looked at {rfc3339(seen.observed_at)}, {minutes} minutes ago. The state now is not known."
    before = seen.reasons if seen.state is ObservedState.UNKNOWN else (f"It was {seen.state} then.",)
    return Observation(state=ObservedState.UNKNOWN, observed_at=seen.observed_at, reasons=(age, *before))


def unless_ahead(seen: Observation | None, now: datetime) -> Observation | None:
    """The observation, or None when it is of a time that has not come yet: the clock was set back since. Otherwise it
    would count as the newest until that time.
    """
    return None if seen is None or seen.observed_at - now > CLOCKS_APART else seen


def newer(first: Observation | None, second: Observation | None) -> Observation | None:
    """The later of two observations; the first when they are of the same time."""
    if first is None or second is None:
        return first or second
    return second if second.observed_at > first.observed_at else first


def _judge(status: ConnectorStatus, expected: int) -> tuple[ObservedState, tuple[str, ...]]:
    match status.state:
        case "RUNNING":
            return _judge_running(status.tasks, expected)
        case "PAUSED":
            state, reasons = _judge_inactive(ObservedState.PAUSED, status.tasks, "PAUSED")
            return state, (*reasons, *_what_pausing_means(status.name))
        case "STOPPED":
            return _judge_inactive(ObservedState.STOPPED, status.tasks, None)
        case "UNASSIGNED" | "RESTARTING" | "FAILED" as shown:
            state, sentence = _STATES[shown]
            cause = (status.hint.message,) if status.hint else ()
            return state, (sentence, *cause, *_tasks_that(status.tasks, lambda task: task.state == "FAILED"))
        case _:
            return ObservedState.UNKNOWN, ("Kafka Connect reports a connector state that Headgate does not know.",)


def _judge_running(tasks: tuple[TaskStatus, ...], expected: int) -> tuple[ObservedState, tuple[str, ...]]:
    states = {task.state for task in tasks}
    if states == {"RUNNING"} and len(tasks) < expected:
        return ObservedState.DEGRADED, (f"It has {len(tasks)} of its {expected} tasks.",)
    if states == {"RUNNING"}:
        return ObservedState.RUNNING, ()
    if not states:
        return ObservedState.UNASSIGNED, ("The connector runs and has no task yet.",)
    return ObservedState.DEGRADED, _tasks_that(tasks, lambda task: task.state != "RUNNING")


def _judge_inactive(
    state: ObservedState, tasks: tuple[TaskStatus, ...], expected: str | None
) -> tuple[ObservedState, tuple[str, ...]]:
    others = _tasks_that(tasks, lambda task: task.state != expected)
    if others:
        return ObservedState.DEGRADED, (f"The connector is {state.lower()}, but not all of its tasks are.", *others)
    return state, (f"The connector is {state.lower()}.",)


def _what_pausing_means(name: str) -> tuple[str, ...]:
    """Measured with Debezium 3.6: the stream goes on below a paused connector, and its slot stays active."""
    parsed = parse_connector_name(name)
    if parsed is None or parsed[0] is not ConnectorKind.SOURCE:
        return ()
    return (PAUSED_CAPTURE,)


def _tasks_that(tasks: tuple[TaskStatus, ...], picked: Callable[[TaskStatus], bool]) -> tuple[str, ...]:
    chosen = [task for task in tasks if picked(task)]
    named = [
        f"Task {task.id} {_TASK_PHRASES.get(task.state, 'is in a state that Headgate does not know')}."
        + (f" {task.hint.message}" if task.hint else "")
        for task in chosen[:_MAX_TASKS_NAMED]
    ]
    rest = len(chosen) - len(named)
    return (*named, f"{rest} more tasks are not listed here.") if rest else tuple(named)
