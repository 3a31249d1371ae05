"""A durable request to read a registered resource: discovery or health."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from chalicelib.domain.access import SYSTEM, Actor
from chalicelib.domain.lease import is_free


class JobKind(StrEnum):
    """What is requested. What it means for a type of resource is in the table of job handlers (see `wiring`)."""

    DISCOVERY = "DISCOVERY"
    HEALTH = "HEALTH"


class JobStatus(StrEnum):
    """A worker that dies leaves its job RUNNING with a lease that ends."""

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"

    @property
    def terminal(self) -> bool:
        return self in (JobStatus.COMPLETED, JobStatus.FAILED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A stored job. The actor is who requested it; `result` and the error are sanitized.

    `max_tables` is how many tables a discovery reads at most; null: as many as the last one.

    A sweep sends it to a worker again after `lease_until`: until then the message of a PENDING job may still arrive,
    and the worker of a RUNNING one counts as alive.
    """

    id: str
    kind: JobKind
    status: JobStatus = JobStatus.PENDING
    resource_type: str
    resource_id: str
    max_tables: int | None = None
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

    @property
    def actor(self) -> Actor:
        """Who requested it; the role is not recorded."""
        return Actor(id=self.actor_id, email=self.actor_email, role=None, via=self.actor_via)

    @property
    def error(self) -> Mapping[str, str | None] | None:
        """`{"code", "message"}` of a failed job."""
        return {"code": self.error_code, "message": self.error_message} if self.error_code else None

    def may_run(self, now: datetime) -> bool:
        """Whether a worker may take it: no worker has begun it, or the lease of the one that did has ended."""
        return self.status is JobStatus.PENDING or (not self.status.terminal and is_free(self.lease_until, now))
