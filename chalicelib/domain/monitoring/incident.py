"""Incidents: what is wrong, since when, and who deals with it.

An incident is one episode of a condition, from its beginning to its end. At most one is open for a condition's key.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from chalicelib.domain.monitoring.condition import Condition, ConditionCode


class IncidentStatus(StrEnum):
    """`ACKNOWLEDGED`: somebody deals with it. `RESOLVED`: it was seen to have ended, or somebody says so."""

    OPEN = "OPEN"
    ACKNOWLEDGED = "ACKNOWLEDGED"
    RESOLVED = "RESOLVED"


OPERATIONS = "operations"
"""The origin of what operations have met with. Nothing observes whether one would succeed now: an incident of it ends
with the next operation that does.
"""

ALLOWED_MOVES: Mapping[IncidentStatus, frozenset[IncidentStatus]] = {
    IncidentStatus.OPEN: frozenset({IncidentStatus.ACKNOWLEDGED, IncidentStatus.RESOLVED}),
    IncidentStatus.ACKNOWLEDGED: frozenset({IncidentStatus.OPEN, IncidentStatus.RESOLVED}),
    IncidentStatus.RESOLVED: frozenset({IncidentStatus.OPEN}),
}
"""What a person may change a status to (wire contract, section 5)."""


def origin_of(resource_type: str, resource_id: str) -> str:
    """The origin of what is observed at one resource: a Connect cluster, a source or a destination."""
    return f"{resource_type}/{resource_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Associations:
    """The resources at which people look for an incident. `name` is that of its resource, as it was then; null
    where it could not be read.
    """

    pipeline_id: str | None = None
    destination_id: str | None = None
    delivery_id: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class IncidentResource:
    """What an incident is about."""

    type: str
    id: str
    name: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """`origin` is who observes the recovery: a Connect cluster's ticks, a source's looks, or operations.

    `occurrences` counts how often the condition began while the incident was open, `last_seen_at` is the last time.
    `dismissed`: a person has resolved it, and its condition was not seen to end since. `lapsed`: its condition was seen
    to end, and it is open all the same because it is about lost rows.
    """

    id: str
    condition: Condition
    associations: Associations
    origin: str
    status: IncidentStatus = IncidentStatus.OPEN
    occurrences: int = 1
    first_seen_at: datetime
    last_seen_at: datetime
    resolved_at: datetime | None = None
    dismissed: bool = False
    lapsed: bool = False
    correlation_id: str | None = None
    revision: int = 1
    created_at: datetime

    @property
    def key(self) -> str:
        return self.condition.key

    @property
    def resource(self) -> IncidentResource:
        return IncidentResource(self.condition.resource_type, self.condition.resource_id, self.associations.name)

    @property
    def is_active(self) -> bool:
        return self.status is not IncidentStatus.RESOLVED

    @property
    def is_current(self) -> bool:
        """Whether its condition has not been seen to end."""
        return self.is_active or self.dismissed

    @property
    def is_lasting(self) -> bool:
        """Whether it stays open when its condition ends, until a person ends it or its resource is deleted."""
        # A connector goes on behind the rows that it has lost, and they stay missing.
        lost = self.condition.code is ConditionCode.CHANGES_LOST and self.condition.connector_name is not None
        return lost and self.is_active

    @property
    def goes_on(self) -> bool:
        """Whether it goes on for alerting: also what a person has resolved, where a monitor sees that it lasts."""
        return self.is_active or (self.dismissed and self.origin != OPERATIONS)


def begun_again(incident: Incident, condition: Condition, at: datetime) -> Incident:
    """A current incident whose condition begins again. One that a person has resolved is opened again."""
    opened = moved(incident, IncidentStatus.OPEN, at) if incident.dismissed else incident
    return replace(
        opened,
        condition=condition,
        occurrences=incident.occurrences + 1,
        last_seen_at=max(at, incident.last_seen_at),
        dismissed=False,
        lapsed=False,
    )


def resolved(incident: Incident, at: datetime) -> Incident:
    """A current incident whose condition was seen to end."""
    closed = incident if incident.dismissed else moved(incident, IncidentStatus.RESOLVED, at)
    return replace(closed, dismissed=False)


def moved_by_person(incident: Incident, status: IncidentStatus, now: datetime) -> Incident:
    """The incident with the status that a person sets. What a person resolves is dismissed until the condition ends."""
    return replace(moved(incident, status, now), dismissed=status is IncidentStatus.RESOLVED)


def moved(incident: Incident, status: IncidentStatus, now: datetime) -> Incident:
    """The incident with another status."""
    # None ends before it began, also when the clock was set back meanwhile.
    resolved_at = max(now, incident.last_seen_at) if status is IncidentStatus.RESOLVED else None
    return replace(incident, status=status, resolved_at=resolved_at)
