"""Opens the secrets of endpoints, and makes the clients that use them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from chalicelib.clients.connect.client import Connect
from chalicelib.clients.databases.contract import Database, DatabaseFactory
from chalicelib.clients.kafka.client import Kafka
from chalicelib.clients.targets import TargetClient, TargetFactory
from chalicelib.domain.addresses import Address, ConnectAddress, KafkaAddress, SystemAddress
from chalicelib.domain.cluster import ConnectCluster, SecretDelivery, StreamCluster
from chalicelib.domain.connector_config import INSTALLATION_KEY, BuiltConfig
from chalicelib.domain.credentials import Secrets, without_blanks
from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.endpoint import Endpoint, OpenedEndpoint
from chalicelib.domain.names import OWNER_KEY, owner_marker, parse_connector_name
from chalicelib.services.credentials import CredentialVault
from chalicelib.services.installation import Installation

A = TypeVar("A", bound=Address)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientFactory:
    """Clients for registered endpoints, and by `make_...` for opened ones, whose secrets need not be stored yet.

    `targets` are by the provider of the address.
    """

    vault: CredentialVault
    databases: Mapping[DatabaseProvider, DatabaseFactory]
    targets: Mapping[Any, TargetFactory]
    make_connect: Callable[[OpenedEndpoint[ConnectAddress]], Connect]
    make_kafka: Callable[[OpenedEndpoint[KafkaAddress]], Kafka]
    installation: Installation
    _connects: dict[str, tuple[int, Connect]] = field(default_factory=dict)

    def open(self, endpoint: Endpoint[A], unsaved: Secrets | None = None) -> OpenedEndpoint[A]:
        """The endpoint with its stored secrets; those of a request that are not saved yet take their place."""
        secrets = without_blanks(unsaved or {})
        if endpoint.credentials.fields.keys() - secrets.keys():
            secrets = {**self.vault.open(endpoint.credentials), **secrets}
        return OpenedEndpoint(endpoint.address, secrets)

    def connect(self, cluster: ConnectCluster) -> Connect:
        """The REST client of a registered Connect cluster, kept while its registration stays the same."""
        version, client = self._connects.get(cluster.id, (0, None))
        if client is None or version != cluster.version:
            client = self.make_connect(self.open(cluster.endpoint))
            self._connects[cluster.id] = (cluster.version, client)
        return client

    def kafka(self, cluster: StreamCluster) -> Kafka:
        """An admin client of a registered stream cluster. Close it."""
        return self.make_kafka(self.open(cluster.endpoint))

    def database(self, endpoint: Endpoint[Any]) -> Database:
        """A client of a registered database; other systems have none."""
        return self.databases[endpoint.address.provider](self.open(endpoint))

    def target(self, endpoint: Endpoint[SystemAddress]) -> TargetClient:
        """A client of a registered source or destination, of whatever kind."""
        return self.make_target(self.open(endpoint))

    def make_target(self, endpoint: OpenedEndpoint[SystemAddress]) -> TargetClient:
        """A client of the kind that the address names."""
        return self.targets[endpoint.address.provider](endpoint)

    def for_connect(self, cluster: ConnectCluster, built: BuiltConfig) -> dict[str, str]:
        """The config as it is sent to this cluster: with references to its credentials, or, where the cluster is
        registered for inline secrets, with their values; and with the id of this installation. Raises StoreUnavailable.
        """
        config = {**built.config, INSTALLATION_KEY: self.installation.id}
        if cluster.secret_delivery is SecretDelivery.CONFIG_PROVIDER:
            return config
        opened = ((one, self.vault.open(one)) for one in built.credentials)
        values = {one.reference(name): value for one, secrets in opened for name, value in secrets.items()}
        return {key: values[text].reveal() if text in values else text for key, text in config.items()}

    def is_ours(self, name: str, config: Mapping[str, str]) -> bool:
        """Whether the config in Connect carries the owner marker of the resource that the name belongs to, and the id
        of this installation: that of another one, or of the original of a copy, is not ours. Raises StoreUnavailable.
        """
        parsed = parse_connector_name(name)
        if parsed is None or config.get(OWNER_KEY) != owner_marker(*parsed):
            return False
        return config.get(INSTALLATION_KEY) == self.installation.id
