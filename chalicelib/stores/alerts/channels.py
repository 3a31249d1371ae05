from chalicelib.domain.alerts.channel import Channel
from chalicelib.stores.documents import Documents
from chalicelib.stores.tables import document_table

ChannelRows = document_table("notification-channels")


class Channels(Documents[Channel]):
    """Channels by id. References are the rules that name them."""

    table, entity, noun = ChannelRows, Channel, "notification_channel"
