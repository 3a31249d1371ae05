"""What a report means for the incidents: each condition is compared once with what is open."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum, auto

from chalicelib.domain.monitoring.condition import Condition, Severity
from chalicelib.domain.monitoring.incident import Incident
from chalicelib.domain.monitoring.report import MonitorReport

LATE_BY = timedelta(minutes=1)
"""Longer than any report takes to be recorded: one that is older than that is of a clock that was set back."""


def was_set_back(last: datetime, now: datetime) -> bool:
    """Whether `last`, the time of an earlier report, lies so far ahead of `now` that the clock was set back since."""
    return last - now >= LATE_BY


class Phase(Enum):
    """What a report does to an episode. `REPEATED`: its condition begins again, or gets worse, while it is open;
    `EASED`: it goes on, and nothing depends on its resource any more; `LAPSED`: its condition is over, and it is open
    all the same.
    """

    BEGAN = auto()
    REPEATED = auto()
    EASED = auto()
    CONTINUES = auto()
    LAPSED = auto()
    ENDED = auto()


class Sight(Enum):
    """How a report knows of an episode that goes on: seen now, found before by what looks no more, or out of sight."""

    SEEN = auto()
    REPEATED = auto()
    HIDDEN = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """A condition that goes on. `seen_at` is when it was observed last, `correlation_id` that of its incident."""

    condition: Condition
    sight: Sight
    seen_at: datetime
    correlation_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Episodes:
    """What goes on at the origin of a report, by the keys of the conditions.

    `hidden` are keys of conditions that are out of sight and whose incidents cannot be read: they may go on. Not
    `complete`: not everything could be stored.
    """

    report: MonitorReport
    going_on: Mapping[str, Episode]
    hidden: frozenset[str] = frozenset()
    complete: bool = True

    def may_go_on(self, key: str) -> bool:
        return key in self.going_on or key in self.hidden

    def has_observed(self, key: str, since: datetime, now: datetime) -> bool:
        episode = self.going_on.get(key)
        return episode is not None and (episode.seen_at > since or was_set_back(since, now))


def phase_of(report: MonitorReport, named: Condition | None, incident: Incident | None) -> Phase:
    """What becomes of an incident that is current, or None, by a report that names its condition, or does not."""
    if named is not None:
        if incident is None:
            return Phase.BEGAN
        # One that gets better does not begin again: near a threshold it would do so for ever.
        if incident.lapsed or is_worse(incident.condition, named) or is_elsewhere(incident.condition, named):
            return Phase.REPEATED
        eased = is_worse(named, incident.condition) and named.resource_id in report.idle
        return Phase.EASED if eased else Phase.CONTINUES
    if incident is None or incident.origin != report.origin or (incident.lapsed and incident.is_lasting):
        return Phase.CONTINUES
    # Reports may be recorded out of order: an old one ends nothing that has been seen since.
    late = report.at < incident.last_seen_at and not was_set_back(incident.last_seen_at, report.at)
    if late or not report.has_looked_at(incident.condition.resource_id):
        eased = report.judged(incident.condition) != incident.condition
        return Phase.EASED if eased else Phase.CONTINUES
    return Phase.LAPSED if incident.is_lasting else Phase.ENDED


def episode_of(report: MonitorReport, named: Condition | None, incident: Incident) -> Episode:
    """The episode of an incident that goes on after the report."""
    if named is not None:
        return seen_episode(report, named, incident.correlation_id)
    stands = report.repeated or report.has_looked_at(incident.condition.resource_id)
    sight = Sight.REPEATED if stands else Sight.HIDDEN
    return Episode(
        condition=incident.condition,
        sight=sight,
        seen_at=incident.last_seen_at,
        correlation_id=incident.correlation_id,
    )


def seen_episode(report: MonitorReport, named: Condition, correlation_id: str | None) -> Episode:
    """The episode of a condition that the report names. The correlation id is that of its incident, or None."""
    return Episode(condition=named, sight=Sight.SEEN, seen_at=report.at, correlation_id=correlation_id)


def is_elsewhere(before: Condition, now: Condition) -> bool:
    """Whether it has failed again, about something else. Where nothing is known now, it may be about the same."""
    return bool(now.cause and now.cause.place and now.cause != before.cause)


def is_worse(before: Condition, now: Condition) -> bool:
    """Whether rows do not move any more."""
    return now.severity is Severity.ERROR and before.severity is not Severity.ERROR
