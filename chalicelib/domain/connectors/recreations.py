"""When a connector that has vanished is created again: how often, how far apart, and for how long nothing is tried.

Each attempt makes Kafka Connect validate the config, for which a plug-in logs in to its database: attempts that follow
each other closely lock accounts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from chalicelib.domain.health import Failure
from chalicelib.domain.observation import MISSING
from chalicelib.kit.clock import rfc3339

PAUSES = (timedelta(seconds=10), *(timedelta(minutes=minutes) for minutes in (1, 2, 4, 8, 16, 30)))
"""How long to wait after the first, second ... attempt; after more attempts, as long as the last. The first one is
short: it may have met a rebalance, or its process may have ended before it.
"""

VANISHED_TIMES = 3
VANISHED_WITHIN = timedelta(minutes=15)
"""A connector that vanishes so often within that time has another owner: Strimzi, for one, deletes the connectors for
which it has no resource (`strimzi.io/use-connector-resources`).
"""

CONTESTED_PAUSES = tuple(timedelta(minutes=minutes) for minutes in (10, 20, 40, 60))
"""The pauses after that."""

STEADY_AFTER = timedelta(minutes=15)
"""How long it has to exist without a break until earlier attempts are forgotten."""

CREATED_PER_TICK = 10

_AT_ONCE = "To try at once, deploy the pipeline again, or send the delivery's mappings again."
CONTESTED = (
    "It vanishes again and again although nobody has asked for that: something else seems to own the connectors of "
    "this Connect cluster, for example Strimzi with `strimzi.io/use-connector-resources`. Turn that off."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recreations:
    """What was tried for one connector that was missing, `count` times and last at `tried_at`.

    `vanished` are the last times at which it was found missing after it had existed, `contested` says that they were
    too close; `seen_since` is how long it has existed again.
    """

    count: int = 0
    tried_at: datetime | None = None
    vanished: tuple[datetime, ...] = ()
    contested: bool = False
    seen_since: datetime | None = None

    @property
    def next_at(self) -> datetime | None:
        """The earliest time of the next attempt; None before the first."""
        if self.tried_at is None:
            return None
        pauses, number = (CONTESTED_PAUSES, self.count - VANISHED_TIMES) if self.contested else (PAUSES, self.count - 1)
        return self.tried_at + pauses[max(0, min(number, len(pauses) - 1))]


def when_present(before: Recreations | None, now: datetime) -> Recreations | None:
    """What to remember of a connector that exists again; None when that is nothing."""
    if before is None:
        return None
    seen_since = before.seen_since or now
    return None if now - seen_since >= STEADY_AFTER else replace(before, seen_since=seen_since)


def when_missing(before: Recreations | None, now: datetime) -> Recreations:
    if before is not None and before.seen_since is None:
        return before
    earlier = before or Recreations()
    vanished = (*earlier.vanished, now)[-VANISHED_TIMES:]
    too_often = len(vanished) == VANISHED_TIMES and now - vanished[0] <= VANISHED_WITHIN
    return replace(earlier, vanished=vanished, contested=earlier.contested or too_often, seen_since=None)


def is_due(recreations: Recreations, now: datetime) -> bool:
    return recreations.next_at is None or now >= recreations.next_at


def choose(due: Mapping[str, Recreations], now: datetime) -> tuple[str, ...]:
    """The names to create now: a bounded number, first those that were tried least and have waited longest."""
    order = sorted(due, key=lambda name: (due[name].count, due[name].tried_at or now))
    return tuple(order[:CREATED_PER_TICK])


def with_attempt(recreations: Recreations, now: datetime) -> Recreations:
    return replace(recreations, count=recreations.count + 1, tried_at=now)


def reasons(recreations: Recreations | None, last_error: Failure | None) -> tuple[str, ...]:
    """For people: that it is missing, what was tried, why that failed and when it is tried again.

    `last_error` is that of its resource, which may be older than the attempts.
    """
    if recreations is None or recreations.tried_at is None or recreations.next_at is None:
        return (MISSING,)
    times = "once" if recreations.count == 1 else f"{recreations.count} times"
    tried = f"Headgate has tried to create it again {times}; next try at {rfc3339(recreations.next_at)}. {_AT_ONCE}"
    failure = last_error if last_error and last_error.at >= recreations.tried_at else None
    if failure:
        return (MISSING, f"The last attempt failed: {failure.message}", tried)
    # Attempts that succeeded, of something that no look has found since, are a connector that somebody removed.
    contested = recreations.contested or recreations.count >= VANISHED_TIMES
    return (MISSING, CONTESTED, tried) if contested else (MISSING, tried)
