"""Builds everything once per container. The only package that knows every concrete class.

Building opens no connection: clients connect when they are first used. Importing this package loads every service, so
`app.py`, `schedules` and `workers` import it when they serve (`infra/decisions/008-imports.md`).
"""

import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import cache, cached_property

from chalicelib.clients.queue import DESTINATION_CHECKS, JOBS, NOTIFICATIONS, SOURCE_CHECKS, TICKS, Queues
from chalicelib.domain.idempotency import IdempotencyStore
from chalicelib.errors import StoreUnavailable
from chalicelib.kit.clock import Clock, utc_now
from chalicelib.kit.log import failure, get_logger
from chalicelib.kit.pages import Signer
from chalicelib.kit.recent import Recent
from chalicelib.secrets.envelope import Envelope
from chalicelib.secrets.keys import CachedKeys
from chalicelib.secrets.sealer import Sealer
from chalicelib.services.alerts.attention import AttentionService
from chalicelib.services.alerts.metrics import MetricsService
from chalicelib.services.connectors.tick_ages import TickAges
from chalicelib.services.credentials import CredentialVault
from chalicelib.services.export import ExportService
from chalicelib.services.histories import HistoryService
from chalicelib.services.installation_keys import SIGNING_KEY, installation_key
from chalicelib.services.overview import OverviewService
from chalicelib.services.timelines import TimelineService
from chalicelib.settings import Settings, settings
from chalicelib.stores.groups import Stores
from chalicelib.wiring.accounts import Accounts
from chalicelib.wiring.alerting import Alerting
from chalicelib.wiring.audit import Auditing
from chalicelib.wiring.clients import Clients, keys_of
from chalicelib.wiring.connectors import Connectors
from chalicelib.wiring.monitors import Monitors
from chalicelib.wiring.resources import Resources

PUBLIC_RESULTS_COUNT = timedelta(seconds=5)
"""So long a result of `/metrics` and `/ready` is shown again: everybody may ask."""


class Services:
    """Everything that routes, schedules and workers may call."""

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
        self.settings, self.clock, self._sleep = config, clock, sleep
        self.queues = queues or Queues(config.queue_prefix)
        self.envelope = Envelope(*map(CachedKeys, keys_of(config)))
        self.stores = Stores(Sealer(self.envelope))
        self.idempotency: IdempotencyStore = self.stores.idempotency
        make = clients or Clients(config)
        self.auditing = Auditing(config, stores=self.stores, envelope=self.envelope, clock=clock)
        self.audit = self.auditing.trail
        self.recent_metrics = Recent[str](PUBLIC_RESULTS_COUNT, clock)
        self._recent_readiness = Recent[Mapping[str, bool]](PUBLIC_RESULTS_COUNT, clock)
        self._build_accounts(make)
        self._build_resources(make)
        self._build_alerting(make)
        self._build_connectors()
        self._build_monitors()
        self._build_reads()

    def _build_accounts(self, make: Clients) -> None:
        accounts = Accounts(
            self.settings,
            stores=self.stores.accounts,
            vault=CredentialVault(store=self.stores.resources.secrets, envelope=self.envelope, clock=self.clock),
            audit=self.audit,
            make=make,
            signer=lambda: self.signer,
            clock=self.clock,
        )
        self.users, self.invites, self.api_tokens = accounts.users, accounts.invites, accounts.api_tokens
        self.sessions, self.single_sign_on = accounts.sessions, accounts.single_sign_on
        self.own_sessions, self.second_factor = accounts.own_sessions, accounts.second_factor

    def _build_resources(self, make: Clients) -> None:
        resources = self._resources = Resources(
            self.settings,
            stores=self.stores,
            envelope=self.envelope,
            audit=self.audit,
            make=make,
            queues=self.queues,
            look_soon=self._look_soon,
            outdated_after=lambda noun, entity: self._connectors.outdated.after_change((noun, entity)),
            clock=self.clock,
            sleep=self._sleep,
        )
        self.clients, self.registry, self.incidents = resources.clients, resources.registry, resources.incidents
        self.credentials, self.key_rotation = resources.credentials, resources.key_rotation
        self.secret_provider, self.jobs = resources.secret_provider, resources.jobs
        self.database_checks, self.system_checks = resources.database_checks, resources.system_checks
        self.sources, self.destinations, self.discovery = resources.sources, resources.destinations, resources.discovery
        self.stream_clusters, self.connect_clusters = resources.stream_clusters, resources.connect_clusters
        self.connector_reads, self.consumer_groups = resources.connector_reads, resources.consumer_groups
        self.limits, self.schema_history, self.topics = resources.limits, resources.schema_history, resources.topics

    def _build_alerting(self, make: Clients) -> None:
        self.alerting = Alerting(
            stores=self.stores,
            registry=self.registry,
            senders=make.senders(self.settings),
            queues=self.queues,
            limits=self.limits,
            public_url=self.settings.public_url,
            clock=self.clock,
            sleep=self._sleep,
        )

    def _build_connectors(self) -> None:
        connectors = self._connectors = Connectors(
            stores=self.stores, resources=self._resources, clock=self.clock, sleep=self._sleep
        )
        self.pipelines, self.deliveries, self.lifecycle = (
            connectors.pipelines,
            connectors.deliveries,
            connectors.lifecycle,
        )
        self.connections, self.rotation = connectors.connections, connectors.rotation
        self.validation, self.captures = connectors.validation, connectors.captures
        self.pipeline_connector = connectors.pipeline_connector
        self.delivery_connector = connectors.delivery_connector

    def _build_monitors(self) -> None:
        monitors = Monitors(
            stores=self.stores,
            resources=self._resources,
            connectors=self._connectors,
            bus=self.alerting.bus,
            queues=self.queues,
            clock=self.clock,
            sleep=self._sleep,
        )
        self.audit_watch = self.auditing.watch(monitors.reports.publish)
        self.tick, self.progress_reader, self.monitor_reports = (
            monitors.tick,
            monitors.progress_reader,
            monitors.reports,
        )
        self.own_state = monitors.own_state
        self.source_monitor, self.destination_monitor = monitors.source_monitor, monitors.destination_monitor
        self.unreadable_rows = monitors.unreadable_rows

    def _build_reads(self) -> None:
        """What shows the whole installation."""
        self.overview = OverviewService(
            resources=self.stores.resources,
            attention=AttentionService(
                stores=self.stores.alerts,
                resources=self.stores.resources,
                pipelines=self.pipelines.observed,
                deliveries=self.deliveries.observed,
                clock=self.clock,
            ),
            connectors=self.stores.connectors,
            monitoring=self.stores.monitoring,
            alerts=self.stores.alerts,
            audit=self.audit,
            clock=self.clock,
        )
        self.timelines = TimelineService(
            resources=self.stores.resources,
            timeline=self.stores.timeline,
            audit=self.stores.audit.records,
            clock=self.clock,
        )
        self.histories = HistoryService(
            resources=self.stores.resources, store=self.stores.monitoring.histories, clock=self.clock
        )
        self.export = ExportService(resources=self.stores.resources, alerts=self.stores.alerts, audit=self.audit)
        self.metrics = MetricsService(
            stores=self.stores.alerts,
            clock=self.clock,
            tick_ages=TickAges.of(self.stores, self.clock),
            observed=self.overview.observed,
        )

    def _look_soon(self, noun: str, entity_id: str) -> None:
        """Send a look at a source or a destination. Raises StoreUnavailable."""
        queue = {"source": SOURCE_CHECKS, "destination": DESTINATION_CHECKS}[noun]
        self.queues.send_due(queue, {f"{noun}_id": entity_id}, 0)

    @cached_property
    def signer(self) -> Signer:
        """Signs cursors, with a key that every process of the installation has: reading it needs the store, once."""
        secrets = self.stores.resources.secrets
        return Signer(key=installation_key(SIGNING_KEY, secrets, self.envelope, self.clock()))

    def install(self) -> None:
        """Make the first Admin, if the settings name one and there has never been one, and the default alert rule."""
        self.users.install_admin(self.settings.admin_email, self.settings.admin_password)
        try:
            self.alerting.rules.install()
        except StoreUnavailable as error:  # without the tables of alerting everything else goes on
            get_logger().warning("default alert rule not made", extra={"failure": failure(error)})

    def ready(self) -> Mapping[str, bool]:
        """Every kind of store by name, and whether it answered in the last five seconds."""
        return self._recent_readiness.get(self._ready)

    def _ready(self) -> Mapping[str, bool]:
        return {
            "tables": self.stores.resources.sources.answers(),
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
