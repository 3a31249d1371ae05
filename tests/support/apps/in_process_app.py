"""A complete Headgate in this process, wired as in production. Tests control its time and the outside systems.

    def test_something(app: InProcessApp) -> None:
        pipeline = app.services.pipelines.deploy(app.context(), app.pipeline().id)
        app.tick()

Real are: every service, store and client, the DynamoDB protocol (moto; DynamoDB Local where a test builds its own with
`app_on`), HTTP to the Connect double, Kafka's protocol to the Kafka double. Databases are fakes (see `fakes`).
Time passes only with `app.clock.advance(seconds)`. The fixture `app` starts from empty tables each time.
"""

import base64
import itertools
import time
from collections.abc import Callable, Iterator
from collections.abc import Mapping as MappingType
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chalicelib.clients.connect.client import Connect
from chalicelib.clients.kafka.client import Kafka
from chalicelib.clients.queue import Queues
from chalicelib.domain.access import Actor, RequestContext, Role
from chalicelib.domain.addresses import ConnectAddress, KafkaAddress
from chalicelib.domain.alerts.channel import ChannelProvider
from chalicelib.domain.audit.record import AuditRecord
from chalicelib.domain.cluster import ConnectCluster, MetricsProvider, SecretDelivery, StreamCluster
from chalicelib.domain.connection import Capability, Connection
from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.delivery import TableMapping
from chalicelib.domain.destination import Destination
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.pipeline import Capture, Pipeline
from chalicelib.domain.source import Source
from chalicelib.domain.table import TableName
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret
from chalicelib.notify.contract import Sender
from chalicelib.services.connect_clusters import ConnectClusterInput
from chalicelib.services.connections import ConnectionInput
from chalicelib.services.deliveries import DeliveryInput
from chalicelib.services.pipelines import PipelineInput
from chalicelib.services.stream_clusters import StreamClusterInput
from chalicelib.settings import Settings
from chalicelib.wiring import Clients, Services
from infra.local.doubles.connect_model import Connector
from infra.local.doubles.kafka import KafkaDouble
from tests.support.apps.call_interceptor import CallInterceptor, InterceptedClient, Side, intercepting_http
from tests.support.apps.cheap_passwords import cheap_passwords
from tests.support.apps.fake_mysql import FakeMySQLClient
from tests.support.apps.fakes import SCHEMA, FakeConnect, FakeDatabase
from tests.support.apps.inputs import database_address, system_input
from tests.support.apps.tables import Tables, in_memory

ADMIN = Actor(id="3f0c5a52-6f0f-4a7e-9b50-0d7a8a8f4c11", email="admin@example.com", role=Role.ADMIN, via="session")
START_TIME = datetime(2026, 1, 31, 12, tzinfo=UTC)
SETTINGS = Settings(
    table_prefix="headgate-",
    queue_prefix="headgate-",
    admin_email=None,
    admin_password=None,
    master_key=(Secret(base64.b64encode(bytes(range(32))).decode()),),
    kms_key_id=(),
    service_credential_hash={},
    allow_loopback_targets=True,
    allow_inline_secrets=False,
    ca_bundle=None,
    chat_webhook_host="hooks.slack.com",
    bot_api_host="api.telegram.org",
    public_url=None,
    metrics_token=None,
    log_level="INFO",
)


@dataclass
class VirtualClock:
    """Time that passes only with `advance`."""

    now: datetime = START_TIME

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


class _CachedConnect(Connect):
    def close(self) -> None:
        """Stay connected."""


@dataclass(frozen=True, kw_only=True)
class Connections:
    """Clients by address, shared by all "processes" of one app: a new client would only take time."""

    connect: dict[str, Connect] = field(default_factory=dict)

    def close(self) -> None:
        for one in self.connect.values():
            Connect.close(one)


class CachedClients(Clients):
    """Clients of the fake database; those of Connect are cached in `Connections`."""

    def __init__(
        self,
        database: FakeDatabase,
        connections: Connections,
        interceptor: CallInterceptor,
        senders: MappingType[ChannelProvider, Sender] | None = None,
    ) -> None:
        super().__init__(SETTINGS)
        self._senders = senders
        self.databases[DatabaseProvider.POSTGRESQL] = lambda endpoint: InterceptedClient(  # type: ignore[assignment]
            database.at(endpoint), interceptor, Side.DATABASE, writes=("release",)
        )
        self.databases[DatabaseProvider.MYSQL] = lambda endpoint: InterceptedClient(  # type: ignore[assignment]
            FakeMySQLClient(database, endpoint.address), interceptor, Side.DATABASE
        )
        self._connections, self._interceptor = connections, interceptor

    def kafka(self, endpoint: OpenedEndpoint[KafkaAddress]) -> Kafka:
        return InterceptedClient(super().kafka(endpoint), self._interceptor, Side.KAFKA)  # type: ignore[return-value]

    def senders(self, config: Settings) -> MappingType[ChannelProvider, Sender]:
        return super().senders(config) if self._senders is None else self._senders

    def connect(self, endpoint: OpenedEndpoint[ConnectAddress]) -> Connect:
        base_url = endpoint.address.base_url
        if base_url not in self._connections.connect:
            self._connections.connect[base_url] = _CachedConnect(endpoint, check_host=self._policy, sleep=_short_sleep)
        return self._connections.connect[base_url]


def _short_sleep(_seconds: float) -> None:
    time.sleep(0.003)


@dataclass(frozen=True, kw_only=True)
class AppSnapshot:
    """The whole state of an app, for `InProcessApp.restore`."""

    tables: Any
    connectors: tuple[Connector, ...]
    now: datetime


@dataclass(kw_only=True)
class InProcessApp:
    """A Headgate, its tables, and the outside systems that it uses."""

    tables: Tables
    interceptor: CallInterceptor
    connect: FakeConnect
    kafka: KafkaDouble
    clock: VirtualClock = field(default_factory=VirtualClock)
    database: FakeDatabase = field(default_factory=FakeDatabase)
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    connections: Connections = field(default_factory=Connections)
    senders: MappingType[ChannelProvider, Sender] | None = None
    queues: Queues | None = None
    sleep: Callable[[float], None] = _short_sleep
    settings: Settings = SETTINGS

    def __post_init__(self) -> None:
        self.services = self._new_process()

    # processes and time

    def restart(self) -> None:
        """Replaces the process by a new one: everything that was only in memory is lost."""
        self.services = self._new_process()

    def snapshot(self) -> AppSnapshot:
        self.connect.settle()
        connectors = tuple(deepcopy(self.connect.connector(name)) for name in self.connect.names())
        return AppSnapshot(tables=self.tables.snapshot(), connectors=connectors, now=self.clock.now)

    def restore(self, snapshot: AppSnapshot) -> None:
        """Return to that state, in a new process."""
        self.connect.reset()
        self.tables.restore(snapshot.tables)
        self.clock.now = snapshot.now
        for connector in snapshot.connectors:
            self.connect.restore(deepcopy(connector))
        self.connect.settle()
        self.restart()

    def tick(self, cluster: ConnectCluster | None = None, *, after: float = 10, times: int = 1) -> None:
        """Let time pass, then one tick on `cluster`, by default the only Connect cluster; all of it so often."""
        for _ in range(times):
            self.clock.advance(after)
            self.connect.settle()
            self.services.tick.run((cluster or self.cluster).id, Deadline.after(25))
            self.connect.settle()

    def ticks(self, *seconds: float) -> None:
        """A tick after each of these times."""
        for after in seconds:
            self.tick(after=after)

    @contextmanager
    def connect_down(self) -> Iterator[None]:
        """Nothing listens at the address of Kafka Connect."""
        self.connect.refuse()
        try:
            yield
        finally:
            self.connect.accept()

    def audit_records(self, resource_id: str, *, meaningful: bool | None = None) -> list[AuditRecord]:
        """The newest hundred about a resource, the newest first."""
        page = self.services.audit.list(
            limit=100, after=None, resource_id=resource_id, include_related=False, meaningful=meaningful
        )
        return list(page.items)

    def context(self, *, key: str | None = None, if_match: int | None = None, seconds: float = 20) -> RequestContext:
        """A request of the Admin. `key` is the request key made from an idempotency key: the id of what is created."""
        return RequestContext(
            actor=ADMIN,
            correlation_id="test",
            deadline=Deadline.after(seconds),
            request_key=key,
            if_match=if_match,
        )

    # registered resources

    @property
    def cluster(self) -> ConnectCluster:
        """The Connect cluster, registered on first use."""
        found = self.services.connect_clusters.list(limit=1, after=None).items
        return found[0] if found else self.register_connect(self.connect.url)

    def register_connect(self, url: str) -> ConnectCluster:
        """Register Connect workers, on the only stream cluster."""
        return self.services.connect_clusters.create(self.context(), self.connect_input(url))

    def connect_input(self, url: str, username: str | None = None) -> ConnectClusterInput:
        return ConnectClusterInput(
            name=f"connect {next(self.numbers)}",
            address=ConnectAddress(base_url=url, username=username),
            stream_cluster_id=self.stream.id,
            secret_delivery=SecretDelivery.CONFIG_PROVIDER,
            secrets={},
        )

    @property
    def stream(self) -> StreamCluster:
        """The stream cluster, registered on first use."""
        found = self.services.stream_clusters.list(limit=1, after=None).items
        if found:
            return found[0]
        return self.services.stream_clusters.create(self.context(), self.stream_input(self.kafka.address))

    def stream_input(self, servers: str, **address: Any) -> StreamClusterInput:
        return StreamClusterInput(
            name="stream",
            address=KafkaAddress(bootstrap_servers=servers, **address),
            metrics_provider=MetricsProvider.NONE,  # tests of ticks count calls; those of progress measure it
            secrets={},
        )

    def connection(self, name: str | None = None) -> Connection:
        """A connection that sources and destinations may use."""
        number = next(self.numbers)
        data = ConnectionInput(
            name=name or f"connection {number}",
            description=None,
            capabilities=tuple(Capability),
            address=database_address(number),
            secrets={"password": Secret("connection password")},
        )
        return self.services.connections.create(self.context(), data)

    def source(
        self, connection: Connection | None = None, provider: DatabaseProvider = DatabaseProvider.POSTGRESQL
    ) -> Source:
        """A source whose tables have been discovered."""
        data = system_input("source", next(self.numbers), connection, provider)
        source = self.services.sources.create(self.context(), data)
        self.services.discovery.discover(self.context(), source.id)
        return self.services.sources.get(source.id)

    def destination(self, connection: Connection | None = None) -> Destination:
        data = system_input("destination", next(self.numbers), connection)
        return self.services.destinations.create(self.context(), data)

    def pipeline(self, source: Source | None = None, cluster: ConnectCluster | None = None) -> Pipeline:
        """A draft that is ready to be deployed; it captures every table of the fake database."""
        number, cluster = next(self.numbers), cluster or self.cluster
        pipeline_input = PipelineInput(
            name=f"pipeline {number}",
            source_id=(source or self.source()).id,
            stream_cluster_id=cluster.stream_cluster_id,
            connect_cluster_id=cluster.id,
            capture=Capture(
                topic_prefix=f"p{number}", tables=tuple(TableName(SCHEMA, table) for table in self.database.tables)
            ),
        )
        return self.services.pipelines.create(self.context(), pipeline_input)

    def deployed_pipeline(self, source: Source | None = None) -> Pipeline:
        """A pipeline that runs and whose topics exist."""
        pipeline = self.services.pipelines.deploy(self.context(), self.pipeline(source).id)
        for topic in pipeline.capture.topics:
            self.kafka.state.create_topic(topic)
        return pipeline

    def delivery_input(self, pipeline: Pipeline, *tables: str) -> DeliveryInput:
        """The input of a delivery of the pipeline's first topics to these target tables."""
        mappings = tuple(
            TableMapping(topic=topic, schema_name="target", table_name=table)
            for topic, table in zip(pipeline.capture.topics, tables or ("orders",), strict=False)
        )
        return DeliveryInput(
            pipeline_id=pipeline.id,
            name=f"delivery {next(self.numbers)}",
            connect_cluster_id=None,
            mappings=mappings,
            options={},
            tasks_max=1,
        )

    def _new_process(self) -> Services:
        return Services(
            self.settings,
            clients=CachedClients(self.database, self.connections, self.interceptor, self.senders),
            clock=self.clock,
            sleep=self.sleep,
            queues=self.queues,
        )


@contextmanager
def app_on(tables: Tables, interceptor: CallInterceptor) -> Iterator[InProcessApp]:
    with ExitStack() as ends:
        kafka = KafkaDouble().start()
        ends.callback(kafka.stop)
        connect = FakeConnect(broker=kafka.state)
        connect.start()
        ends.callback(connect.stop)
        ends.enter_context(intercepting_http(interceptor))
        app = InProcessApp(tables=tables, interceptor=interceptor, connect=connect, kafka=kafka)
        ends.callback(app.connections.close)
        yield app


@contextmanager
def in_process_app() -> Iterator[InProcessApp]:
    """An app on moto, for runs that are no tests."""
    interceptor = CallInterceptor()
    with in_memory(interceptor) as tables, app_on(tables, interceptor) as app:
        yield app


@pytest.fixture(scope="module")
def app_of_the_module() -> Iterator[tuple[InProcessApp, AppSnapshot]]:
    """One app for the tests of a module, and its state when it was new.

    It ends with the module: moto exists once per process, and other modules start it themselves.
    """
    with cheap_passwords(), in_process_app() as app:
        yield app, app.snapshot()


@pytest.fixture
def app(app_of_the_module: tuple[InProcessApp, AppSnapshot]) -> InProcessApp:
    """An app with empty tables and an empty Connect cluster."""
    app, empty = app_of_the_module
    app.interceptor.unwatch()
    app.restore(empty)
    app.database.reset()
    return app
