"""How an alert moves from one state to the next: by what people do, and by what monitors report.

The table is section 2.2 of the alerting contract. An observation never undoes what an operator has said. What is
observed has the time at which the monitor began to look (`at`); what people do, and silences, have the service's `now`.
"""

from dataclasses import replace
from datetime import datetime

from chalicelib.domain.alerts.alert import MAX_HISTORY, Alert, AlertStatus, HistoryEntry, Resolution
from chalicelib.domain.alerts.event import AlertEvent
from chalicelib.domain.alerts.track import FLAPPING_WITHIN, Track
from chalicelib.domain.monitoring.episodes import was_set_back
from chalicelib.errors import Conflict

SYSTEM = "system"
"""The actor of what nobody has asked for."""

UNSEEN_READINGS = 3
"""A task that does not exist in so many readings in a row is gone: a rebalance makes tasks disappear for a while."""

_RESOLVED = {
    Resolution.RECOVERED: "recovered",
    Resolution.ENTITY_REMOVED: "its resource does not exist any more",
}
_FIRST_HISTORY = 20
"""Entries from the beginning that stay when a history is full."""


def acknowledged(alert: Alert, actor: str, now: datetime, note: str | None = None) -> Alert:
    """Somebody deals with it. The first actor and time stay; a silence ends. Raises Conflict for a resolved alert."""
    alert = _active(without_expired_silence(alert, now))
    # Who comes later is in the history only: one person deals with it.
    first = alert.acknowledged_at is None
    after = replace(
        _unmuted(alert),
        status=AlertStatus.ACKNOWLEDGED,
        acknowledged_at=now if first else alert.acknowledged_at,
        acknowledged_by=actor if first else alert.acknowledged_by,
    )
    return with_history(after, now, alert.status, actor, note or "acknowledged")


def silenced(alert: Alert, actor: str, until: datetime | None, reason: str | None, now: datetime) -> Alert:
    """No message until then; None: until it is unsilenced or resolved. The newest silence counts.

    Raises Conflict for a resolved alert.
    """
    alert = _active(without_expired_silence(alert, now))
    after = replace(
        alert,
        status=AlertStatus.SILENCED,
        silenced_at=now,
        silenced_until=until,
        silenced_by=actor,
        silence_reason=reason,
        was_silenced=True,
    )
    return with_history(after, now, alert.status, actor, reason or "silenced")


def unsilenced(alert: Alert, actor: str, now: datetime) -> Alert:
    """What the operator had decided before the silence counts again. Raises Conflict for a resolved alert."""
    alert = _active(without_expired_silence(alert, now))
    return _without_silence(alert, now, actor, "unsilenced") if alert.status is AlertStatus.SILENCED else alert


def without_expired_silence(alert: Alert, now: datetime) -> Alert:
    """The alert after a silence that has ended by now; the same alert when none has. Raises Conflict when resolved."""
    if _active(alert).status_at(now) is alert.status:
        return alert
    return _without_silence(alert, alert.silenced_until or now, SYSTEM, "the silence has expired")


def opened(event: AlertEvent, track: Track, origin: str, at: datetime, correlation_id: str | None = None) -> Alert:
    """A new episode (rows 1 and 12): it fires, whatever became of the earlier ones. `track` is already in it."""
    if track.alert_id is None:
        raise ValueError("the track names no alert")
    alert = Alert(
        id=track.alert_id,
        fingerprint=track.id,
        origin=origin,
        event=event,
        max_severity=event.severity,
        episode=track.episode,
        first_seen_at=at,
        last_seen_at=at,
        flapping=track.flapping,
        correlation_id=correlation_id,
        created_at=at,
    )
    return with_history(alert, at, None, SYSTEM, "observed")


def is_late(at: datetime, last: datetime, now: datetime) -> bool:
    """Whether a report comes too late, or twice, after the `last` one that was applied (rows 2 and 15).

    What a clock that was ahead has applied holds up none.
    """
    return at <= last and not was_set_back(last, now)


def is_raised(alert: Alert, event: AlertEvent) -> bool:
    """Whether the alert is now worse than it ever was (row 3)."""
    return event.severity.rank < alert.max_severity.rank


def observed(alert: Alert, event: AlertEvent, origin: str, at: datetime) -> Alert:
    """An active alert that a report names again (rows 1, 3 and 4). Its state stays.

    The alert belongs to the origin that has named it last: of two that see the same, it ends with the second.
    """
    after = _named(alert, event, origin, at)
    count = alert.occurrence_count + 1
    checked_at = None if alert.checked_at and alert.checked_at > at else alert.checked_at
    return replace(after, last_seen_at=at, checked_at=checked_at, occurrence_count=count, stale=False, unseen=0)


def named_again(alert: Alert, event: AlertEvent, origin: str, at: datetime) -> Alert:
    """An active alert that a report names again without having looked: it is not counted. The same alert when nothing
    has changed.
    """
    after = _named(alert, event, origin, at)
    return alert if after == alert else replace(after, checked_at=at)


def _named(alert: Alert, event: AlertEvent, origin: str, at: datetime) -> Alert:
    after = replace(
        alert,
        origin=origin,
        event=event,
        max_severity=event.severity if is_raised(alert, event) else alert.max_severity,
        flapping=alert.flapping and at - alert.first_seen_at < FLAPPING_WITHIN,
    )
    if not is_raised(alert, event):
        return after
    reason = f"severity raised from {alert.max_severity} to {event.severity}"
    return with_history(after, at, alert.status, SYSTEM, reason)


def resolved(alert: Alert, track: Track, at: datetime, resolution: Resolution, now: datetime) -> Alert:
    """It was seen to be over, or what it is about is gone (rows 5 and 13). `track` is already out of the episode."""
    after = replace(
        alert,
        status=AlertStatus.RESOLVED,
        resolved_at=at,
        resolution=resolution,
        stale=False,
        flapping=track.flapping,
    )
    reason = _RESOLVED[resolution]
    if alert.status is AlertStatus.SILENCED:
        reason += "; no message, because it was silenced"
    return with_history(after, now, alert.status, SYSTEM, reason)


def not_visible(alert: Alert, at: datetime) -> Alert:
    """The monitor could not look (row 14): neither wrong nor well. The same alert when that is known."""
    return alert if alert.stale else replace(alert, stale=True, checked_at=at)


def without_its_task(alert: Alert, at: datetime) -> Alert:
    """Its task did not exist in one more reading (row 13)."""
    return replace(alert, unseen=alert.unseen + 1, stale=False, checked_at=at)


def with_history(alert: Alert, at: datetime, before: AlertStatus | None, actor: str, reason: str) -> Alert:
    """The alert with one more entry. Of a long history the first entries and the newest stay."""
    entry = HistoryEntry(at=at, before=before, after=alert.status, actor=actor, reason=reason)
    entries = (*alert.history, entry)
    if len(entries) > MAX_HISTORY:
        entries = (*entries[:_FIRST_HISTORY], *entries[_FIRST_HISTORY + 1 :])
    return replace(alert, history=entries)


def _active(alert: Alert) -> Alert:
    if not alert.is_active:
        raise Conflict("The alert is resolved. If the same happens again, there will be a new alert.")
    return alert


def _without_silence(alert: Alert, now: datetime, actor: str, reason: str) -> Alert:
    after = replace(_unmuted(alert), status=alert.without_silence)
    return with_history(after, now, alert.status, actor, reason)


def _unmuted(alert: Alert) -> Alert:
    return replace(alert, silenced_at=None, silenced_until=None, silenced_by=None, silence_reason=None)
