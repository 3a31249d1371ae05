from chalicelib.domain.alerts.channel import Channel
from chalicelib.stores.searched import SEARCHED, SearchedDocuments
from chalicelib.stores.tables import document_table

ChannelRows = document_table("notification-channels", searched=SEARCHED)


class Channels(SearchedDocuments[Channel]):
    """Channels by id. References are the rules that name them."""

    table, entity, noun = ChannelRows, Channel, "notification_channel"
