"""Notification channels: where messages go. What they are sent with is secret, the address of a webhook included."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from chalicelib.domain.credentials import Credentials


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
class Channel:
    """A channel. `mask` is its address as people may see it: scheme and host at most."""

    id: str
    name: str
    provider: ChannelProvider
    enabled: bool = True
    credentials: Credentials
    mask: str
    version: int = 1
    revision: int = 1
    created_at: datetime
    updated_at: datetime
