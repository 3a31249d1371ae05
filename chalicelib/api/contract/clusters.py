"""Stream clusters, Connect clusters, connector plug-ins."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Annotated, LiteralString

from pydantic import AfterValidator, AliasPath, Field, StringConstraints, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from chalicelib.api.contract.common import Input, Integer, Line, Name, Output, Timestamp, Uuid, secrets_of
from chalicelib.api.contract.kafka_credentials import KafkaCredentials
from chalicelib.api.contract.labels import LABELS, Labels
from chalicelib.api.contract.registered import PasswordCredentials, RegisteredOutput
from chalicelib.api.contract.views import Definition
from chalicelib.domain.addresses import ConnectAddress, KafkaAddress, SaslMechanism, SecurityProtocol
from chalicelib.domain.cluster import ConnectCluster, MetricsProvider, SecretDelivery, StreamCluster
from chalicelib.domain.kafka_sign_in import with_sign_in
from chalicelib.kit.hosts import UrlRefused, is_protected, parse_server, read_url
from chalicelib.services.connect_clusters import ConnectClusterInput
from chalicelib.services.stream_clusters import StreamClusterInput


def _servers(text: str) -> str:
    for server in text.replace(" ", "").split(","):
        try:
            parse_server(server)
        except UrlRefused as refused:
            if refused.rule == "url_port":
                raise PydanticCustomError("port", "a port is 1 to 65535") from None
            raise PydanticCustomError("host", "a host is a name or an address, of IPv6 in brackets") from None
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


def _encrypted(url: str) -> str:
    if read_url(url) is None:
        raise PydanticCustomError("host", "it has to be https, a host and perhaps a port")
    if not is_protected(url):
        raise PydanticCustomError("https_required", "it has to begin with https, because a client secret is sent there")
    return url


BaseUrl = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, max_length=500, pattern=r"^https?://[A-Za-z0-9._\[\]:-]+(/[A-Za-z0-9._~/-]*)?$"
    ),
    AfterValidator(lambda url: url.rstrip("/")),
]


TokenUrl = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, max_length=500, pattern=r"^https?://[A-Za-z0-9._\[\]:-]+(/[A-Za-z0-9._~/%-]*)?$"
    ),
    AfterValidator(_encrypted),
]


@dataclass(frozen=True, slots=True)
class _Use:
    """By which protocols and mechanisms a field is used, whether they need it, and the fault of giving it to others."""

    by: Callable[[SecurityProtocol, SaslMechanism | None], bool]
    required: bool
    fault: LiteralString | None = None


def _takes_token(protocol: SecurityProtocol, mechanism: SaslMechanism | None) -> bool:
    return protocol.has_sasl and mechanism is SaslMechanism.OAUTHBEARER


def _takes_username(protocol: SecurityProtocol, mechanism: SaslMechanism | None) -> bool:
    return protocol.has_sasl and mechanism is not SaslMechanism.OAUTHBEARER


_USES: Mapping[str, _Use] = {
    "sasl_mechanism": _Use(lambda protocol, _: protocol.has_sasl, required=True, fault="protocol_without_sasl"),
    "username": _Use(_takes_username, required=True),
    "token_endpoint_url": _Use(_takes_token, required=True, fault="mechanism_without_token"),
    "client_id": _Use(_takes_token, required=True, fault="mechanism_without_token"),
    "scope": _Use(_takes_token, required=False, fault="mechanism_without_token"),
}


class StreamClusterBody(Input):
    """Kafka brokers to register."""

    name: Name
    labels: Labels = LABELS
    bootstrap_servers: Servers = Field(description="host:port, several separated by commas.")
    security_protocol: SecurityProtocol = SecurityProtocol.PLAINTEXT
    sasl_mechanism: SaslMechanism | None = Field(default=None, validate_default=True)
    username: Line | None = Field(default=None, max_length=255, validate_default=True)
    token_endpoint_url: TokenUrl | None = Field(default=None, validate_default=True, description="For OAUTHBEARER.")
    client_id: Line | None = Field(default=None, max_length=255, validate_default=True)
    scope: Line | None = Field(default=None, max_length=1000, validate_default=True)
    credentials: KafkaCredentials | None = None
    metrics_provider: MetricsProvider = MetricsProvider.CONSUMER_GROUPS

    @field_validator("sasl_mechanism", "username", "token_endpoint_url", "client_id", "scope")
    @classmethod
    def _as_the_protocol_takes_it(cls, value: str | None, info: ValidationInfo) -> str | None:
        """What is missing or of no use here would make every connection fail later."""
        use, protocol = _USES[info.field_name or ""], info.data.get("security_protocol")
        if protocol is None:
            return value  # it is wrong itself
        used = use.by(protocol, info.data.get("sasl_mechanism"))
        if used and use.required and not value:
            raise PydanticCustomError("missing", "the protocol and the mechanism take it")
        judged = "sasl_mechanism" in info.data or info.field_name == "sasl_mechanism"
        if value and use.fault and not used and judged:
            raise PydanticCustomError(use.fault, "leave it out: the protocol or the mechanism has no use for it")
        return value

    @field_validator("credentials")
    @classmethod
    def _secrets_of_use(cls, value: KafkaCredentials | None, info: ValidationInfo) -> KafkaCredentials | None:
        if value and "security_protocol" in info.data and "sasl_mechanism" in info.data:
            value.require_use(info.data["security_protocol"], info.data["sasl_mechanism"])
        return value

    def to_input(self) -> StreamClusterInput:
        """The input of the service."""
        address = KafkaAddress(**self.model_dump(include={field.name for field in fields(KafkaAddress)}))
        return StreamClusterInput(
            name=self.name,
            labels=self.labels,
            address=address,
            metrics_provider=self.metrics_provider,
            secrets=with_sign_in(address, secrets_of(self.credentials)),
        )


class StreamClusterOutput(RegisteredOutput):
    """A registered stream cluster."""

    bootstrap_servers: str = Field(validation_alias=AliasPath("address", "bootstrap_servers"))
    security_protocol: SecurityProtocol = Field(validation_alias=AliasPath("address", "security_protocol"))
    sasl_mechanism: SaslMechanism | None = Field(validation_alias=AliasPath("address", "sasl_mechanism"))
    username: str | None = Field(validation_alias=AliasPath("address", "username"))
    token_endpoint_url: str | None = Field(validation_alias=AliasPath("address", "token_endpoint_url"))
    client_id: str | None = Field(validation_alias=AliasPath("address", "client_id"))
    scope: str | None = Field(validation_alias=AliasPath("address", "scope"))
    metrics_provider: MetricsProvider
    last_checked_at: Timestamp | None = Field(validation_alias=AliasPath("health", "checked_at"))
    kafka_cluster_id: str | None


class ConnectClusterBody(Input):
    """Kafka Connect workers to register."""

    name: Name
    labels: Labels = LABELS
    base_url: BaseUrl = Field(description="http(s) address of the REST interface, without credentials.")
    stream_cluster_id: Uuid
    username: Line | None = Field(default=None, max_length=255)
    credentials: PasswordCredentials | None = None
    secret_delivery: SecretDelivery = SecretDelivery.CONFIG_PROVIDER

    def to_input(self) -> ConnectClusterInput:
        """The input of the service."""
        return ConnectClusterInput(
            name=self.name,
            labels=self.labels,
            address=ConnectAddress(base_url=self.base_url, username=self.username),
            stream_cluster_id=self.stream_cluster_id,
            secret_delivery=self.secret_delivery,
            secrets=secrets_of(self.credentials),
        )


class PendingChangesOutput(Output):
    """Connectors of ours that nothing needs any more, or that are missing, so many that an Admin has to confirm their
    deletion or creation.

    `count` of them, since when they wait, and the first 20 names.
    """

    count: int
    since: Timestamp
    names: tuple[str, ...]


class ConfirmationBody(Input):
    """The number of deletions, or of creations, that the cluster shows as waiting."""

    count: Integer = Field(ge=1)


class ConnectClusterOutput(RegisteredOutput):
    """A registered Connect cluster."""

    base_url: str = Field(validation_alias=AliasPath("address", "base_url"))
    stream_cluster_id: str
    username: str | None = Field(validation_alias=AliasPath("address", "username"))
    secret_delivery: SecretDelivery
    last_checked_at: Timestamp | None = Field(validation_alias=AliasPath("health", "checked_at"))
    connect_version: str | None
    kafka_cluster_id: str | None
    pending_deletions: PendingChangesOutput | None
    pending_creations: PendingChangesOutput | None


class PluginOutput(Output):
    """An installed connector plug-in."""

    class_: str = Field(serialization_alias="class", validation_alias="class_name")
    type: str
    version: str | None


def stream_cluster_definition(cluster: StreamCluster) -> Definition:
    return Definition.of(StreamClusterOutput.of(cluster), StreamClusterBody.model_fields.keys() - {"credentials"})


def connect_cluster_definition(cluster: ConnectCluster) -> Definition:
    return Definition.of(ConnectClusterOutput.of(cluster), ConnectClusterBody.model_fields.keys() - {"credentials"})
