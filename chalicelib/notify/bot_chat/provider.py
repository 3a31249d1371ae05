"""Bots in chats, as Telegram has them."""

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from chalicelib.domain.alerts.pacing import Pace
from chalicelib.notify.bot_chat.sender import BotChat
from chalicelib.notify.config import ChannelConfig, SecretField, text_validator
from chalicelib.notify.contract import ChannelDefinition

_TOKEN = re.compile(r"[A-Za-z0-9._~:-]{1,256}\Z")
"""Characters that are safe in a path."""
_CHAT = re.compile(r"(-?[1-9][0-9]{0,18}|@[A-Za-z][A-Za-z0-9_]{2,63})\Z")


def _chat_id(value: Any) -> Any:
    if isinstance(value, str):
        value = value.strip() or None
    if value is None or (isinstance(value, (int, str)) and not isinstance(value, bool) and _CHAT.match(str(value))):
        return value
    raise PydanticCustomError("chat_id", "it has to be a number, or @ and the name of a channel")


Token = Annotated[
    SecretField,
    text_validator("bot_token", _TOKEN.match, "it has to be the token as the service shows it, without blanks"),
]
ChatId = Annotated[int | str | None, BeforeValidator(_chat_id)]


class BotChatConfig(ChannelConfig):
    """A bot that writes to a chat, as Telegram has them."""

    required = ("bot_token", "chat_id")

    bot_token: Token | None = None
    chat_id: ChatId = Field(default=None, description="A number, which for groups is negative, or `@name`.")


BOT_CHAT = ChannelDefinition(
    config=BotChatConfig,
    title="A channel that sends by a bot.",
    pace=Pace(per_second=1, burst=1, per_minute=20),  # one a second in a chat, twenty a minute in a group
    make_sender=BotChat.make,
)
