"""The last look at a registered system."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class HealthStatus(StrEnum):
    """`UNKNOWN` means never looked at."""

    UNKNOWN = "UNKNOWN"
    HEALTHY = "HEALTHY"
    UNHEALTHY = "UNHEALTHY"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A sanitized error with the moment it was met."""

    code: str
    message: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What the last look told, and when it was."""

    status: HealthStatus = HealthStatus.UNKNOWN
    checked_at: datetime | None = None
    last_error: Failure | None = None
