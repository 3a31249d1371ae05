"""Stream clusters, Connect clusters, connector plug-ins."""

from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from chalicelib.api.contract.common import (
    CredentialsOutput,
    FailureOutput,
    Input,
    Line,
    Name,
    Output,
    Timestamp,
    Uuid,
    secrets_of,
)
from chalicelib.api.contract.registered import PasswordCredentials, registered_fields
from chalicelib.domain.cluster import (
    ConnectCluster,
    ConnectorPlugin,
    MetricsProvider,
    SaslMechanism,
    SecretDelivery,
    SecurityProtocol,
    StreamCluster,
)
from chalicelib.domain.health import HealthStatus
from chalicelib.services.connect_clusters import ConnectClusterInput
from chalicelib.services.stream_clusters import StreamClusterInput


def _ports_exist(servers: str) -> str:
    if any(not 0 < int(server.rpartition(":")[2]) < 65536 for server in servers.split(",")):
        raise PydanticCustomError("port", "a port is 1 to 65535")
    return servers


Servers = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True,
        max_length=2000,
        pattern=r"^[A-Za-z0-9._\[\]:-]+:[0-9]{1,5}( *, *[A-Za-z0-9._\[\]:-]+:[0-9]{1,5}){0,19}$",
    ),
    AfterValidator(_ports_exist),
]
BaseUrl = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, max_length=500, pattern=r"^https?://[A-Za-z0-9._\[\]:-]+(/[A-Za-z0-9._~/-]*)?$"
    ),
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
    def _given_with_sasl(cls, value: str | None, said: ValidationInfo) -> str | None:
        """SASL takes a mechanism and a user name: without them every connection would fail later."""
        protocol = said.data.get("security_protocol")
        if protocol and protocol.has_sasl and not value:
            raise PydanticCustomError("missing", "SASL takes a mechanism and a user name")
        return value

    @field_validator("sasl_mechanism")
    @classmethod
    def _only_with_sasl(cls, value: SaslMechanism | None, said: ValidationInfo) -> SaslMechanism | None:
        protocol = said.data.get("security_protocol")
        if protocol and not protocol.has_sasl and value:
            raise PydanticCustomError("protocol_without_sasl", "the protocol takes no mechanism")
        return value

    def given(self) -> StreamClusterInput:
        """What the service is told."""
        return StreamClusterInput(
            name=self.name,
            bootstrap_servers=self.bootstrap_servers.replace(" ", ""),
            security_protocol=self.security_protocol,
            sasl_mechanism=self.sasl_mechanism,
            username=self.username,
            metrics_provider=self.metrics_provider,
            secrets=secrets_of(self.credentials),
        )


class StreamClusterOutput(Output):
    """A registered stream cluster."""

    id: str
    name: str
    bootstrap_servers: str
    security_protocol: SecurityProtocol
    sasl_mechanism: SaslMechanism | None
    username: str | None
    credentials: CredentialsOutput
    metrics_provider: MetricsProvider
    status: HealthStatus
    last_error: FailureOutput | None
    last_checked_at: Timestamp | None
    kafka_cluster_id: str | None
    version: int
    created_at: Timestamp
    updated_at: Timestamp

    @classmethod
    def of(cls, cluster: StreamCluster) -> "StreamClusterOutput":
        """The cluster as it is shown."""
        return cls(
            **registered_fields(cluster),
            bootstrap_servers=cluster.bootstrap_servers,
            security_protocol=cluster.security_protocol,
            sasl_mechanism=cluster.sasl_mechanism,
            username=cluster.username,
            metrics_provider=cluster.metrics_provider,
            last_checked_at=cluster.health.checked_at,
            kafka_cluster_id=cluster.kafka_cluster_id,
        )


class ConnectClusterBody(Input):
    """Kafka Connect workers to register."""

    name: Name
    base_url: BaseUrl = Field(description="http(s) address of the REST interface, without credentials.")
    stream_cluster_id: Uuid
    username: Line | None = Field(default=None, max_length=255)
    credentials: PasswordCredentials | None = None
    secret_delivery: SecretDelivery = SecretDelivery.CONFIG_PROVIDER

    def given(self) -> ConnectClusterInput:
        """What the service is told."""
        return ConnectClusterInput(
            name=self.name,
            base_url=self.base_url.rstrip("/"),
            stream_cluster_id=self.stream_cluster_id,
            username=self.username,
            secret_delivery=self.secret_delivery,
            secrets=secrets_of(self.credentials),
        )


class ConnectClusterOutput(Output):
    """A registered Connect cluster."""

    id: str
    name: str
    base_url: str
    stream_cluster_id: str
    username: str | None
    credentials: CredentialsOutput
    secret_delivery: SecretDelivery
    status: HealthStatus
    last_error: FailureOutput | None
    last_checked_at: Timestamp | None
    connect_version: str | None
    kafka_cluster_id: str | None
    version: int
    created_at: Timestamp
    updated_at: Timestamp

    @classmethod
    def of(cls, cluster: ConnectCluster) -> "ConnectClusterOutput":
        """The cluster as it is shown."""
        return cls(
            **registered_fields(cluster),
            base_url=cluster.base_url,
            stream_cluster_id=cluster.stream_cluster_id,
            username=cluster.username,
            secret_delivery=cluster.secret_delivery,
            last_checked_at=cluster.health.checked_at,
            connect_version=cluster.connect_version,
            kafka_cluster_id=cluster.kafka_cluster_id,
        )


class PluginOutput(Output):
    """An installed connector plug-in."""

    class_: str = Field(serialization_alias="class", validation_alias="class_name")
    type: str
    version: str | None

    @classmethod
    def of(cls, plugin: ConnectorPlugin) -> "PluginOutput":
        """The plug-in as it is shown."""
        return cls.model_validate(plugin, from_attributes=True)
