"""What a timeline keeps beside the audit trail: changes of the observed state, of incidents, alerts and schemas.

An event has codes. Its title is looked up when a person reads it: see `titles`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from chalicelib.domain.access import Actor
from chalicelib.domain.alerts.alert import Alert, AlertStatus, HistoryEntry
from chalicelib.domain.alerts.transitions import SYSTEM
from chalicelib.domain.connectors.transitions import Transition
from chalicelib.domain.event_kind import EventKind
from chalicelib.domain.monitoring.condition import ConditionCode
from chalicelib.domain.monitoring.incident import Incident, IncidentStatus
from chalicelib.domain.schema.change import Alteration
from chalicelib.domain.schema.version import SchemaVersion
from chalicelib.domain.table import TableName
from chalicelib.kit.clock import rfc3339

MAX_ALTERATIONS = 10
"""Changes of one schema that its event names."""

_OWNERS = ("pipeline", "delivery")
"""What has a timeline."""


class EntryKind(StrEnum):
    """What an entry is about. The order is that of cause and effect, for entries of the same time."""

    SCHEMA = "schema"
    OPERATION = "operation"
    OBSERVED = "observed"
    INCIDENT = "incident"
    ALERT = "alert"


class AlertMove(StrEnum):
    """What has become of an alert."""

    FIRED = "FIRED"
    RAISED = "RAISED"
    ACKNOWLEDGED = "ACKNOWLEDGED"
    SILENCED = "SILENCED"
    UNSILENCED = "UNSILENCED"
    RESOLVED = "RESOLVED"


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryActor:
    """Who did it: a user, or Headgate itself, which has no id."""

    id: str | None
    email: str | None
    via: str

    @classmethod
    def of(cls, actor: Actor | None) -> "EntryActor | None":
        return cls(id=actor.id, email=actor.email, via=actor.via) if actor else None


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentChange:
    """An incident has another status; `before` is null when it was opened. `actor` is null without a person."""

    incident_id: str
    code: ConditionCode
    before: IncidentStatus | None
    after: IncidentStatus
    actor: EntryActor | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertChange:
    """Something has become of an alert. `actor` is null without a person."""

    alert_id: str
    kind: EventKind
    move: AlertMove
    actor: EntryActor | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableChange:
    """A discovery has found another schema of a table than before: the first `MAX_ALTERATIONS` of `count` changes."""

    schema_name: str
    table_name: str
    version: int
    alterations: tuple[Alteration, ...]
    count: int

    @property
    def table(self) -> TableName:
        return TableName(self.schema_name, self.table_name)


Change = Transition | IncidentChange | AlertChange | TableChange

CHANGES: Mapping[EntryKind, Any] = {
    EntryKind.OBSERVED: Transition,
    EntryKind.INCIDENT: IncidentChange,
    EntryKind.ALERT: AlertChange,
    EntryKind.SCHEMA: TableChange,
}
"""The type of the changes of each kind. Operations are in the audit trail."""


def entry_key(at: datetime, kind: EntryKind, entry_id: str) -> str:
    """The place of an entry in a timeline: its time, the rank of its kind, and its id."""
    return f"{rfc3339(at)}#{tuple(EntryKind).index(kind)}#{entry_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineEvent:
    """A change at one resource: `pipeline`, `delivery`, `connect_cluster`, and for schemas `source`.

    `id` tells it from others of the same kind at the same time.
    """

    resource_type: str
    resource_id: str
    at: datetime
    kind: EntryKind
    id: str
    change: Change

    @property
    def key(self) -> str:
        return entry_key(self.at, self.kind, self.id)


def observed_event(cluster_id: str, transition: Transition) -> TimelineEvent:
    """The event of a transition at this Connect cluster."""
    resource_type, resource_id = transition.resource_on(cluster_id)
    return TimelineEvent(
        resource_type=resource_type,
        resource_id=resource_id,
        at=transition.at,
        kind=EntryKind.OBSERVED,
        id=transition.connector or cluster_id,
        change=transition,
    )


def incident_event(
    before: IncidentStatus | None, incident: Incident, at: datetime, actor: Actor | None = None
) -> TimelineEvent | None:
    """The event of an incident that has another status than before; None when it has the same, or no timeline."""
    condition = incident.condition
    owner = _owner(condition.resource_type, condition.resource_id, condition.pipeline_id)
    if incident.status is before or owner is None:
        return None
    change = IncidentChange(
        incident_id=incident.id,
        code=condition.code,
        before=before,
        after=incident.status,
        actor=EntryActor.of(actor),
    )
    event_id = f"{incident.id}/{incident.status}"
    return TimelineEvent(
        resource_type=owner[0], resource_id=owner[1], at=at, kind=EntryKind.INCIDENT, id=event_id, change=change
    )


def alert_events(before: Alert | None, alert: Alert, actor: Actor | None = None) -> Iterator[TimelineEvent]:
    """The events of what was added to the history of an alert. What a person did is by `actor`."""
    owner = _owner(*alert.event.resource, alert.pipeline_id)
    if owner is None:
        return
    for entry in alert.added_history(before):
        person, move = EntryActor.of(actor) if entry.actor != SYSTEM else None, _move(alert, entry)
        yield TimelineEvent(
            resource_type=owner[0],
            resource_id=owner[1],
            at=entry.at,
            kind=EntryKind.ALERT,
            id=f"{alert.id}/{move}",
            change=AlertChange(alert_id=alert.id, kind=alert.kind, move=move, actor=person),
        )


def schema_event(version: SchemaVersion) -> TimelineEvent | None:
    """The event of a version, at its source; None for the first one, which changes nothing that was captured."""
    if version.version == 1:
        return None
    change = TableChange(
        schema_name=version.schema_name,
        table_name=version.table_name,
        version=version.version,
        alterations=tuple(change.change for change in version.diff[:MAX_ALTERATIONS]),
        count=len(version.diff),
    )
    return TimelineEvent(
        resource_type="source",
        resource_id=version.source_id,
        at=version.discovered_at,
        kind=EntryKind.SCHEMA,
        id=version.id,
        change=change,
    )


def _owner(resource_type: str, resource_id: str, pipeline_id: str | None) -> tuple[str, str] | None:
    """Whose timeline shows what is wrong with a resource: its own, or that of the only pipeline that it concerns."""
    if resource_type in _OWNERS:
        return resource_type, resource_id
    return ("pipeline", pipeline_id) if pipeline_id else None


def _move(alert: Alert, entry: HistoryEntry) -> AlertMove:
    if entry.before is None:
        return AlertMove.FIRED
    if entry.after is AlertStatus.RESOLVED:
        return AlertMove.RESOLVED
    if entry.before is entry.after and entry.actor == SYSTEM:
        return AlertMove.RAISED
    if entry.after is AlertStatus.SILENCED:
        return AlertMove.SILENCED
    # The end of a silence leaves an alert acknowledged that was so before.
    if entry.before is AlertStatus.SILENCED and alert.acknowledged_at != entry.at:
        return AlertMove.UNSILENCED
    return AlertMove.ACKNOWLEDGED
