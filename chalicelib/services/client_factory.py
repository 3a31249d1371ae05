"""The way out: opens a resource's secrets and hands back a client that is ready to ask."""

from collections.abc import Callable
from dataclasses import dataclass, field

from chalicelib.clients.connect.client import Connect
from chalicelib.clients.databases.contract import Database, DatabaseSecrets
from chalicelib.clients.kafka import Kafka
from chalicelib.domain.cluster import ConnectCluster, SecretDelivery, StreamCluster
from chalicelib.domain.connector_config import BuiltConfig
from chalicelib.domain.credentials import Credentials
from chalicelib.domain.provider import DatabaseProvider
from chalicelib.kit.masking import Secret
from chalicelib.services.credentials import CredentialVault, Secrets

NO_SECRET = Secret("")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientFactory:
    """Clients for registered systems. A Connect client is kept while its cluster's registration stays the same."""

    vault: CredentialVault
    databases: dict[DatabaseProvider, Database]
    make_connect: Callable[[str, str | None, Secret | None], Connect]
    make_kafka: Callable[[StreamCluster, Secret | None], Kafka]
    _connects: dict[str, tuple[int, Connect]] = field(default_factory=dict)

    def connect(self, cluster: ConnectCluster) -> Connect:
        """The REST client of a registered Connect cluster."""
        version, client = self._connects.get(cluster.id, (0, None))
        if client is None or version != cluster.version:
            password = self.vault.open(cluster.credentials).get("password") if cluster.credentials.configured else None
            client = self.make_connect(cluster.base_url, cluster.username, password)
            self._connects[cluster.id] = (cluster.version, client)
        return client

    def kafka(self, cluster: StreamCluster) -> Kafka:
        """An admin client of a registered stream cluster. Close it."""
        password = self.vault.open(cluster.credentials).get("password") if cluster.credentials.configured else None
        return self.make_kafka(cluster, password)

    def database(self, provider: DatabaseProvider) -> Database:
        """What can look at databases of this kind."""
        return self.databases[provider]

    def database_secrets(self, credentials: Credentials) -> DatabaseSecrets:
        """The opened secrets of a source or destination."""
        return as_database_secrets(self.vault.open(credentials))

    def for_connect(self, cluster: ConnectCluster, built: BuiltConfig) -> dict[str, str]:
        """The config as this cluster gets it: with references, or, where the installation allows it, with values."""
        if cluster.secret_delivery is SecretDelivery.CONFIG_PROVIDER:
            return built.config
        values = {
            credentials.reference(name): value
            for credentials in built.credentials
            for name, value in self.vault.open(credentials).items()
        }
        return {key: values[text].reveal() if text in values else text for key, text in built.config.items()}


def as_database_secrets(secrets: Secrets) -> DatabaseSecrets:
    """The secret fields of a database connection, typed."""
    certificate = secrets.get("ca_certificate")
    return DatabaseSecrets(
        password=secrets.get("password") or NO_SECRET, ca_certificate=certificate.reveal() if certificate else None
    )
