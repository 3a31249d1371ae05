"""Notification channels (wire contract, section 6)."""

from itertools import starmap
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, Union

from pydantic import Field, StrictBool, create_model

from chalicelib.api.contract.common import CredentialsOutput, Input, Name, Output, Timestamp
from chalicelib.api.contract.labels import LABELS, Labels, ShownLabels
from chalicelib.api.contract.views import Definition
from chalicelib.domain.alerts.channel import Channel, ChannelProvider, ChannelValues
from chalicelib.domain.alerts.notification import NotificationError
from chalicelib.domain.credentials import Secrets
from chalicelib.notify.config import ChannelConfig
from chalicelib.notify.contract import ChannelDefinition
from chalicelib.notify.registry import PROVIDERS
from chalicelib.services.alerts.channel_states import ChannelState, ChannelStatus


class _ChannelBody(Input):
    """What the bodies of all providers share. In a change, what is missing, null or blank in `config` stays as it is
    stored.
    """

    name: Name
    labels: Labels = LABELS
    enabled: StrictBool = True

    def to_input(self) -> tuple[ChannelValues, Secrets]:
        """The input of the service."""
        fields = dict(self)
        config: ChannelConfig | None = fields.pop("config")
        return ChannelValues(**fields), config.to_secrets() if config else {}


class _ChannelTestBody(Input):
    """A channel that is not stored: its provider, and the whole of its config."""

    def to_input(self) -> tuple[ChannelProvider, Secrets]:
        """The input of the service."""
        fields = dict(self)
        return fields["provider"], fields["config"].to_secrets()


def _body_of(provider: ChannelProvider, definition: ChannelDefinition) -> type[_ChannelBody]:
    config = definition.config
    fields: dict[str, Any] = {"provider": (Literal[provider], ...), "config": (config | None, None)}
    name = config.__name__.replace("Config", "Body")
    return create_model(name, __base__=_ChannelBody, __doc__=definition.title, **fields)


def _test_body_of(provider: ChannelProvider, definition: ChannelDefinition) -> type[_ChannelTestBody]:
    fields: dict[str, Any] = {"provider": (Literal[provider], ...), "config": (definition.config, ...)}
    name = definition.config.__name__.replace("Config", "TestBody")
    return create_model(name, __base__=_ChannelTestBody, __doc__=definition.title, **fields)


if TYPE_CHECKING:
    ChannelBody = _ChannelBody
    ChannelTestBody = _ChannelTestBody
else:
    _bodies = tuple(starmap(_body_of, PROVIDERS.items()))
    ChannelBody = Annotated[Union[_bodies], Field(discriminator="provider")]  # noqa: UP007 - known at run time only
    _bodies = tuple(starmap(_test_body_of, PROVIDERS.items()))
    ChannelTestBody = Annotated[Union[_bodies], Field(discriminator="provider")]  # noqa: UP007 - as above


class LastDeliveryOutput(Output):
    """How the newest message ended."""

    status: str
    at: Timestamp


class ChannelOutput(Output):
    """A channel. `credentials.mask` shows the scheme and host of its address at most."""

    id: str
    name: str
    labels: ShownLabels
    provider: ChannelProvider
    enabled: bool
    credentials: CredentialsOutput
    last_delivery: LastDeliveryOutput | None
    version: int
    created_at: Timestamp
    updated_at: Timestamp

    @classmethod
    def of_channel(cls, channel: Channel, **computed: Any) -> Self:
        """What people may see of a channel."""
        shown = CredentialsOutput(configured=channel.credentials.configured, mask=channel.mask)
        return cls._read(channel, credentials=shown, **computed)


class ChannelDetailOutput(ChannelOutput):
    """A channel and how it sends now."""

    delivery_state: ChannelStatus = Field(
        description="`limited`: the provider asked to wait. `down`: it fails, and one message a minute is tried."
    )
    oldest_waiting_seconds: float | None = Field(description="Since when the oldest message waits; null when none.")

    @classmethod
    def of_state(cls, channel: Channel, state: ChannelState) -> Self:
        """What people may see of a channel that sends so."""
        return cls.of_channel(channel, delivery_state=state.status, oldest_waiting_seconds=state.waiting_seconds)


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

    @classmethod
    def of(cls, error: NotificationError | None) -> Self:
        """Why it was not delivered; None when it was."""
        shown = DeliveryErrorOutput.of(error) if error else None
        return cls(delivered=error is None, status="failed" if error else "delivered", error=shown)


def channel_definition(channel: Channel) -> Definition:
    """Without `config`: all of it is secret."""
    return Definition.of(ChannelOutput.of_channel(channel), ("name", "labels", "provider", "enabled"))
