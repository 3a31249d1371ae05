"""Notification channels: where messages go. All of their config is secret, the URL of a webhook included."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from chalicelib.domain.credentials import Credentials
from chalicelib.domain.labels import Labelled

TEST_EVERY = timedelta(seconds=5)
"""A test notification of one channel is sent at most this often."""


class ChannelProvider(StrEnum):
    """How messages are sent."""

    CHAT_WEBHOOK = "chat-webhook"
    BOT_CHAT = "bot-chat"
    WEBHOOK = "webhook"


@dataclass(frozen=True, slots=True, kw_only=True)
class LastDelivery:
    """How the newest message of a channel ended."""

    status: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelValues(Labelled):
    """What people say about a channel, besides its secrets."""

    provider: ChannelProvider
    enabled: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel(ChannelValues):
    """A channel. `mask` is where its messages go, as people may see it: of a URL scheme and host at most.

    `tested_at` is when the last test notification was sent. `last_delivery` is read from the channel's gate.
    """

    id: str
    credentials: Credentials
    mask: str
    tested_at: datetime | None = None
    last_delivery: LastDelivery | None = field(default=None, compare=False)
    version: int = 1
    revision: int = 1
    created_at: datetime
    updated_at: datetime
