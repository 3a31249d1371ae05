"""Incidents. Resolved ones are kept for ninety days."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from pynamodb.expressions.condition import Condition

from chalicelib.domain.monitoring.incident import Incident, IncidentStatus
from chalicelib.kit.pages import Page
from chalicelib.stores.documents import Documents
from chalicelib.stores.tables import LISTING, document_table

IncidentRows = document_table(
    "incidents", groups=("active", "origin", "resource_id", "pipeline_id", "destination_id"), copied=("status",)
)
_RETENTION = timedelta(days=90)
_ACTIVE = "active"


def claim_of(key: str) -> str:
    """The claim that the current incident about a condition holds."""
    return f"incident/{key}"


class Incidents(Documents[Incident]):
    """Incidents by id; the active ones also as one group, the current ones by their origin and by their resource."""

    table, entity, noun = IncidentRows, Incident, "incident"

    def groups(self, entity: Incident) -> Mapping[str, str | None]:
        return {
            "active": _ACTIVE if entity.is_active else None,
            "origin": entity.origin if entity.is_current else None,
            "resource_id": entity.condition.resource_id if entity.is_current else None,
            "pipeline_id": entity.associations.pipeline_id,
            "destination_id": entity.associations.destination_id,
        }

    def counted_as(self, entity: Incident) -> str | None:
        return entity.status if entity.is_active else None

    def expires_at(self, entity: Incident) -> datetime | None:
        return entity.resolved_at + _RETENTION if entity.resolved_at and not entity.is_current else None

    def current_of(self, origin: str) -> Iterator[Incident]:
        """All incidents of an origin whose condition was not seen to end, without a bound: for workers only."""
        return self.all_in("origin", origin)

    def current_about(self, resource_id: str) -> Iterator[Incident]:
        """All incidents of a resource whose condition was not seen to end."""
        return self.all_in("resource_id", resource_id)

    def filtered(
        self,
        *,
        limit: int,
        after: str | None = None,
        status: IncidentStatus | None = None,
        active: bool | None = None,
        pipeline_id: str | None = None,
        destination_id: str | None = None,
    ) -> Page[Incident]:
        """Newest first. Each filter that is not None has to hold."""
        row: Any = IncidentRows
        only_active = active is True or status in {IncidentStatus.OPEN, IncidentStatus.ACKNOWLEDGED}
        groups = (
            ("pipeline_id", pipeline_id),
            ("destination_id", destination_id),
            ("active", _ACTIVE if only_active else None),
            (LISTING, self.noun),
        )
        (group, value), *rest = ((name, wished) for name, wished in groups if wished is not None)
        conditions: list[Condition] = [getattr(row, name) == wished for name, wished in rest if name != LISTING]
        if status:
            conditions.append(row.status == status)
        if active is False:
            conditions.append(row.status == IncidentStatus.RESOLVED)
        only = conditions[0] if conditions else None
        for condition in conditions[1:]:
            only = only & condition if only is not None else condition
        return self.list_in(group, value, limit=limit, after=after, by_size=True, only=only)
