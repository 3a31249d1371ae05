"""The world of a timeline: a Headgate with one pipeline and its delivery, the outside systems, and virtual time."""

import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

from chalicelib.clients.databases.errors import FailureCode
from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.monitoring.target_tables import WatchedTable
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.table import TableName
from chalicelib.kit.clock import Deadline
from chalicelib.services.alerts.rules import DEFAULT_RULE_ID
from infra.local.doubles.connect_model import Connector
from infra.local.doubles.kafka_state import Group, Topic
from tests.support.apps.fakes import TABLES
from tests.support.apps.in_process_app import AppSnapshot, InProcessApp
from tests.support.apps.measured_brokers import register_measured_brokers
from tests.support.entities import make_channel
from tests.support.stored import put
from tests.timelines.api import Api
from tests.timelines.mysql_server import MySQLServer
from tests.timelines.script import CAPTURE
from tests.timelines.server import Server, Slot, SourceServer
from tests.timelines.traffic import Traffic

CALM_SECONDS = 120
"""Time before a timeline begins, in which everything is seen, compared and measured."""


@dataclass(frozen=True, kw_only=True)
class Beginning:
    """A world that runs well, from which every timeline starts."""

    app: AppSnapshot
    topics: dict[str, Topic]
    groups: dict[str, Group]
    server: Server


@dataclass(kw_only=True)
class World:
    """`second` counts from the beginning of the timeline, and `clock_second` is how far the clock is. `frozen` are
    connectors whose shown state was written by hand, with the generation that they had then: nothing moves them until
    Headgate acts. `working` says of those whether their tasks work nevertheless. `configs` are those that the
    connectors began with. `server` is a `Server`, whose own fields the actions change.
    """

    app: InProcessApp
    api: Api
    pipelines: tuple[Pipeline, ...]
    delivery: Delivery
    cluster_id: str
    traffic: Traffic = field(default_factory=Traffic)
    server: Any
    second: float = 0
    clock_second: float = 0
    frozen: dict[str, int] = field(default_factory=dict)
    working: dict[str, bool] = field(default_factory=dict)
    configs: dict[str, dict[str, str]] = field(default_factory=dict)
    ends: ExitStack = field(default_factory=ExitStack)

    @property
    def pipeline(self) -> Pipeline:
        return self.pipelines[0]

    def name_of(self, resource: str) -> str:
        return self.pipeline.connector_name if resource == CAPTURE else self.delivery.connector_name

    # time

    def wait_until(self, second: float) -> None:
        """Let the clock run on, alone: what happens meanwhile happens with the next `advance_to`."""
        self.app.clock.advance(second - self.clock_second)
        self.clock_second = second

    def advance_to(self, second: float) -> None:
        """Let time pass: rows move, the server writes its log."""
        seconds = second - self.second
        if not seconds:
            return
        self.wait_until(second)
        self.second = second
        broker = self.app.kafka.state
        for pipeline in self.pipelines:
            if self._runs(pipeline.connector_name):
                self._traffic_of(pipeline).capture(broker, pipeline, seconds)
            self._follow_source(pipeline, seconds)
        if self._runs(self.delivery.connector_name):
            self.traffic.deliver(broker, self.delivery, seconds)
        else:
            broker.leave_group(f"connect-{self.delivery.connector_name}")

    def tick(self) -> None:
        self.settle()
        self.app.services.tick.run(self.cluster_id, Deadline.after(25))
        self.settle()

    def look(self) -> None:
        self.app.database.captures = self.server.facts(self.pipelines)
        self.app.services.source_monitor.run(self.pipeline.source_id, Deadline.after(25))

    def look_at_destination(self) -> None:
        self.app.services.destination_monitor.run(self.delivery.destination_id, Deadline.after(25))

    def settle(self) -> None:
        """Wait until every connector that is not frozen has reached its target state."""
        end = time.monotonic() + 40
        while not all(self._has_settled(name) for name in self.app.connect.names()):
            assert time.monotonic() < end, [vars(connector) for connector in self._connectors()]
            time.sleep(0.0005)

    def freeze(self, resource: str) -> None:
        """Leave the shown state of a connector as it is until Headgate acts on it."""
        self.frozen[self.name_of(resource)] = self.app.connect.connector(self.name_of(resource)).generation

    def _has_settled(self, name: str) -> bool:
        connect = self.app.connect
        if name in connect.names() and self.frozen.get(name) == connect.connector(name).generation:
            return True
        self.frozen.pop(name, None)
        return connect.has_settled(name)

    def _connectors(self) -> Iterator[Connector]:
        return (self.app.connect.connector(name) for name in self.app.connect.names())

    def _runs(self, name: str) -> bool:
        """Whether the connector's task works, as far as Kafka Connect is concerned."""
        if name not in self.app.connect.names() or self.app.connect.is_down:
            return False
        if name in self.frozen:
            return self.working.get(name, False)
        connector = self.app.connect.connector(name)
        return bool(connector.tasks) and {connector.part.state, *_states(connector)} == {"RUNNING"}

    def _traffic_of(self, pipeline: Pipeline) -> Traffic:
        """Actions on one capture apply to the first; all captures need their database."""
        return (
            self.traffic
            if pipeline is self.pipeline
            else Traffic(captures=self.app.database.reachable or self.traffic.captures)
        )

    def _follow_source(self, pipeline: Pipeline, seconds: float) -> None:
        """The server writes its log, and the capture reads that; Connect stores how far, as the connector's offset."""
        connect, name = self.app.connect, pipeline.connector_name
        is_paused = name in connect.names() and connect.connector(name).part.state == "PAUSED"
        runs = self._runs(name) and self._traffic_of(pipeline).captures
        stored = self.server.advance(pipeline, seconds, self.app.clock(), runs=runs, is_paused=is_paused)
        if stored is not None:
            partition = {"server": pipeline.capture.topic_prefix}
            connect.connector(name).offsets = [{"partition": partition, "offset": dict(stored)}]


def _states(connector: Connector) -> Iterable[str | None]:
    return [task.state for task in connector.tasks.values()]


def prepare(app: InProcessApp, api: Api, provider: DatabaseProvider) -> tuple[World, Beginning]:
    """Deploy two pipelines of one source and a delivery of the first, and let everything become calm."""
    _attach_channel(app)
    register_measured_brokers(app)
    source = app.source(provider=provider)
    pipelines = tuple(app.services.pipelines.deploy(app.context(), app.pipeline(source).id) for _ in range(2))
    for topic in (topic for pipeline in pipelines for topic in pipeline.capture.topics):
        app.kafka.state.create_topic(topic)
    delivery_input = replace(app.delivery_input(pipelines[0]), tasks_max=2)
    delivery = app.services.deliveries.deploy(app.context(), app.destination().id, delivery_input)
    app.database.target_tables = tables_of(delivery)
    slots = {pipeline.id: Slot() for pipeline in pipelines}
    server = MySQLServer() if provider is DatabaseProvider.MYSQL else SourceServer(slots=slots)
    world = World(app=app, api=api, pipelines=pipelines, delivery=delivery, cluster_id=app.cluster.id, server=server)
    world.settle()
    for second in range(10, CALM_SECONDS + 1, 10):
        world.advance_to(second)
        world.tick()
        if second % 60 == 0:
            world.look()
            world.look_at_destination()
    state = app.kafka.state
    return world, Beginning(
        app=app.snapshot(),
        topics=deepcopy(state.topics),
        groups=deepcopy(state.groups),
        server=deepcopy(world.server),
    )


def _attach_channel(app: InProcessApp) -> None:
    """Give the installed rule a channel."""
    app.services.alerting.rules.install()
    stores = app.services.stores.alerts
    channel, rule = put(stores.channels, make_channel()), stores.rules.get(DEFAULT_RULE_ID)
    stores.rules.save_alone(replace(rule, channel_ids=(channel.id,)))


def tables_of(delivery: Delivery) -> dict[TableName, WatchedTable]:
    """The target tables of a delivery, full of rows."""
    table = WatchedTable(
        name=TableName("", ""), identity="1", storage="1", partitions=0, rows=990, live=990, deleted=0, countable=True
    )
    return {target: replace(table, name=target) for target in delivery.writing.targets}


def begin(world: World, beginning: Beginning) -> World:
    """The world as it was at the beginning, for the next timeline."""
    app = world.app
    world.ends.close()
    app.connect.revive()
    app.kafka.thaw()
    app.kafka.accept()
    app.restore(beginning.app)
    with app.kafka.state.lock:
        app.kafka.state.topics = deepcopy(beginning.topics)
        app.kafka.state.groups = deepcopy(beginning.groups)
    app.database.reachable, app.database.tables = True, TABLES
    app.database.refusal = FailureCode.CONNECTION_REFUSED
    app.database.target_tables = tables_of(world.delivery)
    world.api.bodies.clear()
    return replace(
        world,
        traffic=Traffic(),
        server=deepcopy(beginning.server),
        second=0,
        clock_second=0,
        frozen={},
        working={},
        configs={name: app.connect.config_of(name) for name in app.connect.names()},
        ends=ExitStack(),
    )
