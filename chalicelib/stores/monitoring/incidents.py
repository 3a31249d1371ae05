"""Incidents. Resolved ones are kept for ninety days."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import reduce
from operator import and_
from typing import Any, NamedTuple

from pynamodb.expressions.condition import Condition

from chalicelib.domain.monitoring.condition import condition_key
from chalicelib.domain.monitoring.incident import Incident, IncidentStatus
from chalicelib.kit.clock import Deadline
from chalicelib.kit.pages import Page
from chalicelib.stores.documents import Documents
from chalicelib.stores.tables import LISTING, document_table

IncidentRows = document_table(
    "incidents", groups=("active", "origin", "resource_id", "pipeline_id", "destination_id"), copied=("status",)
)
_RETENTION = timedelta(days=90)
_ACTIVE = "active"


def claim_of(key: str) -> str:
    """The key of the claim of the current incident about a condition."""
    return f"incident/{key}"


class ConditionName(NamedTuple):
    """What is known of a condition whose incident cannot be read."""

    key: str
    resource_id: str


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

    def expires_at(self, entity: Incident) -> datetime | None:
        return entity.resolved_at + _RETENTION if entity.resolved_at and not entity.is_current else None

    def count_active(self, deadline: Deadline) -> Mapping[str, int]:
        """The number of open and of acknowledged ones, by status: one call for about 900. Raises TimedOut."""
        rows = self.columns_in("active", _ACTIVE, deadline)
        return Counter(columns["status"] or "" for _, columns in rows)

    def current_of(self, origin: str) -> tuple[Sequence[Incident], Sequence[ConditionName]]:
        """All incidents of an origin whose condition goes on, and the names of the conditions of those that cannot be
        read; without a bound: for workers only.
        """
        current, unreadable = self.read_in("origin", origin)
        return current, [name for fields in unreadable if (name := _condition_name(fields))]

    def current_about(self, resource_id: str) -> Iterator[Incident]:
        """All incidents of a resource whose condition goes on."""
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
        """Newest first. An incident passes all filters that are not None."""
        row: Any = IncidentRows
        only_active = active is True or status in {IncidentStatus.OPEN, IncidentStatus.ACKNOWLEDGED}
        groups = (
            ("pipeline_id", pipeline_id),
            ("destination_id", destination_id),
            ("active", _ACTIVE if only_active else None),
            (LISTING, self.noun),
        )
        (group, value), *rest = ((name, expected) for name, expected in groups if expected is not None)
        conditions: list[Condition] = [getattr(row, name) == expected for name, expected in rest if name != LISTING]
        if status:
            conditions.append(row.status == status)
        if active is False:
            conditions.append(row.status == IncidentStatus.RESOLVED)
        condition = reduce(and_, conditions) if conditions else None
        return self.list_in(group, value, limit=limit, after=after, by_size=True, condition=condition)


def _condition_name(fields: Mapping[str, Any]) -> ConditionName | None:
    """From the raw fields of an incident; None when these cannot be read either."""
    condition = fields.get("condition")
    if not isinstance(condition, dict) or not {"resource_type", "resource_id", "code"} <= condition.keys():
        return None
    resource_type, resource_id, code = (condition[name] for name in ("resource_type", "resource_id", "code"))
    key = condition_key(resource_type, resource_id, condition.get("connector_name"), condition.get("task_id"), code)
    return ConditionName(key, resource_id)
