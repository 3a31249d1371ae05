"""What monitors of systems have in common: how their looks are sent, which health they store, and how they report."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from chalicelib.domain.health import HealthRecord
from chalicelib.domain.monitoring.condition import Condition
from chalicelib.domain.monitoring.incident import OPERATIONS
from chalicelib.domain.monitoring.report import REPORT_SECONDS, MonitorReport
from chalicelib.domain.timing import MINUTE, TICK
from chalicelib.errors import StoreUnavailable, WriteConflict
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.kit.randomness import shuffled
from chalicelib.services.alerts.bus import EventBus
from chalicelib.stores.alerts.alerts import Alerts
from chalicelib.stores.documents import Documents, batch_exists, batch_find_readable

SPREAD_SECONDS = int((MINUTE - TICK).total_seconds())
"""The looks of one minute are spread over so many seconds."""

DISPATCH_SECONDS = 15.0
"""What the ticks leave of the schedule's minute."""

Send = Callable[[Sequence[tuple[str, int]], Deadline], int]
"""Puts messages into a queue until the deadline, each an id and after how many seconds it is delivered.

Returns how many the queue has taken.
"""

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
        self,
        origin: str,
        at: datetime,
        conditions: Sequence[Condition],
        *,
        looked_at: Collection[str] | None = None,
        idle: frozenset[str] = frozenset(),
    ) -> bool:
        """Report what a look at `at` has found; whether all of it was recorded. If not, the next look reports again.

        `looked_at` are the ids of the resources that could be looked at; None: all. `idle`: see `by_consequence`.
        """
        ids = None if looked_at is None else frozenset(looked_at)
        report = MonitorReport(origin=origin, at=at, conditions=tuple(conditions), looked_at=ids, idle=idle)
        return self.bus.publish(report, Deadline.after(REPORT_SECONDS))

    def repeat(self, origin: str, *, over: Collection[str] = (), idle: frozenset[str] = frozenset()) -> bool:
        """Report that what was found before stands, because nobody looks; but not about the resources in `over` (their
        ids). Whether it was recorded. `idle`: see `by_consequence`.
        """
        report = MonitorReport(origin=origin, at=self.clock(), looked_at=frozenset(over), repeated=True, idle=idle)
        return self.bus.publish(report, Deadline.after(REPORT_SECONDS))

    def publish_operations(self) -> int:
        """Report that operations that have failed have not succeeded since; returns how many reports were recorded."""
        return int(self.repeat(OPERATIONS))

    def publish_removed(self) -> int:
        """Report that nothing is wrong at origins that were deleted: no look ends their alerts. Returns how many."""
        at, active = self.clock(), self.alerts.facets(Deadline.after(REPORT_SECONDS), only_active=True)
        checked = shuffled(alert.id for alert in active)[:_MAX_ALERTS]
        alerts = batch_find_readable(*((self.alerts, alert_id) for alert_id in checked)) if checked else []
        origins = sorted({alert.origin for alert in alerts if alert and "/" in alert.origin})
        keys = [(self.emitters[kind], emitter_id) for kind, emitter_id in (origin.split("/", 1) for origin in origins)]
        exist = batch_exists(*keys) if keys else []
        removed = [origin for origin, exists in zip(origins, exist, strict=True) if not exists]
        return sum(self.publish(origin, at, ()) for origin in removed)


def store_health(store: Documents[Any], system: Any, health: HealthRecord) -> bool:
    """Store what a look has found, if it says something else than what is stored, or before that is too old.

    False when somebody has changed or tested the system since it was read: then the look says nothing about it, and the
    next one does.
    """
    watched = replace(health, watched=True)
    if not system.health.replaced_by(watched):
        return True
    try:
        store.save_alone(replace(system, health=watched))
    except WriteConflict:
        return False
    return True


def end_watch(store: Documents[Any], system_id: str) -> None:
    """Note that no monitor looks at a source or destination any more: then its health is that of the last check."""
    system = store.find(system_id)
    if system is not None and system.health.watched:
        with suppress(WriteConflict):  # somebody changes it: the next minute ends it
            store.save_alone(replace(system, health=replace(system.health, watched=False)))


def send_looks(noun: str, ids: Sequence[str], send: Send, within_seconds: float) -> int:
    """Send a look at each of these, spread over the coming minute. See `send_all`."""
    # At the same second of each minute, so that two looks are a minute apart; in another order, so that a dispatcher
    # without time does not leave out the same ones.
    messages = [(emitter_id, number % SPREAD_SECONDS) for number, emitter_id in enumerate(sorted(ids))]
    return send_all(noun, shuffled(messages), send, within_seconds)


def send_all(noun: str, messages: Sequence[tuple[str, int]], send: Send, within_seconds: float) -> int:
    """Send messages, each an id and after how many seconds it is delivered; returns how many were sent.

    A message that is refused does not stop the others. Raises StoreUnavailable at the end when some were not sent.
    """
    sent = send(messages, Deadline.after(within_seconds))
    if sent < len(messages):
        raise StoreUnavailable(f"{len(messages) - sent} of {len(messages)} messages for {noun} were not sent.")
    return sent
