"""Time: one place to ask for it, one spelling on the wire, and budgets that are handed down."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

Clock = Callable[[], datetime]
"""Gives the present moment, with a zone, in UTC. Handed in wherever something happens "now"."""


def utc_now() -> datetime:
    """The present moment, cut to the milliseconds that the wire shows."""
    return to_milliseconds(datetime.now(UTC))


def to_milliseconds(moment: datetime) -> datetime:
    """The same moment without what is below a millisecond, so that a stored time equals a shown one."""
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def rfc3339(moment: datetime) -> str:
    """`2026-01-31T12:00:00.000Z`: RFC 3339, UTC, milliseconds; sorts as text."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment on the monotonic clock after which no more work is worth starting."""

    at: float

    @classmethod
    def after(cls, seconds: float) -> "Deadline":
        """The deadline that many seconds from now."""
        return cls(time.monotonic() + seconds)

    def remaining(self, at_most: float = float("inf")) -> float:
        """Seconds that remain, never below 0 and never above `at_most`."""
        return max(0.0, min(at_most, self.at - time.monotonic()))

    @property
    def passed(self) -> bool:
        """Whether nothing is left."""
        return self.remaining() <= 0
