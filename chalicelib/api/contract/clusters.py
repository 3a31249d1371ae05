"""Stream clusters, Connect clusters, connector plug-ins."""

from typing import Annotated

from pydantic import AfterValidator, AliasPath, Field, StringConstraints, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from chalicelib.api.contract.common import Input, Integer, Line, Name, Output, Timestamp, Uuid, secrets_of
from chalicelib.api.contract.registered import PasswordCredentials, RegisteredOutput
from chalicelib.domain.cluster import MetricsProvider, SaslMechanism, SecretDelivery, SecurityProtocol
from chalicelib.services.connect_clusters import ConnectClusterInput
from chalicelib.services.stream_clusters import StreamClusterInput


def _servers(text: str) -> str:
    if any(not 0 < int(server.rpartition(":")[2]) < 65536 for server in text.split(",")):
        raise PydanticCustomError("port", "a port is 1 to 65535")
    return text.replace(" ", "")


Servers = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True,
        max_length=2000,
        pattern=r"^[A-Za-z0-9._\[\]:-]+:[0-9]{1,5}( *, *[A-Za-z0-9._\[\]:-]+:[0-9]{1,5}){0,19}$",
    ),
    AfterValidator(_servers),
]
BaseUrl = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, max_length=500, pattern=r"^https?://[A-Za-z0-9._\[\]:-]+(/[A-Za-z0-9._~/-]*)?$"
    ),
    AfterValidator(lambda url: url.rstrip("/")),
]


class StreamClusterBody(Input):
    """Kafka brokers to register."""

    name: Name
    bootstrap_servers: Servers = Field(description="host:port, several separated by commas.")
    security_protocol: SecurityProtocol = SecurityProtocol.PLAINTEXT
    sasl_mechanism: SaslMechanism | None = Field(default=None, validate_default=True)
    username: Line | None = Field(default=None, max_length=255, validate_default=True)
    credentials: PasswordCredentials | None = None
    metrics_provider: MetricsProvider = MetricsProvider.NONE

    @field_validator("sasl_mechanism", "username")
    @classmethod
    def _required_by_sasl(cls, value: str | None, info: ValidationInfo) -> str | None:
        """SASL takes a mechanism and a user name: without them every connection would fail later."""
        protocol = info.data.get("security_protocol")
        if protocol and protocol.has_sasl and not value:
            raise PydanticCustomError("missing", "SASL takes a mechanism and a user name")
        return value

    @field_validator("sasl_mechanism")
    @classmethod
    def _only_with_sasl(cls, value: SaslMechanism | None, info: ValidationInfo) -> SaslMechanism | None:
        protocol = info.data.get("security_protocol")
        if protocol and not protocol.has_sasl and value:
            raise PydanticCustomError("protocol_without_sasl", "the protocol takes no mechanism")
        return value

    def to_input(self) -> StreamClusterInput:
        """The input of the service."""
        return StreamClusterInput(**self.model_dump(exclude={"credentials"}), secrets=secrets_of(self.credentials))


class StreamClusterOutput(RegisteredOutput):
    """A registered stream cluster."""

    bootstrap_servers: str
    security_protocol: SecurityProtocol
    sasl_mechanism: SaslMechanism | None
    username: str | None
    metrics_provider: MetricsProvider
    last_checked_at: Timestamp | None = Field(validation_alias=AliasPath("health", "checked_at"))
    kafka_cluster_id: str | None


class ConnectClusterBody(Input):
    """Kafka Connect workers to register."""

    name: Name
    base_url: BaseUrl = Field(description="http(s) address of the REST interface, without credentials.")
    stream_cluster_id: Uuid
    username: Line | None = Field(default=None, max_length=255)
    credentials: PasswordCredentials | None = None
    secret_delivery: SecretDelivery = SecretDelivery.CONFIG_PROVIDER

    def to_input(self) -> ConnectClusterInput:
        """The input of the service."""
        return ConnectClusterInput(**self.model_dump(exclude={"credentials"}), secrets=secrets_of(self.credentials))


class PendingDeletionsOutput(Output):
    """Connectors of ours that nothing needs any more, so many that an Admin has to confirm their deletion.

    `count` of them, since when they wait, and the first 20 names.
    """

    count: int
    since: Timestamp
    names: tuple[str, ...]


class ConfirmDeletionsBody(Input):
    """The number of deletions that the cluster shows as waiting."""

    count: Integer = Field(ge=1)


class ConnectClusterOutput(RegisteredOutput):
    """A registered Connect cluster."""

    base_url: str
    stream_cluster_id: str
    username: str | None
    secret_delivery: SecretDelivery
    last_checked_at: Timestamp | None = Field(validation_alias=AliasPath("health", "checked_at"))
    connect_version: str | None
    kafka_cluster_id: str | None
    pending_deletions: PendingDeletionsOutput | None


class PluginOutput(Output):
    """An installed connector plug-in."""

    class_: str = Field(serialization_alias="class", validation_alias="class_name")
    type: str
    version: str | None
