"""What an outcome of a sender means for the notifications of the message, and for its channel."""

from collections.abc import Sequence
from datetime import datetime

from chalicelib.domain.alerts.attempts import delivered, limited, put_off, refused
from chalicelib.domain.alerts.notification import Notification, NotificationStatus
from chalicelib.domain.alerts.pacing import ChannelGate, answered, failed, limit_pause
from chalicelib.domain.alerts.pacing import limited as gate_limited
from chalicelib.notify.contract import Accepted, Ambiguous, Outcome, Permanent, Throttled, Transient


def row_after(row: Notification, outcome: Outcome, failures: int, now: datetime) -> Notification:
    """The notification after the attempt. `failures` in a row has the channel had before."""
    match outcome:
        case Accepted():
            return delivered(row, now)
        case Permanent(error):
            return refused(row, error)
        case Transient(error, retry_after):
            return put_off(row, error, now, retry_after=retry_after)
        case Ambiguous(error):
            return put_off(row, error, now, unknown=True)
        case Throttled(error, retry_after):
            return limited(row, error, limit_pause(failures, retry_after), now)


def gate_after(gate: ChannelGate, rows: Sequence[Notification], outcome: Outcome, now: datetime) -> ChannelGate:
    """The gate of the channel after the attempt that has left these notifications."""
    match outcome:
        case Accepted():
            return answered(gate, NotificationStatus.DELIVERED, now)
        case Permanent():
            return answered(gate, NotificationStatus.FAILED, now)
        case Throttled(_, retry_after):
            return gate_limited(gate, retry_after, now)
        case Transient() | Ambiguous():
            return failed(gate, now, has_ended=any(not row.status.is_open for row in rows))
