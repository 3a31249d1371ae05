"""Builds everything once per container, lazily. The only file, with `foundations`, that knows every concrete class.

Each class is imported where it is built: a cold start loads what its first request needs, and no more
(`infra/decisions/008-imports.md`).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import cache, cached_property
from typing import TYPE_CHECKING

from chalicelib.foundations import Foundations
from chalicelib.kit.log import get_logger
from chalicelib.settings import settings

if TYPE_CHECKING:
    from chalicelib.services.connect_clusters import ConnectClusterService
    from chalicelib.services.connectors.delivery_connector import DeliveryConnector
    from chalicelib.services.connectors.lifecycle import Lifecycle
    from chalicelib.services.connectors.observations import ObservationReader
    from chalicelib.services.connectors.pipeline_connector import PipelineConnector
    from chalicelib.services.connectors.tick import Tick
    from chalicelib.services.connectors.validation import ConnectorValidation
    from chalicelib.services.database_checks import DatabaseChecks
    from chalicelib.services.deliveries import DeliveryService
    from chalicelib.services.destinations import DestinationService
    from chalicelib.services.discovery import Discovery
    from chalicelib.services.jobs import JobService
    from chalicelib.services.pipelines import PipelineService
    from chalicelib.services.sessions import SessionService
    from chalicelib.services.sources import SourceService
    from chalicelib.services.stream_clusters import StreamClusterService

JOBS, TICKS = "jobs", "ticks"


class Services(Foundations):
    """Everything that routes, monitors and workers may call."""

    @cached_property
    def sessions(self) -> SessionService:
        """Signing in and out."""
        from chalicelib.services.sessions import SessionService

        return SessionService(
            users=self.stores.users, sessions=self.stores.sessions, audit=self.audit, clock=self.clock
        )

    @cached_property
    def database_checks(self) -> DatabaseChecks:
        """Looks at databases."""
        from chalicelib.services.database_checks import DatabaseChecks

        return DatabaseChecks(clients=self.clients, audit=self.audit, clock=self.clock)

    @cached_property
    def sources(self) -> SourceService:
        """Sources."""
        from chalicelib.services.sources import SourceService

        return SourceService(
            rows=self.stores.sources, tables=self.stores.tables, registry=self.registry, clock=self.clock
        )

    @cached_property
    def destinations(self) -> DestinationService:
        """Destinations."""
        from chalicelib.services.destinations import DestinationService

        return DestinationService(rows=self.stores.destinations, registry=self.registry, clock=self.clock)

    @cached_property
    def stream_clusters(self) -> StreamClusterService:
        """Stream clusters."""
        from chalicelib.services.stream_clusters import StreamClusterService

        return StreamClusterService(
            rows=self.stores.streams, registry=self.registry, make_kafka=self._kafka, clock=self.clock
        )

    @cached_property
    def connect_clusters(self) -> ConnectClusterService:
        """Connect clusters."""
        from chalicelib.services.connect_clusters import ConnectClusterService

        return ConnectClusterService(
            rows=self.stores.connects,
            streams=self.stores.streams,
            observations=self.stores.observations,
            registry=self.registry,
            clients=self.clients,
            make_connect=self._connect,
            allow_inline_secrets=self.settings.allow_inline_secrets,
            clock=self.clock,
        )

    @cached_property
    def discovery(self) -> Discovery:
        """What jobs do."""
        from chalicelib.services.discovery import Discovery

        return Discovery(
            sources=self.stores.sources,
            tables=self.stores.tables,
            clients=self.clients,
            database_checks=self.database_checks,
            clock=self.clock,
        )

    @cached_property
    def jobs(self) -> JobService:
        """Jobs."""
        from chalicelib.domain.job import JobKind
        from chalicelib.services.jobs import JobService

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
    def plugins(self) -> ConnectorValidation:
        """Asks Connect about plug-ins and configs."""
        from chalicelib.services.connectors.validation import ConnectorValidation

        return ConnectorValidation(clients=self.clients)

    @cached_property
    def pipeline_connector(self) -> PipelineConnector:
        """Pipelines as operations see them."""
        from chalicelib.services.connectors.pipeline_connector import PipelineConnector

        return PipelineConnector(
            rows=self.stores.pipelines,
            together=self.stores.pipelines_among,
            sources=self.stores.sources,
            tables=self.stores.tables,
            streams=self.stores.streams,
            connects=self.stores.connects,
            registry=self.registry,
            database_checks=self.database_checks,
            plugins=self.plugins,
        )

    @cached_property
    def delivery_connector(self) -> DeliveryConnector:
        """Deliveries as operations see them."""
        from chalicelib.services.connectors.delivery_connector import DeliveryConnector

        return DeliveryConnector(
            rows=self.stores.deliveries,
            together=self.stores.deliveries_among,
            destinations=self.stores.destinations,
            pipelines=self.stores.pipelines,
            tables=self.stores.tables,
            streams=self.stores.streams,
            connects=self.stores.connects,
            claims=self.stores.claims,
            targets=self.stores.targets,
            clients=self.clients,
            database_checks=self.database_checks,
            plugins=self.plugins,
        )

    @cached_property
    def lifecycle(self) -> Lifecycle:
        """Operations on connectors."""
        from chalicelib.services.connectors.lifecycle import Lifecycle

        return Lifecycle(
            operations=self.stores.operations,
            observations=self.stores.observations,
            clients=self.clients,
            audit=self.audit,
            clock=self.clock,
            sleep=time.sleep,
        )

    @cached_property
    def observation_reader(self) -> ObservationReader:
        """Observations beside resources."""
        from chalicelib.services.connectors.observations import ObservationReader

        return ObservationReader(
            observations=self.stores.observations,
            clients=self.clients,
            clock=self.clock,
        )

    @cached_property
    def pipelines(self) -> PipelineService:
        """Pipelines."""
        from chalicelib.services.pipelines import PipelineService

        return PipelineService(
            rows=self.stores.pipelines,
            sources=self.stores.sources,
            together=self.stores.pipelines_among,
            deliveries=self.stores.deliveries,
            owner=self.pipeline_connector,
            registry=self.registry,
            lifecycle=self.lifecycle,
            observation_reader=self.observation_reader,
            clock=self.clock,
        )

    @cached_property
    def deliveries(self) -> DeliveryService:
        """Deliveries."""
        from chalicelib.services.deliveries import DeliveryService

        return DeliveryService(
            rows=self.stores.deliveries,
            together=self.stores.deliveries_among,
            pipelines_among=self.stores.pipelines_among,
            destinations=self.stores.destinations,
            connects=self.stores.connects,
            owner=self.delivery_connector,
            lifecycle=self.lifecycle,
            observation_reader=self.observation_reader,
            clock=self.clock,
        )

    @cached_property
    def tick(self) -> Tick:
        """Ticks."""
        from chalicelib.services.connectors.tick import Tick

        return Tick(
            connects=self.stores.connects,
            operations=self.stores.operations,
            observations=self.stores.observations,
            owners={"pipeline": self.pipeline_connector, "delivery": self.delivery_connector},
            lifecycle=self.lifecycle,
            clients=self.clients,
            clock=self.clock,
            send=lambda cluster_id, delay: self.queues.send(TICKS, {"cluster_id": cluster_id}, delay_seconds=delay),
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


@cache
def services() -> Services:
    """The services of this process. The first Admin is made before anybody is served."""
    built = Services(settings())
    get_logger().setLevel(built.settings.log_level.upper())
    built.install()
    return built
