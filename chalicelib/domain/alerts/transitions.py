"""How an alert moves from one state to the next: by what people do, and by what monitors report.

The table is section 2.2 of the alerting contract. An observation never undoes what an operator has said. What is
observed has the time at which the monitor began to look (`at`); what people do, and silences, have the service's `now`.
"""

from dataclasses import replace
from datetime import datetime

from chalicelib.domain.alerts.alert import MOST_HISTORY, Alert, AlertStatus, HistoryEntry
from chalicelib.errors import Conflict

SYSTEM = "system"
"""The actor of what nobody has asked for."""

_FIRST_HISTORY = 20
"""Entries from the beginning that stay when a history is full."""


def acknowledged(alert: Alert, actor: str, now: datetime, note: str | None = None) -> Alert:
    """Somebody deals with it. The first actor and time stay; a silence ends. Raises Conflict for a resolved alert."""
    alert = _active(without_expired_silence(alert, now))
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
    return _without_silence(alert, now, SYSTEM, "the silence has expired")


def with_history(alert: Alert, at: datetime, before: AlertStatus | None, actor: str, reason: str) -> Alert:
    """The alert with one more entry. Of a long history the first entries and the newest stay."""
    entry = HistoryEntry(at=at, before=before, after=alert.status, actor=actor, reason=reason)
    entries = (*alert.history, entry)
    if len(entries) > MOST_HISTORY:
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
