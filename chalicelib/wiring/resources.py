"""Builds what registers, checks and discovers databases and clusters."""

from collections.abc import Callable

from chalicelib.clients.queue import JOBS, Queues
from chalicelib.domain.job import JobKind
from chalicelib.kit.clock import Clock
from chalicelib.secrets.envelope import Envelope
from chalicelib.services.audit.trail import AuditTrail
from chalicelib.services.client_factory import ClientFactory
from chalicelib.services.connect_clusters import ConnectClusterService
from chalicelib.services.connector_reads import ConnectorReads
from chalicelib.services.connector_resources import ConnectorResources
from chalicelib.services.consumer_groups import ConsumerGroupService
from chalicelib.services.credentials import CredentialVault
from chalicelib.services.database_checks import DatabaseChecks
from chalicelib.services.destinations import DestinationService
from chalicelib.services.discovery import Discovery
from chalicelib.services.incidents import IncidentService
from chalicelib.services.installation import Installation
from chalicelib.services.jobs import JobHandler, JobService
from chalicelib.services.key_rotation import KeyRotation
from chalicelib.services.live_reads import LiveReads
from chalicelib.services.registered import OutdatedAfter
from chalicelib.services.registry import Registry
from chalicelib.services.schema_history import SchemaHistory
from chalicelib.services.secret_provider import SecretProvider
from chalicelib.services.sources import SourceService
from chalicelib.services.stream_clusters import StreamClusterService
from chalicelib.services.system_checks import SystemChecks
from chalicelib.services.topics import TopicService
from chalicelib.services.usage import Usage
from chalicelib.services.user_limits import UserLimits
from chalicelib.settings import Settings
from chalicelib.stores.groups import Stores
from chalicelib.stores.resources import ResourceStores
from chalicelib.stores.timeline import Timeline
from chalicelib.wiring.clients import Clients


class Resources:
    """Sources, destinations and clusters; their secrets, checks, jobs and incidents."""

    def __init__(  # noqa: PLR0913 - what all of it works with
        self,
        config: Settings,
        *,
        stores: Stores,
        envelope: Envelope,
        audit: AuditTrail,
        make: Clients,
        queues: Queues,
        look_soon: Callable[[str, str], None],
        outdated_after: OutdatedAfter,
        clock: Clock,
        sleep: Callable[[float], None],
    ) -> None:
        resources, secrets = stores.resources, stores.resources.secrets
        self.credentials = CredentialVault(store=secrets, envelope=envelope, clock=clock)
        self.key_rotation = KeyRotation(store=secrets, envelope=envelope)
        self.secret_provider = SecretProvider(vault=self.credentials, resources=resources, audit=audit, clock=clock)
        self.incidents = IncidentService(
            store=stores.monitoring.incidents,
            claims=resources.claims,
            resources=resources.by_type(),
            timeline=stores.timeline,
            audit=audit,
            look_soon=look_soon,
            clock=clock,
        )
        self.registry = Registry(
            claims=resources.claims,
            vault=self.credentials,
            audit=audit,
            incidents=self.incidents,
            usage=Usage(resources=resources, rules=stores.alerts.rules),
        )
        self.clients = ClientFactory(
            vault=self.credentials,
            databases=make.databases,
            targets=make.targets,
            make_connect=make.connect,
            make_kafka=make.kafka,
            installation=Installation(resources.claims, config.installation_id),
        )
        self.limits = UserLimits(
            counters=stores.accounts.login_tries, leases=stores.live_answers.leases, clock=clock, sleep=sleep
        )
        self.live_reads = LiveReads(store=stores.live_answers, limits=self.limits, clock=clock, sleep=sleep)
        self._build_systems(resources, look_soon, outdated_after, clock)
        self._build_discovery(resources, stores.timeline, clock)
        self.stream_clusters = StreamClusterService(
            store=resources.streams,
            registry=self.registry,
            clients=self.clients,
            outdated_after=outdated_after,
            clock=clock,
        )
        self.connect_clusters = ConnectClusterService(
            store=resources.connects,
            streams=resources.streams,
            observations=stores.connectors.observations,
            deleted=stores.connectors.deleted_clusters,
            registry=self.registry,
            clients=self.clients,
            live_reads=self.live_reads,
            allow_inline_secrets=config.allow_inline_secrets,
            outdated_after=outdated_after,
            clock=clock,
        )
        connector_resources = ConnectorResources(resources=resources)
        self.connector_reads = ConnectorReads(
            store=resources.connects,
            resources=connector_resources,
            clients=self.clients,
            live_reads=self.live_reads,
            clock=clock,
        )
        self.consumer_groups = ConsumerGroupService(
            store=resources.streams,
            connects=resources.connects,
            resources=connector_resources,
            clients=self.clients,
            live_reads=self.live_reads,
        )
        self.topics = TopicService(resources=resources, clients=self.clients, live_reads=self.live_reads, audit=audit)
        discovery = JobHandler(
            store=resources.sources,
            verb="discover",
            run=lambda context, job: self.discovery.discover(context, job.resource_id, max_tables=job.max_tables),
        )
        health = JobHandler(
            store=resources.sources,
            verb="health",
            run=lambda context, job: self.discovery.check_health(context, job.resource_id),
        )
        self.jobs = JobService(
            store=resources.jobs,
            claims=resources.claims,
            audit=audit,
            handlers={("source", JobKind.DISCOVERY): discovery, ("source", JobKind.HEALTH): health},
            notify=lambda job_id: queues.send(JOBS, {"job_id": job_id}),
            clock=clock,
        )

    def _build_systems(
        self,
        resources: ResourceStores,
        look_soon: Callable[[str, str], None],
        outdated_after: OutdatedAfter,
        clock: Clock,
    ) -> None:
        """Sources and destinations."""
        self.database_checks = DatabaseChecks(clients=self.clients, clock=clock)
        self.system_checks = SystemChecks(
            resources=resources,
            clients=self.clients,
            audit=self.registry.audit,
            incidents=self.incidents,
            look_soon=look_soon,
            clock=clock,
        )
        self.sources = SourceService(
            store=resources.sources,
            resources=resources,
            connections=resources.connections,
            registry=self.registry,
            system_checks=self.system_checks,
            outdated_after=outdated_after,
            clock=clock,
        )
        self.destinations = DestinationService(
            store=resources.destinations,
            connections=resources.connections,
            registry=self.registry,
            system_checks=self.system_checks,
            outdated_after=outdated_after,
            clock=clock,
        )

    def _build_discovery(self, resources: ResourceStores, timeline: Timeline, clock: Clock) -> None:
        """What keeps the tables of sources."""
        self.schema_history = SchemaHistory(
            resources=resources, incidents=self.incidents, timeline=timeline, clock=clock
        )
        self.discovery = Discovery(
            resources=resources,
            clients=self.clients,
            system_checks=self.system_checks,
            schema_history=self.schema_history,
            clock=clock,
        )
