"""Chat webhooks, as Slack has them."""

from pydantic import Field

from chalicelib.domain.alerts.pacing import Pace
from chalicelib.notify.chat_webhook.sender import ChatWebhook
from chalicelib.notify.config import ChannelConfig, SecretField
from chalicelib.notify.contract import ChannelDefinition


class ChatWebhookConfig(ChannelConfig):
    """A chat webhook, as Slack has them."""

    required = ("webhook_url",)
    target = "webhook_url"

    webhook_url: SecretField | None = Field(default=None, description="https, on the host that the installation names.")


CHAT_WEBHOOK = ChannelDefinition(
    config=ChatWebhookConfig,
    title="A channel that sends to a chat webhook.",
    pace=Pace(per_second=1, burst=3),  # "one message per second", short bursts
    make_sender=ChatWebhook.make,
)
