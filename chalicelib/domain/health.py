"""Health: the outcome of the last check of a registered system."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from chalicelib.domain.timing import LOOKED_AT_FOR, MINUTE
from chalicelib.kit.clock import rfc3339

NOT_OBSERVED = "NOT_OBSERVED"
"""The code of health that is not known because nobody has looked for too long."""


class HealthStatus(StrEnum):
    """`UNKNOWN` means: not checked yet, or not for so long that nobody knows."""

    UNKNOWN = "UNKNOWN"
    HEALTHY = "HEALTHY"
    UNHEALTHY = "UNHEALTHY"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A sanitized error, and when it happened."""

    code: str
    message: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthRecord:
    """What the last check found, and when. `watched`: a monitor looks each minute, so that an old check says nothing.

    What nobody watches was checked by people or jobs, and stays as they have found it.
    """

    status: HealthStatus = HealthStatus.UNKNOWN
    checked_at: datetime | None = None
    last_error: Failure | None = None
    watched: bool = False

    @classmethod
    def healthy(cls, at: datetime) -> "HealthRecord":
        return cls(status=HealthStatus.HEALTHY, checked_at=at)

    @classmethod
    def unhealthy(cls, at: datetime, code: str, message: str) -> "HealthRecord":
        return cls(status=HealthStatus.UNHEALTHY, checked_at=at, last_error=Failure(code=code, message=message, at=at))

    def says_the_same(self, other: "HealthRecord") -> bool:
        """Whether both say the same, at whatever time."""
        codes = {health.last_error.code if health.last_error else None for health in (self, other)}
        return self.status is other.status and len(codes) == 1

    def replaced_by(self, look: "HealthRecord") -> bool:
        """Whether a monitor stores what its look has found: something else, or the same before this one is too old."""
        if not self.says_the_same(look) or not self.watched or self.checked_at is None or look.checked_at is None:
            return True
        return look.checked_at - self.checked_at >= LOOKED_AT_FOR / 2

    def as_of(self, now: datetime, valid_for: timedelta = LOOKED_AT_FOR) -> "HealthRecord":
        """What is known now: UNKNOWN with the reason, when it is watched and nobody has looked for so long."""
        if not self.watched or self.checked_at is None or now - self.checked_at < valid_for:
            return self
        reason = Failure(code=NOT_OBSERVED, message=last_looked(self.checked_at, now), at=self.checked_at)
        return replace(self, status=HealthStatus.UNKNOWN, last_error=reason)


def last_looked(at: datetime, now: datetime) -> str:
    """The sentence about what nobody has looked at for too long."""
    return f"Headgate last looked at {rfc3339(at)}, {(now - at) // MINUTE} minutes ago. The state now is not known."
