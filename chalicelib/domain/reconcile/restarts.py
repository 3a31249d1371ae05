"""When a connector that has failed is started again by itself: for which failures, how often, how far apart.

Kafka Connect never starts a failed connector or task again by itself, whatever it failed of, and when a worker comes up
while Headgate's secrets are out of reach, all of its connectors fail at once.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from chalicelib.domain.classify import diagnoses
from chalicelib.domain.classify.diagnoses import Diagnosis
from chalicelib.domain.observation import ConnectorStatus, Hint, Observation, ObservedState, TaskStatus
from chalicelib.kit.clock import rfc3339

PAUSES = tuple(timedelta(minutes=minutes) for minutes in (1, 2, 4, 8, 16, 30))
"""How long after the first, second ... attempt the next one may come; after the last of these, always that long."""

MOST_RESTARTS = 20
"""Attempts for one connector until it has run for a while: more than seven hours, a night."""

STEADY_AFTER = timedelta(minutes=10)
"""How long it has to run without a break until earlier failures are forgotten."""

STUCK_AFTER = timedelta(minutes=1)
"""How long RESTARTING is nothing but that. A restart that cannot read the secrets stays so for ever."""

RESTARTED_PER_TICK = 20

MENDABLE: tuple[Diagnosis, ...] = (
    # The secrets of Headgate out of reach.
    diagnoses.SECRET,
    # The other side out of reach, going, coming, or full: it comes back by itself, or somebody brings it back.
    diagnoses.CONNECTION,
    diagnoses.NO_SINK_CONNECTION,
    diagnoses.HOST_NAME,
    diagnoses.GOING_DOWN,
    diagnoses.TOO_MANY,
    diagnoses.READ_ONLY,
    diagnoses.DISK_FULL,
    # What another process holds for a while.
    diagnoses.SLOT_BUSY,
    diagnoses.WAL_SENDERS,
    diagnoses.WAL_DECODING,
    # Writes that may be repeated.
    diagnoses.DEADLOCK,
    diagnoses.SLOW_DOWN,
    diagnoses.RETRIES,
    # The worker and its brokers.
    diagnoses.MEMORY,
    diagnoses.BROKER,
    # What nobody knows. It may be any of these.
    diagnoses.GENERAL,
)
"""What a restart can mend. Everything else (a refused password, a missing right, table or slot, a type that the target
lacks, a row that does not fit) fails again at once, and a wrong password that is tried again and again locks accounts.
"""

_HINTS = frozenset(Hint(event_type=kind, message=sentence) for rule in MENDABLE for kind, sentence in rule.values())
_MAY_AIL = frozenset({ObservedState.FAILED, ObservedState.DEGRADED, ObservedState.RESTARTING})


class Ailment(StrEnum):
    """What a restart is meant to mend: parts that have failed, or a restart that does not come to its end."""

    FAILED = "FAILED"
    STUCK = "STUCK"


@dataclass(frozen=True, slots=True, kw_only=True)
class Restarts:
    """What was tried for one connector, `count` times and last at `tried_at`.

    `ailment` is what it had when it was last seen, `since` how long it has had that; `running_since` is how long it has
    been running again.
    """

    count: int = 0
    tried_at: datetime | None = None
    ailment: Ailment | None = None
    since: datetime | None = None
    running_since: datetime | None = None

    @property
    def next_at(self) -> datetime | None:
        """The earliest moment of the next attempt; null when there was none yet, or there will be none."""
        if self.tried_at is None or self.count >= MOST_RESTARTS:
            return None
        return self.tried_at + PAUSES[min(self.count, len(PAUSES)) - 1]


def ailment(seen: Observation) -> Ailment | None:
    """What a restart could mend about a connector that should be running."""
    if seen.connector is None or seen.state not in _MAY_AIL:
        return None
    parts: list[ConnectorStatus | TaskStatus] = [seen.connector, *seen.connector.tasks]
    failed = [part.hint for part in parts if part.state == "FAILED"]
    if failed:
        return Ailment.FAILED if all(hint is None or hint in _HINTS for hint in failed) else None
    return Ailment.STUCK if any(part.state == "RESTARTING" for part in parts) else None


def look_again(before: Restarts | None, seen: Observation, now: datetime) -> Restarts | None:
    """What is remembered of a connector that should be running, after this look at it; None when that is nothing."""
    known, ails = before or Restarts(), ailment(seen)
    if ails:
        since = known.since if ails is known.ailment else now
        return replace(known, ailment=ails, since=since, running_since=None)
    if not known.count:
        return None
    if seen.state is not ObservedState.RUNNING:
        return replace(known, ailment=None, since=None, running_since=None)
    running_since = known.running_since or now
    if now - running_since >= STEADY_AFTER:
        return None
    return replace(known, ailment=None, since=None, running_since=running_since)


def due(before: Restarts | None, after: Restarts, now: datetime) -> bool:
    """Whether to try now: what it has was seen at the look before as well, and the pause is over."""
    if before is None or after.ailment is None or after.ailment is not before.ailment or after.since is None:
        return False
    if after.ailment is Ailment.STUCK and now - after.since < STUCK_AFTER:
        return False
    if after.count >= MOST_RESTARTS:
        return False
    return after.next_at is None or now >= after.next_at


def chosen(before: Mapping[str, Restarts], after: Mapping[str, Restarts], now: datetime) -> tuple[str, ...]:
    """The names whose turn it is: a bounded number, those first that have waited longest."""
    ready = [name for name, one in after.items() if due(before.get(name), one, now)]
    ready.sort(key=lambda name: (after[name].count, after[name].tried_at or after[name].since or now))
    return tuple(ready[:RESTARTED_PER_TICK])


def tried(one: Restarts, now: datetime) -> Restarts:
    """The same after one more attempt."""
    return replace(one, count=one.count + 1, tried_at=now)


def told(one: Restarts) -> str | None:
    """The sentence for people while it ails; None before the first attempt."""
    if not one.count or one.ailment is None:
        return None
    times = "once" if one.count == 1 else f"{one.count} times"
    if one.next_at is None:
        return f"Headgate has tried to restart it {times} and does not try again. Mend the cause, then restart it."
    return f"Headgate has tried to restart it {times}; next try at {rfc3339(one.next_at)}."
