"""When a failed connector is restarted automatically: for which failures, how often, how far apart.

Kafka Connect never restarts a failed connector or task, whatever the failure, and when a worker starts while
it cannot read the secrets, all of its connectors fail at once.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.diagnosis.restartable import RESTARTABLE
from chalicelib.domain.observation import LOOKS_APART, Observation, ObservedState, ReportedState
from chalicelib.kit.clock import rfc3339

PAUSES = tuple(timedelta(minutes=minutes) for minutes in (1, 2, 4, 8, 16, 30))
"""How long to wait after the first, second ... attempt; after more attempts, as long as the last."""

MAX_RESTARTS = 20
"""Attempts for one connector until it has run for a while: more than seven hours, a night."""

STEADY_AFTER = timedelta(minutes=10)
"""How long it has to run without a break until earlier attempts are forgotten."""

STUCK_AFTER = timedelta(minutes=1)
"""How long RESTARTING is normal. A restart that cannot read the secrets never ends."""

RESTARTED_PER_TICK = 20

_MAY_NEED_RESTART = frozenset({ObservedState.FAILED, ObservedState.DEGRADED, ObservedState.RESTARTING})


class RestartCause(StrEnum):
    """Why to restart: the connector or tasks have failed, or an earlier restart does not end."""

    FAILED = "FAILED"
    STUCK = "STUCK"


@dataclass(frozen=True, slots=True, kw_only=True)
class Restarts:
    """What was tried for one connector, `count` times and last at `tried_at`.

    `cause` is why it needed a restart when it was last seen, None when it did not; `since` is how long it has needed
    one for that cause, `running_since` how long it has been running again.
    """

    count: int = 0
    tried_at: datetime | None = None
    cause: RestartCause | None = None
    since: datetime | None = None
    running_since: datetime | None = None

    @property
    def next_at(self) -> datetime | None:
        """The earliest time of the next attempt; None when there was none yet, or there will be none."""
        if self.tried_at is None or self.count >= MAX_RESTARTS:
            return None
        return self.tried_at + PAUSES[min(self.count, len(PAUSES)) - 1]


def restart_cause(observation: Observation) -> RestartCause | None:
    """Why a connector that should be running needs a restart; None when it does not, or when one would not help."""
    if observation.connector is None or observation.state not in _MAY_NEED_RESTART:
        return None
    parts = observation.connector.parts
    failed = [part.diagnosis or Diagnosis.GENERAL for part in parts if part.state is ReportedState.FAILED]
    if failed:
        return RestartCause.FAILED if RESTARTABLE.issuperset(failed) else None
    return RestartCause.STUCK if any(part.state is ReportedState.RESTARTING for part in parts) else None


def after_observation(before: Restarts | None, observation: Observation, now: datetime) -> Restarts | None:
    """What to remember of a connector that should be running, after it was seen; None when that is nothing."""
    earlier, cause = before or Restarts(), restart_cause(observation)
    if cause:
        since = earlier.since if cause is earlier.cause else now
        return replace(earlier, cause=cause, since=since, running_since=None)
    if not earlier.count:
        return None
    if observation.state is not ObservedState.RUNNING:
        return replace(earlier, cause=None, since=None, running_since=None)
    running_since = earlier.running_since or now
    if now - running_since >= STEADY_AFTER:
        return None
    return replace(earlier, cause=None, since=None, running_since=running_since)


def is_due(before: Restarts | None, after: Restarts, now: datetime) -> bool:
    """Whether to try now: the cause was the same in an earlier tick, and the pause is over."""
    if before is None or after.cause is None or after.cause is not before.cause or after.since is None:
        return False
    if now - after.since < (STUCK_AFTER if after.cause is RestartCause.STUCK else LOOKS_APART):
        return False
    if after.count >= MAX_RESTARTS:
        return False
    return after.next_at is None or now >= after.next_at


def choose(due: Mapping[str, Restarts], now: datetime) -> tuple[str, ...]:
    """The names to restart now: a bounded number, first those that were tried least and have waited longest."""
    order = sorted(due, key=lambda name: (due[name].count, due[name].tried_at or due[name].since or now))
    return tuple(order[:RESTARTED_PER_TICK])


def with_attempt(restarts: Restarts, now: datetime) -> Restarts:
    return replace(restarts, count=restarts.count + 1, tried_at=now)


NOT_RESTARTED = (
    "Headgate does not restart it automatically: with snapshot_mode always each start reads the whole source again. "
    "Remove the cause, then restart it."
)


def tried_restarts(restarts: Restarts) -> str | None:
    """The sentence for people while a restart is needed; None before the first attempt."""
    if not restarts.count or restarts.cause is None:
        return None
    times = "once" if restarts.count == 1 else f"{restarts.count} times"
    if restarts.next_at is None:
        return f"Headgate has tried to restart it {times} and does not try again. Mend the cause, then restart it."
    return f"Headgate has tried to restart it {times}; next try at {rfc3339(restarts.next_at)}."
