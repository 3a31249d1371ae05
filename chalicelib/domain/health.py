"""Health: the outcome of the last check of a registered system."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class HealthStatus(StrEnum):
    """`UNKNOWN` means: not checked yet."""

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
    """What the last check found, and when."""

    status: HealthStatus = HealthStatus.UNKNOWN
    checked_at: datetime | None = None
    last_error: Failure | None = None

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
