"""Notifications, of which ended ones are kept for thirty days, and the gates of their channels."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.alerts.notification import Notification
from chalicelib.domain.alerts.pacing import ChannelGate
from chalicelib.stores.documents import Documents
from chalicelib.stores.tables import document_table

NotificationRows = document_table("notifications", groups=("alert_id", "open_channel"))
ChannelGateRows = document_table("channel-gates")
RETENTION = timedelta(days=30)
_GATE_RETENTION = timedelta(days=365)


class Notifications(Documents[Notification]):
    """Notifications by id, by alert, and the open ones by channel and severity."""

    table, entity, noun = NotificationRows, Notification, "notification"

    def groups(self, entity: Notification) -> Mapping[str, str | None]:
        group = _group(entity.channel_id, entity.content.severity) if entity.status.is_open else None
        return {"alert_id": entity.alert_id, "open_channel": group}

    def expires_at(self, entity: Notification) -> datetime | None:
        return None if entity.status.is_open else entity.created_at + RETENTION

    def open_of(self, channel_id: str, *, limit: int) -> list[Notification]:
        """Open ones of a channel, critical ones first, newest first. A write of the last second may be missing."""
        rows: list[Notification] = []
        for severity in AlertSeverity:
            if len(rows) < limit:
                rows += self.list_in("open_channel", _group(channel_id, severity), limit=limit - len(rows)).items
        return rows

    def oldest_open(self, channel_id: str) -> list[Notification]:
        """The open one that was queued first, for each severity that has one: one call for each severity."""
        oldest = [self.oldest_in("open_channel", _group(channel_id, severity)) for severity in AlertSeverity]
        return [row for row in oldest if row]


class ChannelGates(Documents[ChannelGate]):
    """Gates by channel. The gate of a deleted channel is kept for a year, for late notifications."""

    table, entity, noun = ChannelGateRows, ChannelGate, "channel_gate"

    def expires_at(self, entity: ChannelGate) -> datetime | None:
        return (entity.last_at or entity.created_at) + _GATE_RETENTION


def _group(channel_id: str, severity: AlertSeverity) -> str:
    return f"{channel_id}/{severity}"
