"""Incidents (wire contract, section 5)."""

from typing import Self

from pydantic import BaseModel, ConfigDict, Field

from chalicelib.api.contract.common import Output, Timestamp, Uuid
from chalicelib.api.contract.lists import ListQuery
from chalicelib.domain.monitoring.condition import DESCRIPTIONS, Category, Severity
from chalicelib.domain.monitoring.incident import Incident, IncidentStatus


class IncidentQuery(ListQuery):
    """Filters of incidents: each that is given has to hold."""

    status: IncidentStatus | None = None
    active: bool | None = Field(default=None, description="true: not resolved; false: resolved.")
    pipeline_id: Uuid | None = None
    destination_id: Uuid | None = None


class IncidentStatusQuery(BaseModel):
    """The status that an incident gets."""

    model_config = ConfigDict(extra="forbid")

    status: IncidentStatus


class IncidentOutput(Output):
    """Something that is or was wrong. `code` is an event kind, or one of STALLED, LOG_AT_RISK, CHANGES_LOST,
    CAPTURE_NARROWED, CONFIG_DRIFT. `hint` says what it means and what to do.
    """

    id: str
    category: Category
    severity: Severity
    code: str
    message: str
    hint: str | None
    status: IncidentStatus
    pipeline_id: str | None
    destination_id: str | None
    delivery_id: str | None
    connector_name: str | None
    task_id: int | None
    occurrences: int
    first_seen_at: Timestamp
    last_seen_at: Timestamp
    resolved_at: Timestamp | None
    correlation_id: str | None

    @classmethod
    def of(cls, incident: Incident) -> Self:
        """The fields of an incident, its condition and its associations."""
        condition, associations = incident.condition, incident.associations
        return cls(
            id=incident.id,
            category=DESCRIPTIONS[condition.code].category,
            severity=condition.severity,
            code=condition.code,
            message=condition.message,
            hint=condition.hint,
            status=incident.status,
            pipeline_id=associations.pipeline_id,
            destination_id=associations.destination_id,
            delivery_id=associations.delivery_id,
            connector_name=condition.connector_name,
            task_id=condition.task_id,
            occurrences=incident.occurrences,
            first_seen_at=incident.first_seen_at,
            last_seen_at=incident.last_seen_at,
            resolved_at=incident.resolved_at,
            correlation_id=incident.correlation_id,
        )
