"""What monitors of systems have in common: how their looks are sent, and how they report."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chalicelib.domain.monitoring.condition import Condition
from chalicelib.domain.monitoring.incident import OPERATIONS
from chalicelib.domain.monitoring.report import REPORT_SECONDS, MonitorReport
from chalicelib.domain.timing import MINUTE, TICK
from chalicelib.errors import StoreUnavailable
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.kit.randomness import shuffled
from chalicelib.services.alerts.bus import EventBus
from chalicelib.stores.alerts.alerts import Alerts
from chalicelib.stores.documents import Documents, batch_find

SPREAD_SECONDS = int((MINUTE - TICK).total_seconds())
"""The looks of one minute are spread over so many seconds."""

DISPATCH_SECONDS = 15.0
"""What the ticks leave of the schedule's minute."""

_MAX_ALERTS = 100
"""Active alerts whose origin is checked at once, at random: so in the end it is those of all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorReports:
    """Publishes reports. `emitters` are the stores of what origins name, by type: `source`, `destination`, ..."""

    bus: EventBus
    alerts: Alerts
    emitters: Mapping[str, Documents[Any]]
    clock: Clock

    def publish(
        self, origin: str, at: datetime, conditions: Sequence[Condition], *, looked_at: Collection[str] | None = None
    ) -> bool:
        """Report what a look at `at` has found; whether all of it was recorded. If not, the next look reports again.

        `looked_at` are the ids of the resources that could be looked at; None: all.
        """
        ids = None if looked_at is None else frozenset(looked_at)
        report = MonitorReport(origin=origin, at=at, conditions=tuple(conditions), looked_at=ids)
        return self.bus.publish(report, Deadline.after(REPORT_SECONDS))

    def repeat(self, origin: str, *, over: Collection[str] = ()) -> bool:
        """Report that what was found before stands, because nobody looks; but not about the resources in `over` (their
        ids). Whether it was recorded.
        """
        report = MonitorReport(origin=origin, at=self.clock(), looked_at=frozenset(over), repeated=True)
        return self.bus.publish(report, Deadline.after(REPORT_SECONDS))

    def publish_operations(self) -> int:
        """Report that operations that have failed have not succeeded since; returns how many reports were recorded."""
        return int(self.repeat(OPERATIONS))

    def publish_removed(self) -> int:
        """Report that nothing is wrong at origins that were deleted: no look ends their alerts. Returns how many."""
        at, active = self.clock(), self.alerts.facets(Deadline.after(REPORT_SECONDS), only_active=True)
        checked = shuffled(one.id for one in active)[:_MAX_ALERTS]
        alerts = batch_find(*((self.alerts, one) for one in checked)) if checked else []
        origins = sorted({alert.origin for alert in alerts if alert and "/" in alert.origin})
        emitters = [
            (self.emitters[kind], emitter_id) for kind, _, emitter_id in (one.partition("/") for one in origins)
        ]
        found = batch_find(*emitters) if emitters else []
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
