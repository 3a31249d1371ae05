"""What every service stands on: settings, clock, keys, stores, queues, the audit trail, the ways to what is outside."""

from __future__ import annotations

import ssl
from functools import cached_property
from typing import TYPE_CHECKING, Any

from chalicelib.kit.clock import utc_now
from chalicelib.settings import SettingMissing, Settings
from chalicelib.stores.all_stores import Stores

if TYPE_CHECKING:
    from chalicelib.clients.addresses import AddressPolicy
    from chalicelib.clients.connect.client import Connect
    from chalicelib.clients.databases.postgresql.client import PostgreSQL
    from chalicelib.clients.kafka import Kafka
    from chalicelib.clients.queue import Queues
    from chalicelib.domain.cluster import ConnectAddress, KafkaAddress
    from chalicelib.domain.database import DatabaseAddress
    from chalicelib.domain.endpoint import OpenedEndpoint
    from chalicelib.kit.pages import Signer
    from chalicelib.secrets.keys import KeyProvider
    from chalicelib.secrets.sealer import Sealer
    from chalicelib.services.audit import AuditTrail
    from chalicelib.services.client_factory import ClientFactory
    from chalicelib.services.credentials import CredentialVault
    from chalicelib.services.registry import Registry


class Foundations:
    """Built lazily, each once. Raises `SettingMissing` and `ValueError` at once for settings that cannot work."""

    def __init__(self, given: Settings) -> None:
        from chalicelib.secrets.envelope import Envelope
        from chalicelib.secrets.keys import CachedKeys

        self.settings = given
        self.clock = utc_now
        self.envelope = Envelope(CachedKeys(_keys(given)))
        self.stores = Stores(sealer=lambda: self.sealer)

    @cached_property
    def sealer(self) -> Sealer:
        """Seals answers that may be asked for again."""
        from chalicelib.secrets.sealer import Sealer

        return Sealer(self.envelope)

    @cached_property
    def signer(self) -> Signer:
        """Signs cursors, with a key that every process of the installation has."""
        from chalicelib.kit.pages import Signer
        from chalicelib.services.signing_key import signing_key

        return Signer(key=signing_key(self.settings.master_key, self.stores.secrets, self.envelope, self.clock()))

    @cached_property
    def policy(self) -> AddressPolicy:
        """Which addresses may be asked for."""
        from chalicelib.clients.addresses import AddressPolicy

        return AddressPolicy(allow_loopback=self.settings.allow_loopback_targets)

    @cached_property
    def queues(self) -> Queues:
        """The queues that carry work."""
        from chalicelib.clients.queue import Queues

        return Queues(self.settings.queue_prefix)

    @cached_property
    def audit(self) -> AuditTrail:
        """What was done, and by whom."""
        from chalicelib.services.audit import AuditTrail

        return AuditTrail(rows=self.stores.audit, clock=self.clock)

    @cached_property
    def credentials(self) -> CredentialVault:
        """Secrets of registered systems."""
        from chalicelib.services.credentials import CredentialVault

        return CredentialVault(rows=self.stores.secrets, envelope=self.envelope, audit=self.audit, clock=self.clock)

    @cached_property
    def registry(self) -> Registry:
        """Registers things under names of their own."""
        from chalicelib.services.registry import Registry

        return Registry(claims=self.stores.claims, vault=self.credentials, audit=self.audit)

    @cached_property
    def clients(self) -> ClientFactory:
        """The way to registered systems."""
        from chalicelib.domain.provider import DatabaseProvider
        from chalicelib.services.client_factory import ClientFactory

        return ClientFactory(
            vault=self.credentials,
            databases={DatabaseProvider.POSTGRESQL: self._postgresql},
            make_connect=self._connect,
            make_kafka=self._kafka,
        )

    def _postgresql(self, endpoint: OpenedEndpoint[DatabaseAddress]) -> PostgreSQL:
        from chalicelib.clients.databases.postgresql.client import PostgreSQL

        return PostgreSQL(endpoint=endpoint, check_host=self.policy, trusted_ca_file=self.settings.ca_bundle)

    def _connect(self, endpoint: OpenedEndpoint[ConnectAddress]) -> Connect:
        from chalicelib.clients.connect.client import Connect

        return Connect(endpoint, check_host=self.policy, tls=self._tls)

    def _kafka(self, endpoint: OpenedEndpoint[KafkaAddress]) -> Kafka:
        from chalicelib.clients.kafka import Kafka

        return Kafka(endpoint, check_host=self.policy, ca_file=self.settings.ca_bundle)

    def _tls(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        if self.settings.ca_bundle:
            context.load_verify_locations(cafile=self.settings.ca_bundle)
        return context


def _keys(given: Settings) -> KeyProvider:
    from chalicelib.secrets.keys import KmsKeys, LocalKeys

    if given.kms_key_id:
        return KmsKeys(_kms, given.kms_key_id)
    if given.master_key:
        return LocalKeys(given.master_key)
    raise SettingMissing("Set HEADGATE_KMS_KEY_ID, or HEADGATE_MASTER_KEY (make one with: openssl rand -base64 32).")


def _kms() -> Any:
    import boto3
    from botocore.config import Config

    limits = Config(connect_timeout=1, read_timeout=2, retries={"total_max_attempts": 3})
    return boto3.client("kms", config=limits)
