"""The clock, the spelling of times in the API, and deadlines."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

Clock = Callable[[], datetime]
"""Returns the current time, in UTC with its zone. Handed in wherever something depends on it."""


def utc_now() -> datetime:
    """The current time, cut to milliseconds: what the API shows."""
    return to_milliseconds(datetime.now(UTC))


def to_milliseconds(at: datetime) -> datetime:
    """The time without what is below a millisecond, so that a stored time equals the shown one."""
    return at.replace(microsecond=at.microsecond // 1000 * 1000)


@lru_cache(maxsize=256)
def rfc3339(at: datetime) -> str:
    """`2026-01-31T12:00:00.000Z`: RFC 3339, UTC, milliseconds; sorts as text."""
    # Kept, because what one look has seen is of one time, and a list shows it in each entry.
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class Deadline:
    """A time on the monotonic clock, in seconds, after which no work is started any more."""

    at: float

    @classmethod
    def after(cls, seconds: float) -> "Deadline":
        return cls(time.monotonic() + seconds)

    def remaining(self, at_most: float = float("inf")) -> float:
        """Seconds that remain, never below 0 and never above `at_most`."""
        return max(0.0, min(at_most, self.at - time.monotonic()))

    def within(self, seconds: float) -> "Deadline":
        """The deadline of one step that may take that many seconds."""
        return Deadline.after(self.remaining(seconds))

    @property
    def passed(self) -> bool:
        return self.remaining() <= 0
