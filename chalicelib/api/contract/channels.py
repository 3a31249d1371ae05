"""Notification channels (wire contract, section 6)."""

import json
import re
from collections.abc import Callable
from typing import Annotated, Any, Literal, LiteralString

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr
from pydantic_core import PydanticCustomError

from chalicelib.api.contract.common import CredentialsOutput, Input, Name, Output, SecretText, Timestamp
from chalicelib.domain.alerts.channel import Channel, ChannelProvider
from chalicelib.domain.alerts.headers import header_faults, is_value
from chalicelib.domain.alerts.signature import signing_key
from chalicelib.domain.credentials import Secrets
from chalicelib.kit.masking import Secret
from chalicelib.services.alerts.channel_states import ChannelState, ChannelStatus
from chalicelib.services.alerts.channels import ChannelInput

_TOKEN = re.compile(r"[A-Za-z0-9._~:-]{1,256}\Z")
"""It becomes part of a path."""
_CHAT = re.compile(r"(-?[1-9][0-9]{0,18}|@[A-Za-z][A-Za-z0-9_]{2,63})\Z")


def _checked(kind: LiteralString, is_good: Callable[[str], object]) -> AfterValidator:
    def check(value: SecretStr) -> SecretStr:
        if (text := value.get_secret_value().strip()) and not is_good(text):
            raise PydanticCustomError(kind, "it cannot be used")
        return value

    return AfterValidator(check)


def _is_key(text: str) -> bool:
    try:
        return bool(signing_key(Secret(text)))
    except ValueError:
        return False


def _chat_id(value: Any) -> Any:
    if isinstance(value, str):
        value = value.strip() or None
    if value is None or (isinstance(value, (int, str)) and not isinstance(value, bool) and _CHAT.match(str(value))):
        return value
    raise PydanticCustomError("chat_id", "a number, or @ and a name")


def _headers(value: dict[str, str]) -> dict[str, str]:
    for fault in header_faults(value):
        raise PydanticCustomError(fault, "headers that cannot be sent")
    return value


Token = Annotated[SecretText, _checked("bot_token", _TOKEN.match)]
Authorization = Annotated[SecretStr, Field(max_length=4096), _checked("header_value", is_value)]
SigningSecret = Annotated[SecretStr, Field(max_length=1024), _checked("signing_secret", _is_key)]
ChatId = Annotated[int | str | None, BeforeValidator(_chat_id)]
Headers = Annotated[dict[str, str], AfterValidator(_headers)]


class ChatWebhookConfig(Input):
    """A chat webhook, as Slack has them."""

    webhook_url: SecretText | None = Field(default=None, description="https, on the host that the installation names.")


class BotChatConfig(Input):
    """A bot that writes to a chat, as Telegram has them."""

    bot_token: Token | None = None
    chat_id: ChatId = Field(default=None, description="A number, which for groups is negative, or `@name`.")


class WebhookConfig(Input):
    """A URL on the public network that takes one JSON object for each message, with exactly these keys:
    `event`, `severity`, `status`, `timestamp`, `pipeline`, `connector`, `error`, `alert`. In a recovery
    `alert.firing_failed` is true when the message that something was wrong did not arrive.
    """

    url: SecretText | None = Field(default=None, description="https, on the public network.")
    authorization: Authorization | None = Field(default=None, description="The value of the header `Authorization`.")
    headers: Headers | None = Field(
        default=None,
        description="At most 20 more headers, by name, of 4 kB together; `{}` removes those that are stored. Headers "
        "of the connection, of the message's length and of its id are refused.",
    )
    signing_secret: SigningSecret | None = Field(
        default=None,
        description="Signs each message as Standard Webhooks has it. A key in base64 after `whsec_`, or a text.",
    )


class _ChannelBody(Input):
    """At creation `config` needs `webhook_url`, `bot_token` and `chat_id`, or `url`. Later, what is missing, null or
    blank in it stays as it is stored.
    """

    name: Name
    enabled: bool = True

    def to_input(self) -> ChannelInput:
        """The input of the service."""
        said = dict(self)
        return ChannelInput(secrets=_secrets(said.pop("config")), **said)


class ChatWebhookBody(_ChannelBody):
    """A channel that sends to a chat webhook."""

    provider: Literal[ChannelProvider.CHAT_WEBHOOK]
    config: ChatWebhookConfig | None = None


class BotChatBody(_ChannelBody):
    """A channel that sends by a bot."""

    provider: Literal[ChannelProvider.BOT_CHAT]
    config: BotChatConfig | None = None


class WebhookBody(_ChannelBody):
    """A channel that sends to a webhook."""

    provider: Literal[ChannelProvider.WEBHOOK]
    config: WebhookConfig | None = None


ChannelBody = Annotated[ChatWebhookBody | BotChatBody | WebhookBody, Field(discriminator="provider")]


def _secrets(config: Input | None) -> Secrets:
    return {name: _secret(value) for name, value in dict(config or {}).items()}


def _secret(value: Any) -> Secret | None:
    """A secret as it is stored: texts without the spaces around them, all else as JSON."""
    if isinstance(value, SecretStr):
        return Secret(value.get_secret_value().strip())
    return None if value is None else Secret(json.dumps(value))


class LastDeliveryOutput(Output):
    """How the newest message ended."""

    status: str
    at: Timestamp


class ChannelOutput(Output):
    """A channel. `credentials.mask` shows the scheme and host of its address at most."""

    id: str
    name: str
    provider: ChannelProvider
    enabled: bool
    credentials: CredentialsOutput
    last_delivery: LastDeliveryOutput | None
    version: int
    created_at: Timestamp
    updated_at: Timestamp

    @classmethod
    def of_channel(cls, channel: Channel) -> "ChannelOutput":
        """What people may see of a channel."""
        shown = CredentialsOutput(configured=channel.credentials.configured, mask=channel.mask)
        return cls.model_validate({**{name: getattr(channel, name) for name in cls.model_fields}, "credentials": shown})


class ChannelDetailOutput(ChannelOutput):
    """A channel and how it sends now."""

    delivery_state: ChannelStatus = Field(
        description="`limited`: the provider asked to wait. `down`: it fails, and one message a minute is tried."
    )
    oldest_waiting_seconds: float | None = Field(description="Since when the oldest message waits; null when none.")

    @classmethod
    def of_state(cls, channel: Channel, state: ChannelState) -> "ChannelDetailOutput":
        """What people may see of a channel that sends so."""
        shown = dict(ChannelOutput.of_channel(channel))
        return cls(**shown, delivery_state=state.status, oldest_waiting_seconds=state.waiting_seconds)


class DeliveryErrorOutput(Output):
    """Why a message was not delivered, in Headgate's words, and what to do."""

    code: str
    message: str
    hint: str | None


class TestSendOutput(Output):
    """How a test notification ended. `status` is the word that a delivery would have."""

    __test__ = False

    delivered: bool
    status: Literal["delivered", "failed"]
    error: DeliveryErrorOutput | None
