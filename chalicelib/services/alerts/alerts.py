"""Alerts: lists, the summary, and what operators do about them. What opens and resolves them is the alert manager."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from chalicelib.domain.access import RequestContext
from chalicelib.domain.alerts.alert import Alert, AlertStatus
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.alerts.listing import AlertFilter
from chalicelib.domain.alerts.notification import Notification
from chalicelib.domain.alerts.transitions import SYSTEM, acknowledged, silenced, unsilenced, without_expired_silence
from chalicelib.domain.timeline.event import alert_events
from chalicelib.errors import Invalid, WriteConflict
from chalicelib.kit.clock import Clock, rfc3339
from chalicelib.kit.retry import at_once
from chalicelib.services.audit.trail import AuditTrail
from chalicelib.stores.alerts.group import AlertStores
from chalicelib.stores.timeline import Timeline
from chalicelib.stores.transaction import Transaction

RECENT = 10
"""Alerts that the summary shows."""

MAX_DELIVERIES = 200
"""Notifications that the detail of an alert shows, the newest first."""

SHORTEST_SILENCE = timedelta(minutes=1)
LONGEST_SILENCE = timedelta(days=30)
_ATTEMPTS = 5
"""Of a move whose alert is observed at the same moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertPage:
    """Some of the alerts that a filter accepts, and how many it accepts in all."""

    items: Sequence[Alert]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertSummary:
    """How many alerts are active, how many have each status, how many active ones have each severity; and the newest.

    Resolved ones are counted as long as they are kept.
    """

    active: int
    by_status: Mapping[AlertStatus, int]
    by_severity: Mapping[AlertSeverity, int]
    recent: Sequence[Alert]


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """For how long and why: `duration`, or `until`, or neither: until it is unsilenced or resolved."""

    duration: timedelta | None = None
    until: datetime | None = None
    reason: str | None = None

    def end(self, now: datetime) -> datetime | None:
        """When it ends. Raises Invalid for a time that has passed, or is too near or too far ahead."""
        if self.duration is not None:
            return now + self.duration
        if self.until is not None and not now + SHORTEST_SILENCE <= self.until <= now + LONGEST_SILENCE:
            message = f"A silence ends a minute from now at the earliest, {LONGEST_SILENCE.days} days at the latest."
            raise Invalid.at("body", "until", type_="out_of_range", message=message)
        return self.until


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertService:
    """Reads alerts as they are now, with silences that have expired left out; acknowledges and silences them."""

    stores: AlertStores
    timeline: Timeline
    audit: AuditTrail
    clock: Clock

    def list(self, context: RequestContext, only: AlertFilter, *, page: int, page_size: int) -> AlertPage:
        """The alerts that the filter accepts, newest first. Its cost grows with the number of all alerts, or of the
        active ones when the filter accepts no others: one call for about 2,700. Raises TimedOut.
        """
        now, first = self.clock(), (page - 1) * page_size
        facets = self.stores.alerts.facets(context.deadline, only_active=only.only_active)
        accepted = [alert.id for alert in facets if only.accepts(alert, now)]
        alerts = self.stores.alerts.with_ids(accepted[first : first + page_size])
        return AlertPage(items=[as_seen(alert, now) for alert in alerts], total=len(accepted))

    def get(self, alert_id: str) -> Alert:
        """Raises NotFound."""
        return as_seen(self.stores.alerts.get(alert_id), self.clock())

    def deliveries(self, alert_id: str) -> Sequence[Notification]:
        """The notifications of an alert, the newest first, at most `MAX_DELIVERIES`."""
        return self.stores.notifications.list_in("alert_id", alert_id, limit=MAX_DELIVERIES).items

    def summary(self, context: RequestContext) -> AlertSummary:
        """Its cost grows with the number of active alerts; resolved ones are counted without being read."""
        now, active = self.clock(), self.stores.alerts.facets(context.deadline, only_active=True)
        statuses = Counter(alert.status_at(now) for alert in active)
        statuses[AlertStatus.RESOLVED] = self.stores.alerts.count_resolved()
        severities = Counter(alert.severity for alert in active)
        return AlertSummary(
            active=len(active),
            by_status={status: statuses[status] for status in AlertStatus},
            by_severity={severity: severities[severity] for severity in AlertSeverity},
            recent=[as_seen(alert, now) for alert in self.stores.alerts.list(limit=RECENT).items],
        )

    def acknowledge(self, context: RequestContext, alert_id: str, note: str | None) -> Alert:
        """Say that somebody deals with it. The first who said so stays. Raises NotFound, Conflict when resolved."""
        return self._move(
            context, "acknowledge", alert_id, lambda alert, actor, now: acknowledged(alert, actor, now, note), note=note
        )

    def silence(self, context: RequestContext, alert_id: str, silence: Silence) -> Alert:
        """Send nothing about it. A new silence replaces the one before. Raises NotFound, Conflict, Invalid."""

        def change(alert: Alert, actor: str, now: datetime) -> Alert:
            return silenced(alert, actor, silence.end(now), silence.reason, now)

        return self._move(context, "silence", alert_id, change, reason=silence.reason)

    def unsilence(self, context: RequestContext, alert_id: str) -> Alert:
        """End a silence; without one nothing changes. Raises NotFound, Conflict when resolved."""
        return self._move(context, "unsilence", alert_id, unsilenced)

    def _move(
        self,
        context: RequestContext,
        verb: str,
        alert_id: str,
        change: Callable[[Alert, str, datetime], Alert],
        **comments: str | None,
    ) -> Alert:
        """Change the alert, once more from the beginning whenever an observation was faster. `comments` are audited."""

        def move(_attempt: int) -> Alert:
            before = self.stores.alerts.get(alert_id)
            after = change(before, context.actor.email or SYSTEM, self.clock())
            if after == before:
                return after
            with Transaction() as transaction:
                after = self.stores.alerts.save(transaction, after)
                self.timeline.add(transaction, *alert_events(before, after, context.actor))
                audited = {**_view(after), "event_type": before.kind.value}
                self.audit.record(
                    transaction,
                    context,
                    f"alert.{verb}",
                    alert_id,
                    before=_view(before),
                    after=audited | {name: text for name, text in comments.items() if text},
                    parent_id=before.pipeline_id,
                )
            return after

        return at_once(_ATTEMPTS).run(move, on=WriteConflict)


def as_seen(alert: Alert, now: datetime) -> Alert:
    """The alert as people see it: a silence that has expired is over, even before that was stored."""
    return without_expired_silence(alert, now) if alert.is_active else alert


def _view(alert: Alert) -> Mapping[str, Any]:
    until = alert.silenced_until
    return {"status": alert.status.value, "silenced_until": rfc3339(until) if until else None}
