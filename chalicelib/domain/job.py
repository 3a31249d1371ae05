"""A durable request to look at a source: discovery or health."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from chalicelib.domain.access import SYSTEM


class JobKind(StrEnum):
    """What the job does."""

    DISCOVERY = "DISCOVERY"
    HEALTH = "HEALTH"


class JobStatus(StrEnum):
    """Where the job is. A worker that dies leaves it RUNNING with a lease that runs out."""

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"

    @property
    def terminal(self) -> bool:
        """It will not change any more."""
        return self in (JobStatus.COMPLETED, JobStatus.FAILED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job row. `result` and the error are sanitized; `lease_until` is until when its worker is believed alive; the
    actor is who asked for it.
    """

    id: str
    kind: JobKind
    status: JobStatus = JobStatus.PENDING
    resource_type: str
    resource_id: str
    result: Mapping[str, Any] | None = None
    error_code: str | None = None
    error_message: str | None = None
    attempts: int = 0
    actor_id: str | None = None
    actor_email: str | None = None
    actor_via: str = SYSTEM.via
    correlation_id: str
    lease_until: datetime | None = None
    revision: int = 1
    created_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
