"""Audit records: who did what to which resource, with what outcome and change. Never a secret."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from chalicelib.domain.access import Actor


class Outcome(StrEnum):
    """How an action ended, or that it was requested."""

    REQUESTED = "requested"
    SUCCESS = "success"
    DENIED = "denied"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """One record. `action` is `<resource_type>.<verb>`; `before` and `after` are public views of the resource.

    `meaningful` is false for routine actions: jobs, tests, sign-ins. `parent_id` is the destination of a delivery.
    """

    id: str
    at: datetime
    actor_id: str | None
    actor_email: str | None
    actor_via: str
    action: str
    resource_type: str
    resource_id: str | None
    parent_id: str | None = None
    outcome: Outcome
    before: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | None = None
    correlation_id: str
    meaningful: bool = True

    @property
    def actor(self) -> Actor:
        """Who did it; the role is not recorded."""
        return Actor(id=self.actor_id, email=self.actor_email, role=None, via=self.actor_via)
