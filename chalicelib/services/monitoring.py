"""What monitors of systems have in common: how their looks are sent, and how they report to alerting."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chalicelib.alerting.bus import EventBus
from chalicelib.domain.alerts.event import REPORT_SECONDS, MonitorReport
from chalicelib.domain.monitoring.incident import Condition, Incident
from chalicelib.errors import StoreUnavailable
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.services.connectors.operation_incidents import ORIGIN
from chalicelib.services.connectors.plan_executor import shuffled
from chalicelib.stores.alerts.alerts import Alerts
from chalicelib.stores.documents import Documents, find_together
from chalicelib.stores.monitoring.incidents import Incidents

SPREAD_SECONDS = 50
"""The looks of one minute are spread over so many seconds."""

DISPATCH_SECONDS = 15.0
"""What the ticks leave of the schedule's minute."""

_MOST_ALERTS = 100
"""Active alerts whose origin is checked at once, at random: so in the end it is those of all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorReports:
    """Publishes reports. `emitters` are the stores of what origins name, by type: `source`, `destination`, ..."""

    bus: EventBus
    incidents: Incidents
    alerts: Alerts
    emitters: Mapping[str, Documents[Any]]
    clock: Clock

    def publish(self, origin: str, at: datetime, conditions: Iterable[Condition], *, complete: bool = True) -> bool:
        """Report what a look at `at` has found; whether all of it was recorded. If not, the next look reports again.

        Not `complete`: what is not named was not looked at.
        """
        report = MonitorReport(origin=origin, at=at, conditions=tuple(conditions), complete=complete)
        return self.bus.publish(report, Deadline.after(REPORT_SECONDS))

    def repeat(self, origin: str, at: datetime, incidents: Sequence[Incident]) -> bool:
        """Report what was found before, and when: nobody looks again, so an alert is not counted for it."""
        conditions = tuple(incident.condition for incident in incidents)
        seen_at = {incident.key: incident.last_seen_at for incident in incidents}
        report = MonitorReport(origin=origin, at=at, conditions=conditions, seen_at=seen_at)
        return self.bus.publish(report, Deadline.after(REPORT_SECONDS))

    def publish_incidents(self, origin: str) -> bool:
        """Report what was not seen to end at an origin, whatever a person says of it. Raises StoreUnavailable."""
        at = self.clock()
        return self.repeat(origin, at, list(self.incidents.current_of(origin)))

    def publish_operations(self) -> int:
        """Report which operations have failed; returns how many reports were recorded.

        What a person has resolved is over: nothing would observe that the operation can succeed again.
        """
        at, incidents = self.clock(), self.incidents.current_of(ORIGIN)
        return int(self.repeat(ORIGIN, at, [incident for incident in incidents if incident.is_active]))

    def publish_removed(self) -> int:
        """Report that nothing is wrong at origins that were deleted: no look ends their alerts. Returns how many."""
        at, active = self.clock(), self.alerts.facets(Deadline.after(REPORT_SECONDS), only_active=True)
        checked = shuffled(one.id for one in active)[:_MOST_ALERTS]
        alerts = find_together(*((self.alerts, one) for one in checked)) if checked else []
        origins = sorted({alert.origin for alert in alerts if alert and "/" in alert.origin})
        emitters = [
            (self.emitters[kind], emitter_id) for kind, _, emitter_id in (one.partition("/") for one in origins)
        ]
        found = find_together(*emitters) if emitters else []
        removed = [origin for origin, emitter in zip(origins, found, strict=True) if emitter is None]
        return sum(self.publish(origin, at, ()) for origin in removed)


def send_looks(noun: str, ids: Sequence[str], send: Callable[[str, int], None], within_seconds: float) -> int:
    """Send a look at each of these, spread over the coming minute; returns how many messages were sent.

    A message that is refused does not stop the others. Raises StoreUnavailable at the end when some were not sent.
    """
    deadline, sent = Deadline.after(within_seconds), 0
    for number, one in enumerate(shuffled(ids)):
        if deadline.passed:
            break
        with suppress(StoreUnavailable):
            send(one, number % SPREAD_SECONDS)
            sent += 1
    if sent < len(ids):
        raise StoreUnavailable(f"{len(ids) - sent} of {len(ids)} messages for {noun} were not sent.")
    return sent
