"""Incidents: what is wrong, since when, and who deals with it.

A condition is something wrong with one resource now; a signal says that it begins or ends; an incident is what is kept
about it. At most one incident is open for a condition's key.
"""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum


class Severity(StrEnum):
    """How bad it is: rows do not move (ERROR), they soon may not (WARNING), or it is worth knowing (INFO)."""

    ERROR = "ERROR"
    WARNING = "WARNING"
    INFO = "INFO"


class IncidentStatus(StrEnum):
    """`ACKNOWLEDGED`: somebody deals with it. `RESOLVED`: it was seen to have ended, or somebody says so."""

    OPEN = "OPEN"
    ACKNOWLEDGED = "ACKNOWLEDGED"
    RESOLVED = "RESOLVED"


class Category(StrEnum):
    """Which part of the way of the rows is concerned."""

    CONNECT = "CONNECT"
    SOURCE = "SOURCE"
    DESTINATION = "DESTINATION"
    PIPELINE = "PIPELINE"


STALLED = "STALLED"
LOG_AT_RISK = "LOG_AT_RISK"
CHANGES_LOST = "CHANGES_LOST"
CAPTURE_NARROWED = "CAPTURE_NARROWED"
CONFIG_DRIFT = "CONFIG_DRIFT"
"""Codes besides the event kinds of the specification (section 6)."""

LATER = timedelta(milliseconds=1)
"""The least by which a signal is newer than another one."""

_CATEGORIES: Mapping[str, Category] = {
    "CONNECT": Category.CONNECT,
    "STREAM": Category.CONNECT,
    "CONFIG": Category.CONNECT,
    "SOURCE": Category.SOURCE,
    "CDC": Category.SOURCE,
    "LOG": Category.SOURCE,
    "CAPTURE": Category.SOURCE,
    "DESTINATION": Category.DESTINATION,
}
"""By the first word of a code; all others concern the whole pipeline."""

ALLOWED_MOVES: Mapping[IncidentStatus, frozenset[IncidentStatus]] = {
    IncidentStatus.OPEN: frozenset({IncidentStatus.ACKNOWLEDGED, IncidentStatus.RESOLVED}),
    IncidentStatus.ACKNOWLEDGED: frozenset({IncidentStatus.OPEN, IncidentStatus.RESOLVED}),
    IncidentStatus.RESOLVED: frozenset({IncidentStatus.OPEN}),
}
"""What a person may change a status to (wire contract, section 5)."""


def category_of(code: str) -> Category:
    """The category of an incident with this code."""
    first = code.partition("_")[0]
    return Category.CONNECT if first == "CONNECTOR" else _CATEGORIES.get(first, Category.PIPELINE)


def origin_of(resource_type: str, resource_id: str) -> str:
    """The origin of what is observed at one resource: a Connect cluster, a source or a destination."""
    return f"{resource_type}/{resource_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """Something wrong with one resource: a pipeline, delivery, source, destination or connect_cluster.

    `message` says what is wrong, `hint` what it means and what to do; both are sentences of ours. `pipeline_id` is the
    only pipeline that a source's condition concerns, if it is one.
    """

    code: str
    resource_type: str
    resource_id: str
    message: str
    hint: str | None = None
    severity: Severity = Severity.ERROR
    connector_name: str | None = None
    task_id: int | None = None
    pipeline_id: str | None = None

    @property
    def key(self) -> str:
        """The same for the same fault: code, resource, connector and task."""
        task = "" if self.task_id is None else str(self.task_id)
        return "/".join((self.resource_type, self.resource_id, self.connector_name or "", task, self.code))


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """A condition begins, or ends. `correlation_id` is that of the request or job that has found it, if it was one."""

    condition: Condition
    began: bool
    at: datetime
    correlation_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Associations:
    """The resources at which people look for an incident."""

    pipeline_id: str | None = None
    destination_id: str | None = None
    delivery_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """`origin` is who observes the recovery: a Connect cluster's ticks, a source's looks, or operations.

    `occurrences` counts how often the condition began while the incident was open, `last_seen_at` is the last time.
    `dismissed`: a person has resolved it, and its condition was not seen to end since.
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
    correlation_id: str | None = None
    counted: str | None = field(default=None, compare=False)
    revision: int = 1
    created_at: datetime

    @property
    def key(self) -> str:
        return self.condition.key

    @property
    def is_active(self) -> bool:
        """Whether it is open or acknowledged."""
        return self.status is not IncidentStatus.RESOLVED

    @property
    def is_current(self) -> bool:
        """Whether its condition has not been seen to end."""
        return self.is_active or self.dismissed


def after_signal(incident: Incident, signal: Signal, *, may_be_late: bool) -> Incident | None:
    """A current incident after another signal about its condition; None when that changes nothing.

    One that a person has resolved is opened again when its condition begins again without having ended. A beginning
    that is not newer than the last one was applied before, and so may be an end that `may_be_late`. An end that cannot
    be late counts, whatever the clock says.
    """
    if not signal.began:
        if may_be_late and signal.at < incident.last_seen_at:
            return None
        ended = incident if incident.dismissed else moved(incident, IncidentStatus.RESOLVED, signal.at)
        return replace(ended, dismissed=False)
    if signal.at <= max(incident.last_seen_at, incident.resolved_at or incident.last_seen_at):
        return None
    opened = moved(incident, IncidentStatus.OPEN, signal.at) if incident.dismissed else incident
    occurrences = incident.occurrences + 1
    return replace(opened, condition=signal.condition, occurrences=occurrences, last_seen_at=signal.at, dismissed=False)


def moved_by_person(incident: Incident, status: IncidentStatus, now: datetime) -> Incident:
    """The incident with the status that a person sets.

    What a person resolves is dismissed until the condition ends. Of what a connector has lost nobody else sees the end.
    """
    lasting = incident.condition.code == CHANGES_LOST and incident.condition.connector_name is not None
    dismissed = status is IncidentStatus.RESOLVED and not lasting
    return replace(moved(incident, status, now), dismissed=dismissed)


def moved(incident: Incident, status: IncidentStatus, now: datetime) -> Incident:
    """The incident with another status. None ends before it began, also when the clock was set back meanwhile."""
    resolved_at = max(now, incident.last_seen_at) if status is IncidentStatus.RESOLVED else None
    return replace(incident, status=status, resolved_at=resolved_at)


def signals_between(
    before: Iterable[Condition], now: Iterable[Condition], at: datetime, *, deployed: Container[str] = ()
) -> tuple[Signal, ...]:
    """What begins and what ends from one set of conditions to the next; the ends first.

    A condition that gets worse begins again. One that gets better does not: near a threshold it would do so for ever.
    What a `deployed` connector has lost does not end: it goes on behind the gap, and the rows stay missing.
    """
    earlier, later = {one.key: one for one in before}, {one.key: one for one in now}
    gone = (one for key, one in earlier.items() if key not in later)
    ended = (
        Signal(condition=one, began=False, at=at)
        for one in gone
        if one.code != CHANGES_LOST or one.connector_name not in deployed
    )
    began = (Signal(condition=one, began=True, at=at) for key, one in later.items() if is_worse(earlier.get(key), one))
    return (*ended, *began)


def is_worse(before: Condition | None, now: Condition) -> bool:
    """Whether it begins with this, or gets worse."""
    return before is None or (now.severity is Severity.ERROR and before.severity is not Severity.ERROR)
