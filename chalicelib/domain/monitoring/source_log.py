"""The log that a source keeps for a capture: how much it is, how fast it grows, and how long until changes are lost."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

SHORTEST_INTERVAL = timedelta(seconds=30)
"""Nothing is measured between two looks that are closer together."""

LONGEST_INTERVAL = timedelta(minutes=15)
"""Looks that are further apart say nothing about the rate now; a clock that was changed looks like this, too."""

SMOOTHED_OVER = timedelta(minutes=5)
"""A reader confirms what it has read in steps (Kafka Connect: once a minute), so that one interval says little."""

MAX_BYTES_PER_SECOND = 10 * 1024**3
"""No server writes so much: the two looks saw different logs."""

LONGEST_TO_LOSS = timedelta(days=365)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogGrowth:
    """How fast what is kept grows, and what the next look needs to measure it again.

    `end` is where the log ended at that time, in bytes. `per_second` is smoothed, `latest` is that of the last interval
    alone, both in bytes per second: what is written while nobody reads, else what is written less what is released.
    Both are null until two looks can be compared.
    """

    at: datetime
    end: int
    retained_bytes: int
    active: bool
    per_second: float | None = None
    latest: float | None = None

    @property
    def rate(self) -> float | None:
        """The rate to expect: after a burst what is kept has stopped growing, whatever the mean says."""
        if self.per_second is None or self.latest is None:
            return None
        return min(self.per_second, self.latest)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogState:
    """The log for one capture. What is null is not known; `active` says whether something reads it.

    `kind` is what keeps the log there, in the word of the provider, and `name` is its name.
    `safe_bytes` may still be written before something is lost, null where nothing bounds it too. `status` is the
    server's own word. `seconds_to_loss` is null as well while the loss does not come nearer. `written_until` is when
    the oldest part that is needed was last known to be written to, where the log is removed by its age.
    """

    kind: str
    name: str
    active: bool | None
    retained_bytes: int | None
    safe_bytes: int | None
    status: str | None
    seconds_to_loss: int | None
    observed_at: datetime
    growth: LogGrowth | None = None
    written_until: datetime | None = None


def grown(before: LogGrowth | None, now: LogGrowth) -> LogGrowth:
    """`now`, with its rate since `before`. The measurement begins anew where the two looks cannot be compared."""
    if before is None:
        return now
    seconds = (now.at - before.at).total_seconds()
    if 0 <= seconds < SHORTEST_INTERVAL.total_seconds():
        return before
    written, more_retained = now.end - before.end, now.retained_bytes - before.retained_bytes
    # A log does not end earlier than before, and no more is kept of it than was written: else it is another one.
    is_same_log = 0 <= written <= MAX_BYTES_PER_SECOND * seconds and more_retained <= written
    if seconds < 0 or seconds > LONGEST_INTERVAL.total_seconds() or not is_same_log:
        return now
    latest = (more_retained if now.active else written) / seconds
    if before.per_second is None or before.active != now.active:
        return replace(now, per_second=latest, latest=latest)
    weight = min(1.0, seconds / SMOOTHED_OVER.total_seconds())
    return replace(now, per_second=before.per_second + weight * (latest - before.per_second), latest=latest)


def seconds_until_lost(safe_bytes: int | None, rate: float | None) -> int | None:
    """When `safe_bytes` will have been written at this rate. None: unlimited, not known, not growing, or in a year."""
    if safe_bytes is None:
        return None
    if safe_bytes <= 0:
        return 0
    if rate is None or rate * LONGEST_TO_LOSS.total_seconds() < safe_bytes:
        return None
    return int(safe_bytes / rate)
