"""Addresses: how to reach each kind of system, without its secrets.

Each kind says when two addresses are the same place (`identity`), which secrets it takes (`SECRETS`), which of them say
whom to trust (`TRUST`), and where and how the others are sent (`secret_target`; wire contract, Credentials). A new kind
is a class here and a member of `Address`.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from chalicelib.domain.database import DatabaseProvider, SslMode
from chalicelib.domain.object_store import ObjectStoreAddress
from chalicelib.kit.hosts import normalized


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseAddress:
    """A database. `connection_timeout_seconds` is 1 to 30."""

    SECRETS: ClassVar = frozenset({"password", "ca_certificate"})
    TRUST: ClassVar = frozenset({"ca_certificate"})

    provider: DatabaseProvider
    host: str
    port: int
    database_name: str
    username: str
    ssl_mode: SslMode = SslMode.PREFER
    connection_timeout_seconds: int = 10

    @property
    def identity(self) -> tuple[str, int, str]:
        return (normalized(self.host), self.port, self.database_name)

    @property
    def secret_target(self) -> tuple[object, ...]:
        return (normalized(self.host), self.port, self.username, self.ssl_mode)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectAddress:
    """The REST API of Kafka Connect workers. Without a user name there is no authentication."""

    SECRETS: ClassVar = frozenset({"password"})
    TRUST: ClassVar[frozenset[str]] = frozenset()

    base_url: str
    username: str | None = None

    @property
    def identity(self) -> tuple[str]:
        return (self.base_url,)

    @property
    def secret_target(self) -> tuple[object, ...]:
        return (self.base_url, self.username)


class SecurityProtocol(StrEnum):
    """Kafka's transport and authentication."""

    PLAINTEXT = "PLAINTEXT"
    SSL = "SSL"
    SASL_PLAINTEXT = "SASL_PLAINTEXT"
    SASL_SSL = "SASL_SSL"

    @property
    def has_sasl(self) -> bool:
        return self in (SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL)

    @property
    def has_tls(self) -> bool:
        return self in (SecurityProtocol.SSL, SecurityProtocol.SASL_SSL)


class SaslMechanism(StrEnum):
    """Kafka's SASL mechanisms: with a user name and a password, and OAUTHBEARER with a token of an OAuth server."""

    PLAIN = "PLAIN"
    SCRAM_SHA_256 = "SCRAM-SHA-256"
    SCRAM_SHA_512 = "SCRAM-SHA-512"
    OAUTHBEARER = "OAUTHBEARER"


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaAddress:
    """Kafka brokers. `bootstrap_servers` is `host:port[,host:port...]`.

    The last three fields belong to OAUTHBEARER, the user name to the other mechanisms.
    """

    SECRETS: ClassVar = frozenset({"password", "ca_certificate", "client_certificate", "client_key", "client_secret"})
    TRUST: ClassVar = frozenset({"ca_certificate"})

    bootstrap_servers: str
    security_protocol: SecurityProtocol = SecurityProtocol.PLAINTEXT
    sasl_mechanism: SaslMechanism | None = None
    username: str | None = None
    token_endpoint_url: str | None = None
    client_id: str | None = None
    scope: str | None = None

    @property
    def identity(self) -> tuple[str]:
        return (self.bootstrap_servers,)

    @property
    def secret_target(self) -> tuple[object, ...]:
        to_brokers = (self.bootstrap_servers, self.security_protocol, self.sasl_mechanism, self.username)
        return (*to_brokers, self.token_endpoint_url, self.client_id)


SystemAddress = DatabaseAddress | ObjectStoreAddress
"""The address of a source or a destination."""

Address = SystemAddress | ConnectAddress | KafkaAddress
