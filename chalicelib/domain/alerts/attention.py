"""What needs a person now: the active alerts in the order of their urgency, one for each resource."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chalicelib.domain.access import Permission
from chalicelib.domain.alerts.alert import Alert, AlertStatus
from chalicelib.domain.alerts.cooldown import NotSentReason
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.alerts.listing import Facets
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.health import HealthStatus
from chalicelib.domain.observation import DesiredState, ObservedState
from chalicelib.domain.pipeline import Pipeline

MAX_ENTRIES = 50
MAX_ALERTS = 100
"""Alerts that are read for the entries: several may be about one resource."""

_MEANT = frozenset({NotSentReason.SILENCED, NotSentReason.MAINTENANCE, NotSentReason.INHIBITED})
"""Reasons for which nobody is meant to be notified: a person has said so, or another alert stands for this one."""

_ALERT_VERBS = {
    AlertStatus.FIRING: ("acknowledge", "silence"),
    AlertStatus.ACKNOWLEDGED: ("silence",),
    AlertStatus.SILENCED: ("acknowledge", "unsilence"),
}
_TESTED = ("source", "destination")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """A resource that needs a person, because of an alert. `waiting` are records that wait to be delivered, None where
    that is not known. `actions` are the verbs of the API that the reader may use on the alert and on the resource.
    """

    resource_type: str
    resource_id: str
    resource_name: str
    observed_state: ObservedState | HealthStatus | None
    waiting: int | None
    alert: Alert
    actions: tuple[str, ...]


def most_urgent(active: Iterable[Facets], now: datetime) -> list[str]:
    """The ids of the alerts to read, the most urgent first. What is only worth knowing needs nobody."""
    urgent = [alert for alert in active if alert.severity is not AlertSeverity.INFO]
    urgent.sort(key=lambda alert: _urgency(alert.severity, alert.status_at(now), alert.not_sent))
    return [alert.id for alert in urgent[:MAX_ALERTS]]


def one_of_each_resource(alerts: Iterable[Alert], now: datetime) -> list[Alert]:
    """The most urgent alert of each resource; of equally urgent ones what has been wrong for longest comes first."""
    ordered = sorted(
        (alert for alert in alerts if alert.is_active),
        key=lambda alert: (_urgency(alert.severity, alert.status_at(now), alert.not_sent), alert.first_seen_at),
    )
    by_resource: dict[tuple[str, str], Alert] = {}
    for alert in ordered:
        by_resource.setdefault(alert.event.resource, alert)
    return list(by_resource.values())[:MAX_ENTRIES]


def _urgency(severity: AlertSeverity, status: AlertStatus, not_sent: NotSentReason | None) -> tuple[int, bool, bool]:
    """The lower, the more urgent: severity; whether a person deals with it or is not meant to; whether anybody was
    notified.
    """
    return severity.rank, status is not AlertStatus.FIRING or not_sent in _MEANT, not_sent is None


def actions(
    resource: Any, resource_type: str, status: AlertStatus, may: Callable[[Permission], bool]
) -> tuple[str, ...]:
    """The verbs for a reader with these permissions: those of the alert, then those of the resource."""
    verbs: tuple[str, ...] = ()
    if may(Permission.OPERATE):
        verbs = (*_ALERT_VERBS.get(status, ()), *_operating(resource))
    if may(Permission.WRITE) and resource_type in _TESTED:
        verbs = (*verbs, "test")
    return verbs


def _operating(resource: Any) -> tuple[str, ...]:
    if not isinstance(resource, Pipeline | Delivery) or resource.desired_state is DesiredState.DRAFT:
        return ()
    rests = resource.observation is not None and resource.observation.rests
    return ("resume",) if rests else ("restart",)
