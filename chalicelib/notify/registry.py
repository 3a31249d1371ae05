"""The senders of all providers."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from chalicelib.clients.addresses import HostCheck
from chalicelib.domain.alerts.channel import ChannelProvider
from chalicelib.domain.alerts.urls import TargetHost, TargetUrl
from chalicelib.kit.clock import Deadline
from chalicelib.kit.log import failure, get_logger
from chalicelib.kit.masking import Secret
from chalicelib.notify.bot_chat import BotChat
from chalicelib.notify.chat_webhook import ChatWebhook
from chalicelib.notify.contract import Outcome, OutgoingMessage, Sender, Transient
from chalicelib.notify.errors import error
from chalicelib.notify.transport import MakeHttp, Post
from chalicelib.notify.webhook import Webhook


@dataclass(frozen=True, slots=True)
class _Contained:
    """A sender from which no exception escapes: one channel must not end the worker of others."""

    sender: Sender

    def address(self, secrets: Mapping[str, Secret]) -> TargetUrl:
        return self.sender.address(secrets)

    def send(self, message: OutgoingMessage, secrets: Mapping[str, Secret], deadline: Deadline) -> Outcome:
        try:
            return self.sender.send(message, secrets, deadline)
        except Exception as unexpected:  # noqa: BLE001 - whatever it is, it is an outcome; its text may hold secrets
            get_logger().error("a message could not be sent", extra={"failure": failure(unexpected)})
            return Transient(error("internal"))


def senders(
    *,
    chat_host: TargetHost,
    bot_host: TargetHost,
    public_url: str | None,
    to_operators_hosts: MakeHttp,
    to_public_hosts: MakeHttp,
    check_public: HostCheck,
) -> Mapping[ChannelProvider, Sender]:
    """A sender for each provider.

    The hosts that the installation names may have private addresses (`to_operators_hosts`); a webhook never has.
    """
    of_operators = Post(to_operators_hosts)
    own_host = urlsplit(public_url).hostname if public_url else None
    found: Mapping[ChannelProvider, Sender] = {
        ChannelProvider.CHAT_WEBHOOK: ChatWebhook(host=chat_host, post=of_operators),
        ChannelProvider.BOT_CHAT: BotChat(host=bot_host, post=of_operators),
        ChannelProvider.WEBHOOK: Webhook(
            post=Post(to_public_hosts, max_bytes=0), check_host=check_public, own_host=own_host
        ),
    }
    return {provider: _Contained(sender) for provider, sender in found.items()}
