"""The audit trail."""

from typing import Any

from pydantic import Field

from chalicelib.api.contract.common import Integer, Output, Timestamp, Uuid
from chalicelib.api.contract.lists import ListQuery
from chalicelib.domain.audit import Outcome


class AuditQuery(ListQuery):
    """Filters of the audit trail."""

    limit: Integer = Field(default=100, ge=1, le=500)
    resource_id: Uuid | None = None
    include_related: bool = Field(default=False, description="With resource_id: a destination's deliveries too.")
    meaningful: bool | None = Field(default=None, description="true leaves out routine observations and jobs.")


class ActorOutput(Output):
    """Who did it. `id` is null for Headgate itself."""

    id: str | None
    email: str | None
    via: str


class AuditOutput(Output):
    """One record."""

    id: str
    at: Timestamp
    actor: ActorOutput
    action: str
    resource_type: str
    resource_id: str | None
    parent_id: str | None
    outcome: Outcome
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    correlation_id: str
    meaningful: bool
