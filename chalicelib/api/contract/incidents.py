"""Incidents (wire contract, section 5)."""

from typing import Annotated

from pydantic import AliasPath, BeforeValidator, Field

from chalicelib.api.contract.common import Input, Output, Timestamp, Uuid
from chalicelib.api.contract.lists import ListQuery
from chalicelib.api.contract.runtime import CauseOutput
from chalicelib.domain.monitoring.condition import DESCRIPTIONS, Category, ConditionCode, Severity
from chalicelib.domain.monitoring.incident import IncidentStatus


class IncidentQuery(ListQuery):
    """Filters of incidents: each that is given has to hold."""

    status: IncidentStatus | None = None
    active: bool | None = Field(default=None, description="true: not resolved; false: resolved.")
    pipeline_id: Uuid | None = None
    destination_id: Uuid | None = None


class IncidentStatusQuery(Input):
    """The status that an incident gets."""

    status: IncidentStatus


def _category_of(code: ConditionCode) -> Category:
    return DESCRIPTIONS[code].category


class IncidentResourceOutput(Output):
    """What an incident is about: a source, destination, pipeline, delivery, connect_cluster or the installation. Its
    name is as it was when the incident began, null where it has none.
    """

    type: str
    id: str
    name: str | None


class IncidentOutput(Output):
    """Something that is or was wrong. `code` is an event kind, or one of STALLED, LOG_AT_RISK, CHANGES_LOST,
    CAPTURE_NARROWED, CONFIG_DRIFT, AUDIT_TRAIL_CHANGED, UNREADABLE_ROW. `hint` says what it means and what to do.
    """

    id: str
    resource: IncidentResourceOutput
    cause: CauseOutput | None = Field(validation_alias=AliasPath("condition", "cause"))
    category: Annotated[Category, BeforeValidator(_category_of)] = Field(
        validation_alias=AliasPath("condition", "code")
    )
    severity: Severity = Field(validation_alias=AliasPath("condition", "severity"))
    code: str = Field(validation_alias=AliasPath("condition", "code"))
    message: str = Field(validation_alias=AliasPath("condition", "message"))
    hint: str | None = Field(validation_alias=AliasPath("condition", "hint"))
    status: IncidentStatus
    pipeline_id: str | None = Field(validation_alias=AliasPath("associations", "pipeline_id"))
    destination_id: str | None = Field(validation_alias=AliasPath("associations", "destination_id"))
    delivery_id: str | None = Field(validation_alias=AliasPath("associations", "delivery_id"))
    connector_name: str | None = Field(validation_alias=AliasPath("condition", "connector_name"))
    task_id: int | None = Field(validation_alias=AliasPath("condition", "task_id"))
    occurrences: int

    first_seen_at: Timestamp
    last_seen_at: Timestamp
    resolved_at: Timestamp | None
    correlation_id: str | None
