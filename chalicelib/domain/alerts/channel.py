"""Notification channels: where messages go. What they are sent with is secret, the address of a webhook included."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from chalicelib.domain.credentials import Credentials

TEST_EVERY = timedelta(seconds=5)
"""A test notification of one channel is sent at most this often."""


class ChannelProvider(StrEnum):
    """How messages are sent."""

    CHAT_WEBHOOK = "chat-webhook"
    BOT_CHAT = "bot-chat"
    WEBHOOK = "webhook"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelFields:
    """The secret fields of a provider. `address` is the URL that the others are sent to, where users choose it."""

    required: tuple[str, ...]
    address: str | None = None


CHANNEL_FIELDS: Mapping[ChannelProvider, ChannelFields] = {
    ChannelProvider.CHAT_WEBHOOK: ChannelFields(required=("webhook_url",), address="webhook_url"),
    ChannelProvider.BOT_CHAT: ChannelFields(required=("bot_token", "chat_id")),
    ChannelProvider.WEBHOOK: ChannelFields(required=("url",), address="url"),
}
"""Those of a webhook that are not required: `authorization`, `headers` (a JSON object) and `signing_secret`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LastDelivery:
    """How the newest message of a channel ended."""

    status: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """A channel. `mask` is its address as people may see it: scheme and host at most.

    `tested_at` is when the last test notification was sent. `last_delivery` is read from the channel's gate.
    """

    id: str
    name: str
    provider: ChannelProvider
    enabled: bool = True
    credentials: Credentials
    mask: str
    tested_at: datetime | None = None
    last_delivery: LastDelivery | None = field(default=None, compare=False)
    version: int = 1
    revision: int = 1
    created_at: datetime
    updated_at: datetime

    @property
    def fields(self) -> ChannelFields:
        """The secret fields of its provider."""
        return CHANNEL_FIELDS[self.provider]
