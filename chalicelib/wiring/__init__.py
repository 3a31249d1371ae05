"""Builds everything once per container. The only package that knows every concrete class.

Building opens no connection: clients connect when they are first used. Importing this package loads every service, so
`app.py`, `monitors` and `workers` import it when they serve (`infra/decisions/008-imports.md`).
"""

import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import cache, cached_property
from typing import Any

from chalicelib.clients.queue import DESTINATION_CHECKS, JOBS, NOTIFICATIONS, SOURCE_CHECKS, TICKS, Queues
from chalicelib.domain.access import Role
from chalicelib.domain.idempotency import IdempotencyStore
from chalicelib.domain.job import JobKind
from chalicelib.errors import StoreUnavailable
from chalicelib.kit.clock import Clock, rfc3339, utc_now
from chalicelib.kit.log import failure, get_logger
from chalicelib.kit.pages import Signer
from chalicelib.secrets.envelope import Envelope
from chalicelib.secrets.keys import CachedKeys
from chalicelib.secrets.sealer import Sealer
from chalicelib.services.accounts.api_tokens import ApiTokenService
from chalicelib.services.accounts.invites import InviteService
from chalicelib.services.accounts.login_throttle import LoginThrottle
from chalicelib.services.accounts.sessions import SessionService
from chalicelib.services.accounts.single_sign_on import SingleSignOn
from chalicelib.services.accounts.users import UserService
from chalicelib.services.client_factory import ClientFactory
from chalicelib.services.connect_clusters import ConnectClusterService
from chalicelib.services.connectors.capture_checks import CaptureChecks
from chalicelib.services.connectors.delivery_checks import DeliveryChecks
from chalicelib.services.connectors.delivery_connector import DeliveryConnector
from chalicelib.services.connectors.lifecycle import Lifecycle
from chalicelib.services.connectors.observations import ObservationReader
from chalicelib.services.connectors.owner import ConnectorOwner
from chalicelib.services.connectors.pipeline_connector import PipelineConnector
from chalicelib.services.connectors.target_claims import TargetClaims
from chalicelib.services.connectors.validation import ConnectorValidation
from chalicelib.services.credentials import CredentialVault
from chalicelib.services.database_checks import DatabaseChecks
from chalicelib.services.deliveries import DeliveryService
from chalicelib.services.destinations import DestinationService
from chalicelib.services.discovery import Discovery
from chalicelib.services.incidents import IncidentService
from chalicelib.services.installation_keys import SIGNING_KEY, installation_key
from chalicelib.services.jobs import JobHandler, JobService
from chalicelib.services.key_rotation import KeyRotation
from chalicelib.services.monitors.destination_monitor import DestinationMonitor
from chalicelib.services.monitors.progress_reader import ProgressReader
from chalicelib.services.monitors.reports import MonitorReports
from chalicelib.services.monitors.source_monitor import SourceMonitor
from chalicelib.services.monitors.tick import Tick
from chalicelib.services.overview import OverviewService
from chalicelib.services.pipelines import PipelineService
from chalicelib.services.registry import Registry
from chalicelib.services.secret_provider import SecretProvider
from chalicelib.services.sources import SourceService
from chalicelib.services.stream_clusters import StreamClusterService
from chalicelib.services.system_checks import SystemChecks
from chalicelib.settings import Settings, settings
from chalicelib.wiring.alerting import Alerting
from chalicelib.wiring.audit import Auditing
from chalicelib.wiring.clients import Clients, keys_of
from chalicelib.wiring.stores import Stores


class Services:
    """Everything that routes, monitors and workers may call."""

    def __init__(
        self,
        config: Settings,
        *,
        clients: Clients | None = None,
        clock: Clock = utc_now,
        sleep: Callable[[float], None] = time.sleep,
        queues: Queues | None = None,
    ) -> None:
        """Raises `SettingMissing` and `ValueError` for settings that cannot work."""
        self.settings, self.clock = config, clock
        self.queues = queues or Queues(config.queue_prefix)
        self.envelope = Envelope(*map(CachedKeys, keys_of(config)))
        self.stores = Stores(Sealer(self.envelope))
        self.idempotency: IdempotencyStore = self.stores.idempotency
        make = clients or Clients(config)
        self._build_registry(make)
        self.single_sign_on = self._single_sign_on(make)
        self.alerting = Alerting(
            stores=self.stores,
            registry=self.registry,
            audit=self.audit,
            senders=make.senders(config),
            queues=self.queues,
            public_url=config.public_url,
            clock=clock,
            sleep=sleep,
        )
        self._build_connectors(sleep)
        self._build_monitors(sleep)
        self.overview = self._overview()

    def _build_registry(self, make: Clients) -> None:
        """Registered resources, their checks and their jobs."""
        stores, clock = self.stores, self.clock
        self.auditing = Auditing(self.settings, stores=stores, envelope=self.envelope, clock=clock)
        self.audit = self.auditing.trail
        self._build_accounts()
        self.incidents = IncidentService(
            store=stores.incidents, claims=stores.claims, resources=stores.resources, audit=self.audit, clock=clock
        )
        self.credentials = CredentialVault(store=stores.secrets, envelope=self.envelope, clock=clock)
        self.key_rotation = KeyRotation(store=stores.secrets, envelope=self.envelope)
        self.secret_provider = SecretProvider(
            vault=self.credentials,
            sources=stores.sources,
            destinations=stores.destinations,
            pipelines=stores.pipelines,
            audit=self.audit,
            clock=clock,
        )
        self.registry = Registry(
            claims=stores.claims, vault=self.credentials, audit=self.audit, incidents=self.incidents
        )
        self.clients = ClientFactory(
            vault=self.credentials,
            databases=make.databases,
            targets=make.targets,
            make_connect=make.connect,
            make_kafka=make.kafka,
        )
        self.database_checks = DatabaseChecks(clients=self.clients, clock=clock)
        self.system_checks = SystemChecks(
            clients=self.clients,
            audit=self.audit,
            incidents=self.incidents,
            look_soon=self._look_soon,
            clock=clock,
        )
        self.sources = SourceService(
            store=stores.sources,
            tables=stores.tables,
            pipelines=stores.pipelines,
            registry=self.registry,
            system_checks=self.system_checks,
            clock=clock,
        )
        self.destinations = DestinationService(
            store=stores.destinations, registry=self.registry, system_checks=self.system_checks, clock=clock
        )
        self.stream_clusters = StreamClusterService(
            store=stores.streams, registry=self.registry, clients=self.clients, clock=clock
        )
        self.connect_clusters = ConnectClusterService(
            store=stores.connects,
            streams=stores.streams,
            observations=stores.observations,
            registry=self.registry,
            clients=self.clients,
            allow_inline_secrets=self.settings.allow_inline_secrets,
            clock=clock,
        )
        self.discovery = Discovery(
            sources=stores.sources,
            tables=stores.tables,
            clients=self.clients,
            system_checks=self.system_checks,
            clock=clock,
        )
        discovery = JobHandler(store=stores.sources, verb="discover", run=self.discovery.discover)
        health = JobHandler(store=stores.sources, verb="health", run=self.discovery.check_health)
        self.jobs = JobService(
            store=stores.jobs,
            claims=stores.claims,
            audit=self.audit,
            handlers={("source", JobKind.DISCOVERY): discovery, ("source", JobKind.HEALTH): health},
            notify=lambda job_id: self.queues.send(JOBS, {"job_id": job_id}),
            clock=clock,
        )

    def _build_accounts(self) -> None:
        """People and their programs."""
        stores, audit, clock = self.stores, self.audit, self.clock
        self.users = UserService(store=stores.users, tokens=stores.api_tokens, audit=audit, clock=clock)
        self.invites = InviteService(store=stores.users, audit=audit, clock=clock)
        self.api_tokens = ApiTokenService(store=stores.api_tokens, audit=audit, clock=clock)
        throttle = LoginThrottle(store=stores.login_tries, audit=audit, clock=clock)
        self.sessions = SessionService(
            users=stores.users, sessions=stores.sessions, throttle=throttle, audit=audit, clock=clock
        )

    def _single_sign_on(self, make: Clients) -> SingleSignOn | None:
        """Signing in at an OpenID provider, where the installation has one."""
        config = self.settings.oidc
        if config is None:
            return None
        return SingleSignOn(
            provider=make.openid(config, self.clock),
            roles={group: Role(role) for group, role in config.roles},
            link_accounts=config.link_accounts,
            public_url=self.settings.public_url or "",
            users=self.stores.users,
            sessions=self.sessions,
            throttle=self.sessions.throttle,
            audit=self.audit,
            signer=lambda: self.signer,
            clock=self.clock,
        )

    def _build_connectors(self, sleep: Callable[[float], None]) -> None:
        """Pipelines, deliveries and the ticks of their workers."""
        stores, clock = self.stores, self.clock
        self.validation = ConnectorValidation(clients=self.clients)
        self.captures = CaptureChecks(store=stores.source_states, clients=self.clients, clock=self.clock)
        self.pipeline_connector = PipelineConnector(
            store=stores.pipelines,
            observations=stores.observations,
            progress=stores.progress,
            sources=stores.sources,
            tables=stores.tables,
            streams=stores.streams,
            connects=stores.connects,
            registry=self.registry,
            database_checks=self.database_checks,
            validation=self.validation,
            captures=self.captures,
            clients=self.clients,
        )
        self.delivery_connector = DeliveryConnector(
            store=stores.deliveries,
            observations=stores.observations,
            progress=stores.progress,
            destinations=stores.destinations,
            pipelines=stores.pipelines,
            connects=stores.connects,
            claims=stores.claims,
            target_claims=TargetClaims(targets=stores.targets),
            checks=DeliveryChecks(
                tables=stores.tables,
                destinations=stores.destinations,
                streams=stores.streams,
                clients=self.clients,
                validation=self.validation,
            ),
        )
        self.lifecycle = Lifecycle(
            operations=stores.operations,
            observations=stores.observations,
            clients=self.clients,
            audit=self.audit,
            incidents=self.incidents,
            clock=clock,
            sleep=sleep,
        )
        self._build_connector_services()

    def _build_connector_services(self) -> None:
        stores, clock = self.stores, self.clock
        observation_reader = ObservationReader(
            observations=stores.observations, progress=stores.progress, clients=self.clients, clock=clock
        )
        self.pipelines = PipelineService(
            connector=self.pipeline_connector,
            deliveries=stores.deliveries,
            source_states=stores.source_states,
            registry=self.registry,
            lifecycle=self.lifecycle,
            observation_reader=observation_reader,
        )
        self.deliveries = DeliveryService(
            connector=self.delivery_connector, lifecycle=self.lifecycle, observation_reader=observation_reader
        )

    def _build_monitors(self, sleep: Callable[[float], None]) -> None:
        """What looks at systems again and again, and reports to alerting."""
        stores, clock = self.stores, self.clock
        self.monitor_reports = MonitorReports(
            bus=self.alerting.bus,
            alerts=stores.alerts,
            emitters=stores.resources,
            clock=clock,
        )
        self.source_monitor = SourceMonitor(
            sources=stores.sources,
            pipelines=stores.pipelines,
            connects=stores.connects,
            store=stores.source_states,
            checks=self.captures,
            clients=self.clients,
            reports=self.monitor_reports,
            clock=clock,
            send=lambda source_id, delay: self._send_when_due(SOURCE_CHECKS, {"source_id": source_id}, delay),
        )
        self.destination_monitor = DestinationMonitor(
            destinations=stores.destinations,
            deliveries=stores.deliveries,
            checks=self.system_checks,
            reports=self.monitor_reports,
            clock=clock,
            sleep=sleep,
            send=lambda one, delay: self._send_when_due(DESTINATION_CHECKS, {"destination_id": one}, delay),
        )
        owners: Mapping[str, ConnectorOwner[Any]] = {
            "pipeline": self.pipeline_connector,
            "delivery": self.delivery_connector,
        }
        self.progress_reader = ProgressReader(
            streams=stores.streams, owners=owners, store=stores.progress, clients=self.clients
        )
        self.tick = Tick(
            connects=stores.connects,
            operations=stores.operations,
            observations=stores.observations,
            transitions=stores.transitions,
            owners=owners,
            lifecycle=self.lifecycle,
            clients=self.clients,
            incidents=self.incidents,
            progress=self.progress_reader,
            bus=self.alerting.bus,
            clock=clock,
            send=lambda cluster_id, delay: self._send_when_due(TICKS, {"cluster_id": cluster_id}, delay),
        )

    def _overview(self) -> OverviewService:
        stores = self.stores
        return OverviewService(
            resources=stores.resources,
            counts=stores.counts,
            connects=stores.connects,
            observations=stores.observations,
            findings=stores.findings,
            incidents=stores.incidents,
            alerts=stores.alerts,
            progress=stores.progress,
            audit=self.audit,
            clock=self.clock,
        )

    def _send_when_due(self, queue: str, body: Mapping[str, str], delay_seconds: int) -> None:
        """Send a message that says when it is due: one that arrives much later, after an outage, is dropped."""
        due_at = rfc3339(utc_now() + timedelta(seconds=delay_seconds))
        self.queues.send(queue, {**body, "due_at": due_at}, delay_seconds=delay_seconds)

    def _look_soon(self, noun: str, entity_id: str) -> None:
        """Send a look at a source or a destination. Raises StoreUnavailable."""
        queue = {"source": SOURCE_CHECKS, "destination": DESTINATION_CHECKS}[noun]
        self._send_when_due(queue, {f"{noun}_id": entity_id}, 0)

    @cached_property
    def signer(self) -> Signer:
        """Signs cursors, with a key that every process of the installation has: reading it needs the store, once."""
        return Signer(key=installation_key(SIGNING_KEY, self.stores.secrets, self.envelope, self.clock()))

    def install(self) -> None:
        """Make the first Admin, if the settings name one and the address has no account, and the default alert rule."""
        self.users.install_admin(self.settings.admin_email, self.settings.admin_password)
        try:
            self.alerting.rules.install()
        except StoreUnavailable as error:  # without the tables of alerting everything else goes on
            get_logger().warning("default alert rule not made", extra={"failure": failure(error)})

    def ready(self) -> Mapping[str, bool]:
        """Every kind of store by name, and whether it answers."""
        return {
            "tables": self.stores.sources.answers(),
            "queue_jobs": self.queues.answers(JOBS),
            "queue_ticks": self.queues.answers(TICKS),
            "queue_source_checks": self.queues.answers(SOURCE_CHECKS),
            "queue_destination_checks": self.queues.answers(DESTINATION_CHECKS),
            "queue_notifications": self.queues.answers(NOTIFICATIONS),
        }


@cache
def services() -> Services:
    """The services of this process. The first Admin is made before anybody is served.

    Only the API's function gets the setting that names the Admin; the others may not write what is installed.
    """
    built = Services(settings())
    get_logger().setLevel(built.settings.log_level.upper())
    if built.settings.admin_email:
        built.install()
    return built
