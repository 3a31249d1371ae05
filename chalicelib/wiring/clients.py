"""Clients of external systems, and of the service that keeps the keys."""

import ssl
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any, Literal

from chalicelib.clients.anchor_copies import AnchorCopy, anchor_copy
from chalicelib.clients.connect.client import Connect
from chalicelib.clients.databases.contract import DatabaseFactory
from chalicelib.clients.databases.mysql.client import MySQL
from chalicelib.clients.databases.postgresql.client import PostgreSQL
from chalicelib.clients.http.addresses import AddressPolicy
from chalicelib.clients.http.guarded import GuardedHttp
from chalicelib.clients.http.openid import OpenIdProvider
from chalicelib.clients.kafka.client import Kafka
from chalicelib.clients.object_store.client import ObjectStore
from chalicelib.clients.targets import TargetFactory
from chalicelib.domain.addresses import ConnectAddress, DatabaseAddress, KafkaAddress
from chalicelib.domain.alerts.channel import ChannelProvider
from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.object_store import ObjectStoreAddress, ObjectStoreProvider
from chalicelib.kit.clock import Clock
from chalicelib.notify.contract import Sender, SenderTools
from chalicelib.notify.registry import senders
from chalicelib.secrets.keys import KeyProvider, KmsKeys, LocalKeys
from chalicelib.secrets.macs import KmsMac, LocalMac, Mac
from chalicelib.settings import OidcSettings, SettingMissing, Settings


class Clients:
    """Makes clients of external systems. Tests pass another one."""

    def __init__(self, config: Settings) -> None:
        self._ca_bundle = config.ca_bundle
        self._policy = AddressPolicy(allow_loopback=config.allow_loopback_targets)
        # Hosts that the installation names, of chats and single sign-on, may be anywhere; webhooks are public.
        self._operators_hosts = AddressPolicy(allow_loopback=True)
        self._public_hosts = AddressPolicy(allow_private=False)
        self.databases: dict[DatabaseProvider, DatabaseFactory] = {
            DatabaseProvider.POSTGRESQL: self._postgresql,
            DatabaseProvider.MYSQL: self._mysql,
        }

    @property
    def targets(self) -> Mapping[Any, TargetFactory]:
        """What makes the clients of sources and destinations, by provider."""
        return {**self.databases, **dict.fromkeys(ObjectStoreProvider, self._object_store)}

    def connect(self, endpoint: OpenedEndpoint[ConnectAddress]) -> Connect:
        """A client of Connect workers."""
        return Connect(endpoint, check_host=self._policy, tls=self._tls)

    def kafka(self, endpoint: OpenedEndpoint[KafkaAddress]) -> Kafka:
        """A client of Kafka brokers."""
        return Kafka(endpoint, check_host=self._policy, tls=self._tls)

    def senders(self, config: Settings) -> Mapping[ChannelProvider, Sender]:
        """What sends notifications. Raises ValueError for a setting that cannot be used."""
        tls = cache(self._tls)  # reading the system's certificates takes longer than a request
        return senders(
            SenderTools(
                settings=config,
                to_operators_hosts=partial(GuardedHttp, check_host=self._operators_hosts, tls=tls, cut_answers=True),
                to_public_hosts=partial(GuardedHttp, check_host=self._public_hosts, tls=tls, cut_answers=True),
                check_public=self._public_hosts,
            )
        )

    def openid(self, config: OidcSettings, clock: Clock) -> OpenIdProvider:
        """A client of the provider of single sign-on."""
        make_http = partial(GuardedHttp, check_host=self._operators_hosts, tls=cache(self._tls))
        return OpenIdProvider(config, make_http=make_http, clock=clock)

    def _postgresql(self, endpoint: OpenedEndpoint[DatabaseAddress]) -> PostgreSQL:
        return PostgreSQL(endpoint=endpoint, check_host=self._policy, trusted_ca_file=self._ca_bundle)

    def _mysql(self, endpoint: OpenedEndpoint[DatabaseAddress]) -> MySQL:
        return MySQL(endpoint=endpoint, check_host=self._policy, trusted_ca_file=self._ca_bundle)

    def _object_store(self, endpoint: OpenedEndpoint[ObjectStoreAddress]) -> ObjectStore:
        return ObjectStore(endpoint, check_host=self._policy, tls=self._tls)

    def _tls(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        if self._ca_bundle:
            context.load_verify_locations(cafile=self._ca_bundle)
        return context


def keys_of(config: Settings) -> Sequence[KeyProvider]:
    """What wraps the data keys of this installation: the first one seals, all of them open. Raises SettingMissing."""
    kms = cache(_kms)  # one client for all keys
    keys: list[KeyProvider] = [KmsKeys(kms, one) for one in config.kms_key_id]
    keys += map(LocalKeys, config.master_key)
    if keys:
        return keys
    raise SettingMissing("Set HEADGATE_KMS_KEY_ID, or HEADGATE_MASTER_KEY (make one with: openssl rand -base64 32).")


def audit_mac_of(config: Settings, local_key: Callable[[], bytes]) -> Mac:
    """What signs and verifies the anchors of the audit trail."""
    return KmsMac(_kms, config.audit_kms_key_id) if config.audit_kms_key_id else LocalMac(local_key)


def anchor_copy_of(config: Settings) -> AnchorCopy | None:
    """Where the last anchor of the audit trail is kept besides the tables, if anywhere."""
    return anchor_copy(config.audit_anchor_copy, _aws_client) if config.audit_anchor_copy else None


def _kms() -> Any:
    return _aws_client("kms")


def _aws_client(service: Literal["kms", "s3", "ssm"]) -> Any:
    import boto3
    from botocore.config import Config

    limits = Config(connect_timeout=1, read_timeout=2, retries={"total_max_attempts": 3})
    return boto3.client(service, config=limits)
