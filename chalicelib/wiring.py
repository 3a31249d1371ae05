"""Builds everything once per container, lazily. The only file that knows every concrete class."""

import ssl
import time
from collections.abc import Mapping
from functools import cache, cached_property

from chalicelib.clients.addresses import AddressPolicy
from chalicelib.clients.connect import Connect
from chalicelib.clients.kafka import Kafka
from chalicelib.clients.queue import Queues
from chalicelib.domain.cluster import StreamCluster
from chalicelib.domain.job import JobKind
from chalicelib.domain.provider import DatabaseProvider
from chalicelib.kit.clock import utc_now
from chalicelib.kit.log import get_logger
from chalicelib.kit.masking import Secret
from chalicelib.kit.pages import Signer
from chalicelib.secrets.envelope import Envelope
from chalicelib.secrets.keys import CachedKeys, KeyProvider, KmsKeys, LocalKeys
from chalicelib.secrets.sealer import Sealer
from chalicelib.services.audit import AuditTrail
from chalicelib.services.connect_clusters import ConnectClusterService
from chalicelib.services.credentials import CredentialVault
from chalicelib.services.deliveries import DeliveryService
from chalicelib.services.delivery_family import DeliveryFamily
from chalicelib.services.destinations import DestinationService
from chalicelib.services.discovery import Discovery
from chalicelib.services.jobs import JobService
from chalicelib.services.lifecycle import Lifecycle
from chalicelib.services.observing import Observing
from chalicelib.services.outside import Outside
from chalicelib.services.pipeline_family import PipelineFamily
from chalicelib.services.pipelines import PipelineService
from chalicelib.services.plugins import PluginCheck
from chalicelib.services.probes import Probes
from chalicelib.services.reconcile import Reconciler
from chalicelib.services.registry import Registry
from chalicelib.services.sessions import SessionService
from chalicelib.services.signing_key import signing_key
from chalicelib.services.sources import SourceService
from chalicelib.services.stream_clusters import StreamClusterService
from chalicelib.settings import SettingMissing, Settings, settings
from chalicelib.stores.audit import Audit
from chalicelib.stores.claims import Claims, Targets
from chalicelib.stores.clusters import ConnectClusters, StreamClusters
from chalicelib.stores.deliveries import Deliveries
from chalicelib.stores.destinations import Destinations
from chalicelib.stores.idempotency import IdempotencyStore
from chalicelib.stores.jobs import Jobs
from chalicelib.stores.observations import Observations
from chalicelib.stores.operations import Operations
from chalicelib.stores.pipelines import Pipelines
from chalicelib.stores.secrets import SealedSecrets
from chalicelib.stores.source_tables import SourceTables
from chalicelib.stores.sources import Sources
from chalicelib.stores.together import deliveries_among, pipelines_among
from chalicelib.stores.users import Sessions, Users

JOBS, TICKS = "jobs", "ticks"


class Stores:
    """Every table's store."""

    def __init__(self, sealer: Sealer) -> None:
        self.sources, self.tables, self.destinations = Sources(), SourceTables(), Destinations()
        self.streams, self.connects = StreamClusters(), ConnectClusters()
        self.pipelines, self.deliveries, self.operations = Pipelines(), Deliveries(), Operations()
        self.jobs, self.audit, self.claims, self.targets = Jobs(), Audit(), Claims(), Targets()
        self.secrets, self.observations, self.users = SealedSecrets(), Observations(), Users()
        self.sessions = Sessions(self.users)
        self.pipelines_among = pipelines_among(
            self.pipelines, self.sources, self.streams, self.connects, self.observations
        )
        self.deliveries_among = deliveries_among(
            self.deliveries, self.destinations, self.pipelines, self.connects, self.observations
        )
        self.idempotency = IdempotencyStore(sealer)


class Services:
    """Everything that routes, monitors and workers may call."""

    def __init__(self, given: Settings) -> None:
        self.settings = given
        self.clock = utc_now
        self.policy = AddressPolicy(allow_loopback=given.allow_loopback_targets)
        self.envelope = Envelope(CachedKeys(_keys(given)))
        self.stores = Stores(Sealer(self.envelope))
        self.queues = Queues(given.queue_prefix)
        self.audit = AuditTrail(rows=self.stores.audit, clock=self.clock)
        self.credentials = CredentialVault(
            rows=self.stores.secrets, envelope=self.envelope, audit=self.audit, clock=self.clock
        )
        self.registry = Registry(claims=self.stores.claims, vault=self.credentials, audit=self.audit)

    @cached_property
    def signer(self) -> Signer:
        """Signs cursors, with a key that every process of the installation has."""
        return Signer(key=signing_key(self.settings.master_key, self.stores.secrets, self.envelope, self.clock()))

    @cached_property
    def sessions(self) -> SessionService:
        """Signing in and out."""
        return SessionService(
            users=self.stores.users,
            sessions=self.stores.sessions,
            claims=self.stores.claims,
            audit=self.audit,
            clock=self.clock,
        )

    @cached_property
    def outside(self) -> Outside:
        """The way to registered systems."""
        from chalicelib.clients.databases.postgresql import PostgreSQL

        return Outside(
            vault=self.credentials,
            databases={
                DatabaseProvider.POSTGRESQL: PostgreSQL(policy=self.policy, trusted_ca_file=self.settings.ca_bundle)
            },
            make_connect=self._connect,
            make_kafka=self._kafka,
        )

    @cached_property
    def probes(self) -> Probes:
        """Looks at databases."""
        return Probes(outside=self.outside, audit=self.audit, clock=self.clock)

    @cached_property
    def sources(self) -> SourceService:
        """Sources."""
        return SourceService(
            rows=self.stores.sources, tables=self.stores.tables, registry=self.registry, clock=self.clock
        )

    @cached_property
    def destinations(self) -> DestinationService:
        """Destinations."""
        return DestinationService(rows=self.stores.destinations, registry=self.registry, clock=self.clock)

    @cached_property
    def stream_clusters(self) -> StreamClusterService:
        """Stream clusters."""
        return StreamClusterService(
            rows=self.stores.streams, registry=self.registry, make_kafka=self._kafka, clock=self.clock
        )

    @cached_property
    def connect_clusters(self) -> ConnectClusterService:
        """Connect clusters."""
        return ConnectClusterService(
            rows=self.stores.connects,
            streams=self.stores.streams,
            registry=self.registry,
            outside=self.outside,
            make_connect=self._connect,
            allow_inline_secrets=self.settings.allow_inline_secrets,
            clock=self.clock,
        )

    @cached_property
    def discovery(self) -> Discovery:
        """What jobs do."""
        return Discovery(
            sources=self.stores.sources,
            tables=self.stores.tables,
            outside=self.outside,
            probes=self.probes,
            clock=self.clock,
        )

    @cached_property
    def jobs(self) -> JobService:
        """Jobs."""
        return JobService(
            rows=self.stores.jobs,
            sources=self.stores.sources,
            claims=self.stores.claims,
            audit=self.audit,
            work={
                JobKind.DISCOVERY: self.discovery.discover,
                JobKind.HEALTH: self.discovery.check_health,
            },
            ring=lambda job_id: self.queues.send(JOBS, {"job_id": job_id}),
            clock=self.clock,
        )

    @cached_property
    def plugins(self) -> PluginCheck:
        """Asks Connect about plug-ins and configs."""
        return PluginCheck(outside=self.outside)

    @cached_property
    def pipeline_family(self) -> PipelineFamily:
        """Pipelines as operations see them."""
        return PipelineFamily(
            rows=self.stores.pipelines,
            together=self.stores.pipelines_among,
            sources=self.stores.sources,
            tables=self.stores.tables,
            streams=self.stores.streams,
            connects=self.stores.connects,
            registry=self.registry,
            probes=self.probes,
            plugins=self.plugins,
        )

    @cached_property
    def delivery_family(self) -> DeliveryFamily:
        """Deliveries as operations see them."""
        return DeliveryFamily(
            rows=self.stores.deliveries,
            together=self.stores.deliveries_among,
            destinations=self.stores.destinations,
            pipelines=self.stores.pipelines,
            tables=self.stores.tables,
            streams=self.stores.streams,
            connects=self.stores.connects,
            claims=self.stores.claims,
            targets=self.stores.targets,
            outside=self.outside,
            probes=self.probes,
            plugins=self.plugins,
        )

    @cached_property
    def lifecycle(self) -> Lifecycle:
        """Operations on connectors."""
        return Lifecycle(
            operations=self.stores.operations,
            observations=self.stores.observations,
            outside=self.outside,
            audit=self.audit,
            clock=self.clock,
            sleep=time.sleep,
        )

    @cached_property
    def observing(self) -> Observing:
        """Observations beside resources."""
        return Observing(
            observations=self.stores.observations,
            outside=self.outside,
            clock=self.clock,
        )

    @cached_property
    def pipelines(self) -> PipelineService:
        """Pipelines."""
        return PipelineService(
            rows=self.stores.pipelines,
            sources=self.stores.sources,
            together=self.stores.pipelines_among,
            deliveries=self.stores.deliveries,
            family=self.pipeline_family,
            registry=self.registry,
            lifecycle=self.lifecycle,
            observing=self.observing,
            clock=self.clock,
        )

    @cached_property
    def deliveries(self) -> DeliveryService:
        """Deliveries."""
        return DeliveryService(
            rows=self.stores.deliveries,
            together=self.stores.deliveries_among,
            destinations=self.stores.destinations,
            claims=self.stores.claims,
            connects=self.stores.connects,
            family=self.delivery_family,
            lifecycle=self.lifecycle,
            observing=self.observing,
            clock=self.clock,
        )

    @cached_property
    def reconciler(self) -> Reconciler:
        """Ticks."""
        return Reconciler(
            connects=self.stores.connects,
            operations=self.stores.operations,
            observations=self.stores.observations,
            families={"pipeline": self.pipeline_family, "delivery": self.delivery_family},
            lifecycle=self.lifecycle,
            outside=self.outside,
            clock=self.clock,
            ring=lambda cluster_id, delay: self.queues.send(TICKS, {"cluster_id": cluster_id}, delay_seconds=delay),
        )

    def install(self) -> None:
        """Make the first Admin, if the settings name one and the address has no account."""
        if self.settings.admin_email and self.settings.admin_password:
            self.sessions.install_admin(self.settings.admin_email, self.settings.admin_password)

    def ready(self) -> Mapping[str, bool]:
        """Every kind of store by name, and whether it answers."""
        return {
            "tables": self.stores.sources.answers(),
            "queue_jobs": self.queues.answers(JOBS),
            "queue_ticks": self.queues.answers(TICKS),
        }

    def _connect(self, base_url: str, username: str | None, password: Secret | None) -> Connect:
        return Connect(base_url=base_url, username=username, password=password, check_host=self.policy, tls=self._tls)

    def _kafka(self, cluster: StreamCluster, password: Secret | None) -> Kafka:
        return Kafka(cluster, password, check_host=self.policy, ca_file=self.settings.ca_bundle)

    def _tls(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        if self.settings.ca_bundle:
            context.load_verify_locations(cafile=self.settings.ca_bundle)
        return context


@cache
def services() -> Services:
    """The services of this process. The first Admin is made before anybody is served."""
    built = Services(settings())
    get_logger().setLevel(built.settings.log_level.upper())
    built.install()
    return built


def _keys(given: Settings) -> KeyProvider:
    if given.kms_key_id:
        import boto3
        from botocore.config import Config

        limits = Config(connect_timeout=1, read_timeout=2, retries={"total_max_attempts": 3})
        return KmsKeys(boto3.client("kms", config=limits), given.kms_key_id)
    if given.master_key:
        return LocalKeys(given.master_key)
    raise SettingMissing("Set HEADGATE_KMS_KEY_ID, or HEADGATE_MASTER_KEY (make one with: openssl rand -base64 32).")
