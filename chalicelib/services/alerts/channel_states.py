"""How a channel sends now: what its detail and the metrics say of it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

from chalicelib.domain.alerts.channel import Channel, ChannelProvider
from chalicelib.domain.alerts.pacing import ChannelGate, is_overdue
from chalicelib.stores.alerts.notifications import Notifications

ChannelStatus = Literal["open", "limited", "down", "disabled"]
"""`limited`: the provider asked to wait; `down`: it fails, and one message a minute is tried."""
CHANNEL_STATUSES: tuple[ChannelStatus, ...] = get_args(ChannelStatus)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelState:
    """How a channel sends now, and how long its oldest notification waits, in seconds; None when none waits.

    `overdue`: one should have been tried minutes ago, and no worker has done it.
    """

    provider: ChannelProvider
    status: ChannelStatus
    waiting_seconds: float | None
    overdue: bool


def channel_state(
    channel: Channel, gate: ChannelGate | None, notifications: Notifications, now: datetime
) -> ChannelState:
    """The state of a channel with this gate. Three calls. Raises StoreUnavailable."""
    oldest = notifications.oldest_open(channel.id)
    gate = gate or ChannelGate(id=channel.id, created_at=channel.created_at)
    since = min((row.created_at for row in oldest), default=None)
    return ChannelState(
        provider=channel.provider,
        status=_status(channel, gate, now),
        waiting_seconds=max(0.0, (now - since).total_seconds()) if since else None,
        overdue=any(is_overdue([row], gate, now) for row in oldest),
    )


def _status(channel: Channel, gate: ChannelGate, now: datetime) -> ChannelStatus:
    if not channel.enabled:
        return "disabled"
    if gate.is_probing:
        return "down"
    return "limited" if gate.not_before and gate.not_before > now else "open"
