"""Which alerts a list shows: the few fields of an alert that its filters need, and the filters."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum
from typing import Any

from chalicelib.domain.alerts.alert import AlertStatus, status_at
from chalicelib.domain.alerts.cooldown import NotSentReason
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.event_kind import EventKind
from chalicelib.kit.adapters import adapter


class StatusFilter(StrEnum):
    """A status, or all that are not resolved."""

    FIRING = "firing"
    ACKNOWLEDGED = "acknowledged"
    SILENCED = "silenced"
    RESOLVED = "resolved"
    ACTIVE = "active"

    def accepts(self, status: AlertStatus) -> bool:
        if self is StatusFilter.ACTIVE:
            return status is not AlertStatus.RESOLVED
        return status.value == self.value


@dataclass(frozen=True, slots=True)
class Facets:
    """What filters need of one alert, and what says how urgent it is. `without_silence` is its status once
    `silenced_until` has passed.
    """

    id: str
    status: AlertStatus
    without_silence: AlertStatus
    silenced_until: datetime | None
    severity: AlertSeverity
    kind: EventKind
    not_sent: NotSentReason | None
    pipeline_id: str | None
    source_id: str | None
    emitter_id: str | None

    def status_at(self, now: datetime) -> AlertStatus:
        return status_at(now, self.status, self.silenced_until, self.without_silence)


FACETS = tuple(facet.name for facet in fields(Facets) if facet.name != "id")
"""Attributes of an alert by the same names."""


def facets_of(alert_id: str, columns: Mapping[str, Any]) -> Facets:
    """The facets in the columns of a row, which are text or None."""
    facets: Facets = adapter(Facets).validate_python({"id": alert_id, **columns})
    return facets


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertFilter:
    """Each that is not None has to hold. A source is the emitter, or the source of the alert's pipeline."""

    status: StatusFilter | None = None
    severity: AlertSeverity | None = None
    event_type: EventKind | None = None
    pipeline_id: str | None = None
    source_id: str | None = None

    @property
    def only_active(self) -> bool:
        """Whether no resolved alert can pass."""
        return self.status not in (None, StatusFilter.RESOLVED)

    def accepts(self, alert: Facets, now: datetime) -> bool:
        return (
            (self.status is None or self.status.accepts(alert.status_at(now)))
            and self.severity in (None, alert.severity)
            and self.event_type in (None, alert.kind)
            and self.pipeline_id in (None, alert.pipeline_id)
            and self.source_id in (None, alert.source_id, alert.emitter_id)
        )
