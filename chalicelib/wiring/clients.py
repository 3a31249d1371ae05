"""Clients of external systems, and of the service that keeps the keys."""

import ssl
from typing import Any

from chalicelib.clients.addresses import AddressPolicy
from chalicelib.clients.connect.client import Connect
from chalicelib.clients.databases.contract import MakeDatabase
from chalicelib.clients.databases.postgresql.client import PostgreSQL
from chalicelib.clients.kafka.client import Kafka
from chalicelib.domain.cluster import ConnectAddress, KafkaAddress
from chalicelib.domain.database import DatabaseAddress, DatabaseProvider
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.secrets.keys import KeyProvider, KmsKeys, LocalKeys
from chalicelib.settings import SettingMissing, Settings


class Clients:
    """Makes clients of external systems. Tests pass another one."""

    def __init__(self, config: Settings) -> None:
        self._ca_bundle = config.ca_bundle
        self._policy = AddressPolicy(allow_loopback=config.allow_loopback_targets)
        self.databases: dict[DatabaseProvider, MakeDatabase] = {DatabaseProvider.POSTGRESQL: self._postgresql}

    def connect(self, endpoint: OpenedEndpoint[ConnectAddress]) -> Connect:
        """A client of Connect workers."""
        return Connect(endpoint, check_host=self._policy, tls=self._tls)

    def kafka(self, endpoint: OpenedEndpoint[KafkaAddress]) -> Kafka:
        """A client of Kafka brokers."""
        return Kafka(endpoint, check_host=self._policy, tls=self._tls)

    def _postgresql(self, endpoint: OpenedEndpoint[DatabaseAddress]) -> PostgreSQL:
        return PostgreSQL(endpoint=endpoint, check_host=self._policy, trusted_ca_file=self._ca_bundle)

    def _tls(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        if self._ca_bundle:
            context.load_verify_locations(cafile=self._ca_bundle)
        return context


def keys_of(config: Settings) -> KeyProvider:
    """What wraps the data keys of this installation. Raises SettingMissing."""
    if config.kms_key_id:
        return KmsKeys(_kms, config.kms_key_id)
    if config.master_key:
        return LocalKeys(config.master_key)
    raise SettingMissing("Set HEADGATE_KMS_KEY_ID, or HEADGATE_MASTER_KEY (make one with: openssl rand -base64 32).")


def _kms() -> Any:
    import boto3
    from botocore.config import Config

    limits = Config(connect_timeout=1, read_timeout=2, retries={"total_max_attempts": 3})
    return boto3.client("kms", config=limits)
