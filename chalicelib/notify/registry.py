"""The providers of channels. A new one is a folder here, a member of `ChannelProvider`, and a line of this table."""

from collections.abc import Mapping
from dataclasses import dataclass

from chalicelib.domain.alerts.channel import ChannelProvider
from chalicelib.kit.clock import Deadline
from chalicelib.kit.log import failure, get_logger
from chalicelib.kit.masking import Secret
from chalicelib.notify.bot_chat.provider import BOT_CHAT
from chalicelib.notify.chat_webhook.provider import CHAT_WEBHOOK
from chalicelib.notify.contract import (
    ChannelDefinition,
    CheckedConfig,
    Outcome,
    OutgoingMessage,
    Sender,
    SenderTools,
    Transient,
)
from chalicelib.notify.errors import error
from chalicelib.notify.webhook.provider import WEBHOOK

PROVIDERS: Mapping[ChannelProvider, ChannelDefinition] = {
    ChannelProvider.CHAT_WEBHOOK: CHAT_WEBHOOK,
    ChannelProvider.BOT_CHAT: BOT_CHAT,
    ChannelProvider.WEBHOOK: WEBHOOK,
}


def senders(tools: SenderTools) -> Mapping[ChannelProvider, Sender]:
    """A sender for each provider. Raises ValueError for a setting that cannot be used."""
    return {name: _SafeSender(provider.make_sender(tools)) for name, provider in PROVIDERS.items()}


@dataclass(frozen=True, slots=True)
class _SafeSender:
    """A sender that raises nothing: the fault of one channel must not stop the worker of all."""

    sender: Sender

    def check(self, secrets: Mapping[str, Secret]) -> CheckedConfig:
        return self.sender.check(secrets)

    def send(self, message: OutgoingMessage, secrets: Mapping[str, Secret], deadline: Deadline) -> Outcome:
        try:
            return self.sender.send(message, secrets, deadline)
        except Exception as unexpected:  # noqa: BLE001 - every error is an outcome; its text may contain secrets
            get_logger().error("a message could not be sent", extra={"failure": failure(unexpected)})
            return Transient(error("internal"))
