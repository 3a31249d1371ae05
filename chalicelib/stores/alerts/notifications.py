"""Notifications and the gates of their channels. Those that have ended are kept for thirty days."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from chalicelib.domain.alerts.notification import ChannelGate, Notification
from chalicelib.stores.documents import Documents
from chalicelib.stores.tables import document_table

NotificationRows = document_table("notifications", groups=("alert_id", "open_channel"))
ChannelGateRows = document_table("channel-gates")
RETENTION = timedelta(days=30)


class Notifications(Documents[Notification]):
    """Notifications by id, by alert, and the open ones by channel."""

    table, entity, noun = NotificationRows, Notification, "notification"

    def groups(self, entity: Notification) -> Mapping[str, str | None]:
        return {"alert_id": entity.alert_id, "open_channel": entity.channel_id if entity.status.is_open else None}

    def expires_at(self, entity: Notification) -> datetime | None:
        return None if entity.status.is_open else entity.created_at + RETENTION


class ChannelGates(Documents[ChannelGate]):
    """Gates by channel."""

    table, entity, noun = ChannelGateRows, ChannelGate, "channel_gate"
