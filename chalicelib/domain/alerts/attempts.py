"""What becomes of a notification: the transition table of deliveries, as pure functions.

| from          | event                                   | to        | also                                          |
|---------------|-----------------------------------------|-----------|-----------------------------------------------|
| open          | a worker claims it                      | (claimed) | attempts + 1; a lease                         |
| any           | accepted by the provider                | delivered | by any worker: a late success counts too      |
| claimed       | refused for good                        | failed    |                                               |
| claimed       | failed for a while, or outcome unknown  | pending   | after 5 s, 30 s, 2 min, or Retry-After        |
| claimed, 4th  | the same                                | failed    |                                               |
| claimed       | the provider limits the channel (429)   | pending   | only the first time this uses up an attempt   |
| claimed       | the lease ends                          | pending   | due now; after the 4th attempt: failed        |
| open          | silenced, channel deleted or disabled   | suppressed, cancelled |                                   |
"""

from dataclasses import replace
from datetime import datetime, timedelta

from chalicelib.domain.alerts.alert import Alert, AlertStatus, Resolution
from chalicelib.domain.alerts.channel import Channel
from chalicelib.domain.alerts.notification import (
    MAX_ATTEMPTS,
    RETRY_AFTER,
    EndReason,
    MessageKind,
    Notification,
    NotificationError,
    NotificationStatus,
)
from chalicelib.domain.alerts.pacing import MAX_RETRY_AFTER
from chalicelib.domain.lease import is_free

_LEFT_ALONE = NotificationError(
    code="outcome_unknown",
    message="The worker that sent it has ended before it knew the outcome.",
    hint="Look at the channel: the message may be there.",
)
_NOT_SENT = (NotificationStatus.SUPPRESSED, NotificationStatus.CANCELLED)


def delivered(row: Notification, now: datetime) -> Notification:
    """The provider has it."""
    return replace(_ended(row, NotificationStatus.DELIVERED, None), sent_at=now)


def refused(row: Notification, error: NotificationError) -> Notification:
    """The provider refuses it, and would refuse it again."""
    return _ended(row, NotificationStatus.FAILED, EndReason.REFUSED, error)


def put_off(
    row: Notification,
    error: NotificationError,
    now: datetime,
    *,
    retry_after: timedelta | None = None,
    unknown: bool = False,
) -> Notification:
    """The attempt has failed for a while; or, if `unknown`, the provider may have the message."""
    if row.attempts >= MAX_ATTEMPTS:
        reason = EndReason.OUTCOME_UNKNOWN if unknown else EndReason.ATTEMPTS_EXHAUSTED
        return _ended(row, NotificationStatus.FAILED, reason, error)
    step = RETRY_AFTER[max(0, row.attempts - 1)]
    return _waiting(row, error, now + max(step, min(retry_after or step, MAX_RETRY_AFTER)))


def limited(row: Notification, error: NotificationError, pause: timedelta, now: datetime) -> Notification:
    """The provider limits the channel. However often it does, the notification does not fail by it."""
    return replace(_waiting(row, error, now + pause), attempts=max(1, row.attempts - 1))


def has_lapsed(row: Notification, now: datetime) -> bool:
    """Whether the worker that has claimed it is dead."""
    return row.claim is not None and is_free(row.lease_until, now)


def lapsed(row: Notification, now: datetime) -> Notification:
    """The worker that has claimed it is dead: nobody knows whether the message was sent."""
    if row.attempts >= MAX_ATTEMPTS:
        return _ended(row, NotificationStatus.FAILED, EndReason.OUTCOME_UNKNOWN, _LEFT_ALONE)
    return _waiting(row, _LEFT_ALONE, now)


def unsendable(
    row: Notification, alert: Alert | None, channel: Channel | None, firing: Notification | None, now: datetime
) -> Notification | None:
    """The notification as it ends when it must not be sent any more; None when it may. `firing` is the message that a
    recovery follows.
    """
    if alert and (alert.status_at(now) is AlertStatus.SILENCED or alert.was_silenced_at_its_end):
        return _ended(row, NotificationStatus.SUPPRESSED, EndReason.SILENCED)
    if alert and alert.resolution is Resolution.ENTITY_REMOVED and row.kind is MessageKind.FIRING:
        return _ended(row, NotificationStatus.SUPPRESSED, EndReason.ENTITY_REMOVED)
    if firing and firing.status in _NOT_SENT:
        return _ended(row, NotificationStatus.SUPPRESSED, EndReason.FIRING_NOT_SENT)
    if channel is None:
        return _ended(row, NotificationStatus.CANCELLED, EndReason.CHANNEL_DELETED)
    return None if channel.enabled else _ended(row, NotificationStatus.CANCELLED, EndReason.CHANNEL_DISABLED)


def _ended(
    row: Notification, status: NotificationStatus, reason: EndReason | None, error: NotificationError | None = None
) -> Notification:
    return replace(row, status=status, reason=reason, last_error=error, claim=None, lease_until=None)


def _waiting(row: Notification, error: NotificationError, until: datetime) -> Notification:
    after = replace(row, status=NotificationStatus.PENDING, next_attempt_at=until, last_error=error)
    return replace(after, claim=None, lease_until=None)
