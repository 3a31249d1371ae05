"""Generic webhooks."""

from typing import Annotated, LiteralString

from pydantic import AfterValidator, Field, SecretStr
from pydantic_core import PydanticCustomError

from chalicelib.domain.alerts.pacing import Pace
from chalicelib.kit.masking import Secret
from chalicelib.notify.config import ChannelConfig, SecretField, text_validator
from chalicelib.notify.contract import ChannelDefinition
from chalicelib.notify.webhook.headers import HEADER_RULES, VALUE, header_faults, is_value
from chalicelib.notify.webhook.sender import Webhook
from chalicelib.notify.webhook.signature import signing_key


def _is_key(text: str) -> bool:
    try:
        return bool(signing_key(Secret(text)))
    except ValueError:
        return False


def _headers(value: dict[str, str]) -> dict[str, str]:
    for fault in header_faults(value):
        raise PydanticCustomError(fault, HEADER_RULES[fault])
    return value


_KEY: LiteralString = "it has to be text, or whsec_ and base64"
Authorization = Annotated[SecretStr, Field(max_length=4096), text_validator("header_value", is_value, VALUE)]
SigningSecret = Annotated[SecretStr, Field(max_length=1024), text_validator("signing_secret", _is_key, _KEY)]
Headers = Annotated[dict[str, str], AfterValidator(_headers)]


class WebhookConfig(ChannelConfig):
    """A URL on the public network that takes one JSON object for each message, with exactly these keys:
    `event`, `severity`, `status`, `timestamp`, `pipeline`, `connector`, `error`, `alert`. In a recovery
    `alert.firing_failed` is true when the message that something was wrong did not arrive.
    """

    required = ("url",)
    target = "url"

    url: SecretField | None = Field(default=None, description="https, on the public network.")
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


WEBHOOK = ChannelDefinition(
    config=WebhookConfig,
    title="A channel that sends to a webhook.",
    pace=Pace(per_second=10, burst=10, digests=False),
    make_sender=Webhook.make,
)
