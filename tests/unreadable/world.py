"""A Headgate with two of everything: one row of each pair becomes unreadable, the other one has to go on.

Pipelines and deliveries of the first pair and of the second run on one Connect cluster, a third pipeline alone on
another one. An operation of each pair was left open by a process that ended.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

import boto3
import httpx

from chalicelib.domain.access import Role
from chalicelib.domain.alerts.channel import Channel, ChannelProvider, ChannelValues
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.alerts.rule import AlertRuleValues
from chalicelib.domain.cluster import ConnectCluster, MetricsProvider
from chalicelib.domain.connection import Connection
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.job import JobKind
from chalicelib.domain.monitoring.target_tables import WatchedTable
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.schema.change import Alteration, SchemaChange
from chalicelib.domain.schema.version import SchemaVersion
from chalicelib.domain.source import Source
from chalicelib.domain.timeline.event import schema_event
from chalicelib.kit.ids import new_id
from chalicelib.kit.masking import Secret
from chalicelib.notify.contract import Accepted, CheckedConfig, Outcome, OutgoingMessage
from chalicelib.stores.transaction import Transaction
from infra.local.doubles.connect_model import Connector
from tests.faults.harness.whole_app import ApiUser, clear_queues, deliver, dispatch, entries_on
from tests.support.apps.call_interceptor import CallInterceptor
from tests.support.apps.cheap_passwords import cheap_passwords
from tests.support.apps.fakes import FakeConnect
from tests.support.apps.in_process_app import InProcessApp, app_on
from tests.support.apps.open_operations import left_open
from tests.support.apps.tables import in_memory

FAILURE = "java.lang.IllegalStateException: something that nobody has seen before"
HALVES = ("first", "second")


@dataclass(kw_only=True)
class RecordingSender:
    """A provider of messages that takes everything. `received` are the secrets of the channels, in order."""

    received: list[str] = field(default_factory=list)

    def check(self, secrets: Mapping[str, Secret]) -> CheckedConfig:
        return CheckedConfig(mask="https://chat.example.com/********", secrets=dict(secrets))

    def send(self, _message: OutgoingMessage, secrets: Mapping[str, Secret], _deadline: object) -> Outcome:
        self.received += [secret.reveal() for secret in secrets.values()]
        return Accepted()


@dataclass(frozen=True, kw_only=True)
class Half:
    """What belongs to one row of each pair. `connection` is that of the source of `pipeline` and of the destination of
    `delivery`. A task of `delivery` has failed. `opened` is a pipeline whose pause was left open, `drafted` the id of a
    delivery whose deploy was left open after its connector was created: it has no row.
    """

    name: str
    connection: Connection
    pipeline: Pipeline
    steady: Pipeline
    delivery: Delivery
    opened: Pipeline
    drafted: str
    channel: Channel
    job_id: str

    @property
    def marks(self) -> tuple[str, ...]:
        """Texts by which rows of this half are recognised, the most telling first."""
        pipeline, delivery = self.pipeline, self.delivery
        ids = (self.drafted, pipeline.id, delivery.id, pipeline.source_id, delivery.destination_id)
        return (*ids, self.connection.id, self.channel.id, f"{self.name}@example.com", f'"name":"{self.name}"')

    @property
    def url(self) -> str:
        return channel_url(self.name)

    def leave_open(self, app: InProcessApp) -> None:
        """Begin to pause `opened`, and to deploy `drafted`."""
        deliveries, destination_id = app.services.deliveries, self.delivery.destination_id
        left_open(app, lambda: app.services.pipelines.pause(app.context(), self.opened.id))
        draft = app.delivery_input(self.pipeline, f"draft_{self.name}")
        left_open(app, lambda: deliveries.deploy(app.context(key=self.drafted), destination_id, draft))


@dataclass(kw_only=True)
class World:
    """`shared` is the cluster of both halves, `alone` that of the third pipeline. `users` is how many there are."""

    app: InProcessApp
    other_connect: FakeConnect
    sender: RecordingSender
    user: ApiUser
    shared: ConnectCluster
    alone: ConnectCluster
    first: Half
    second: Half
    third: Pipeline
    tables: Any = None
    connectors: Mapping[str, tuple[Connector, ...]] = field(default_factory=dict)
    now: Any = None
    cookie: str | None = None

    @property
    def doubles(self) -> Mapping[str, FakeConnect]:
        return {self.shared.id: self.app.connect, self.alone.id: self.other_connect}

    def keep(self) -> None:
        """This is the state that `restore` returns to."""
        snapshot = self.app.snapshot()
        self.tables, self.now, self.cookie = snapshot.tables, snapshot.now, self.user.cookie
        self.connectors = {
            cluster_id: tuple(deepcopy(double.connector(name)) for name in double.names())
            for cluster_id, double in self.doubles.items()
        }

    def restore(self) -> None:
        """The kept state, in a new process."""
        self.app.tables.restore(self.tables)
        self.app.clock.now, self.user.cookie = self.now, self.cookie
        for cluster_id, double in self.doubles.items():
            double.reset()
            for connector in self.connectors[cluster_id]:
                double.restore(deepcopy(connector))
        self.settle()
        self.app.restart()
        self.sender.received.clear()
        clear_queues()

    def settle(self) -> None:
        for double in self.doubles.values():
            double.settle()

    def advance(self, seconds: float, *, sends: bool = True) -> None:
        """Let time pass, then a tick of each cluster, a look at each source and destination, and the schedule; and let
        workers send what waits.
        """
        self.app.clock.advance(seconds)
        self.settle()
        for cluster_id in self.doubles:
            deliver("ticks", {"cluster_id": cluster_id})
        self.settle()
        for source in items_of("headgate-sources"):
            deliver("source-checks", {"source_id": source["id"]["S"]})
        for destination in items_of("headgate-destinations"):
            deliver("destination-checks", {"destination_id": destination["id"]["S"]})
        dispatch()
        for half in (self.first, self.second) if sends else ():
            deliver("notifications", {"channel_id": half.channel.id})
        clear_queues()

    def pause_by_hand(self, connector: str) -> None:
        httpx.put(f"{self.app.connect.url}/connectors/{connector}/pause", trust_env=False, timeout=10)
        self.settle()

    def connector_names(self) -> dict[str, list[str]]:
        return {cluster_id: sorted(double.names()) for cluster_id, double in self.doubles.items()}


@contextmanager
def world() -> Iterator[World]:
    """The world, kept as it is when it is made."""
    interceptor = CallInterceptor()
    with ExitStack() as ends:
        ends.enter_context(cheap_passwords())
        tables = ends.enter_context(in_memory(interceptor))
        app = ends.enter_context(app_on(tables, interceptor))
        sender = RecordingSender()
        app.senders = dict.fromkeys(ChannelProvider, sender)
        app.restart()
        ends.enter_context(entries_on(app))
        other = FakeConnect(broker=app.kafka.state)
        other.start()
        ends.callback(other.stop)
        made = _made(app, other, sender)
        made.keep()
        yield made


def _made(app: InProcessApp, other: FakeConnect, sender: RecordingSender) -> World:
    user, streams = ApiUser.signed_in(app), app.services.stream_clusters
    measured = replace(app.stream_input(app.kafka.address), metrics_provider=MetricsProvider.CONSUMER_GROUPS)
    stream = streams.create(app.context(), measured)
    shared = app.register_connect(app.connect.url)
    app.clock.advance(1)  # the newest stream cluster is that of the next Connect cluster
    streams.create(app.context(), replace(measured, name="another stream"))
    alone = app.register_connect(other.url)
    assert stream.id != alone.stream_cluster_id
    third = _pipeline(app, alone)
    first, second = (_half(app, shared, name) for name in HALVES)
    _give_offset(other, third)
    for half in (first, second):
        for pipeline in (half.pipeline, half.steady, half.opened):
            _give_offset(app.connect, pipeline)
    _accounts(app)
    made = World(
        app=app,
        other_connect=other,
        sender=sender,
        user=user,
        shared=shared,
        alone=alone,
        first=first,
        second=second,
        third=third,
    )
    for half in (first, second):
        _fill(app, half.delivery, identity="1")
    for _ in range(3):
        made.advance(30)
    for half in (first, second):
        _fill(app, half.delivery, identity="made again", rows=0, live=0)
        app.connect.fail_task(half.delivery.connector_name, FAILURE, failing_restarts=1_000)
    # The messages about these failures wait, and so do the operations.
    made.advance(30, sends=False)
    for half in (first, second):
        half.leave_open(app)
    clear_queues()
    return made


def _half(app: InProcessApp, cluster: ConnectCluster, name: str) -> Half:
    services = app.services
    secrets = {"webhook_url": Secret(channel_url(name))}
    values = ChannelValues(name=name, provider=ChannelProvider.CHAT_WEBHOOK)
    channel = services.alerting.channels.create(app.context(), values, secrets)
    rule = AlertRuleValues(name=name, channel_ids=(channel.id,), severities=(AlertSeverity.CRITICAL,))
    services.alerting.rules.create(app.context(), rule)
    connection = app.connection(name)
    pipeline, destination = _pipeline(app, cluster, app.source(connection)), app.destination(connection)
    delivery = services.deliveries.deploy(app.context(), destination.id, app.delivery_input(pipeline, f"orders_{name}"))
    job = services.jobs.request(app.context(), JobKind.DISCOVERY, "source", pipeline.source_id)
    steady, opened = _pipeline(app, cluster), _pipeline(app, cluster)
    _change_schema(app, pipeline)
    return Half(
        name=name,
        connection=connection,
        pipeline=pipeline,
        steady=steady,
        delivery=delivery,
        opened=opened,
        drafted=new_id(),
        channel=channel,
        job_id=job.id,
    )


def _pipeline(app: InProcessApp, cluster: ConnectCluster, source: Source | None = None) -> Pipeline:
    pipeline = app.services.pipelines.deploy(app.context(), app.pipeline(source, cluster).id)
    for topic in pipeline.capture.topics:
        app.kafka.state.create_topic(topic)
    return pipeline


def _change_schema(app: InProcessApp, pipeline: Pipeline) -> None:
    """A discovery has found a column with another default."""
    table = pipeline.capture.tables[0]
    version = SchemaVersion(
        id=new_id(),
        source_id=pipeline.source_id,
        schema_name=table.schema_name,
        table_name=table.table_name,
        version=2,
        schema_hash=None,
        schema=None,
        diff=(SchemaChange(change=Alteration.DEFAULT_CHANGED, column="note"),),
        discovered_at=app.clock(),
    )
    with Transaction() as transaction:
        app.services.stores.timeline.add(transaction, schema_event(version))


def _give_offset(connect: FakeConnect, pipeline: Pipeline) -> None:
    """Its capture has read the log of the source."""
    position = {"lsn": 100, "lsn_proc": 100}
    partition = {"server": pipeline.capture.topic_prefix}
    connect.connector(pipeline.connector_name).offsets = [{"partition": partition, "offset": position}]


def _fill(app: InProcessApp, delivery: Delivery, **changes: Any) -> None:
    """The target tables of the delivery are like this now."""
    for name in delivery.writing.targets:
        table = WatchedTable(
            name=name, identity="", storage="1", partitions=0, rows=9, live=9, deleted=0, countable=True
        )
        app.database.target_tables[name] = replace(table, **changes)


def _accounts(app: InProcessApp) -> None:
    for name in HALVES:
        app.services.invites.invite(app.context(), f"{name}@example.com", Role.VIEWER)
        app.services.api_tokens.create(app.context(), name, Role.VIEWER, None)


def channel_url(name: str) -> str:
    return f"https://chat.example.com/{name}"


def items_of(table: str) -> list[dict[str, Any]]:
    """The items of a table as the service stores them, in the order of their keys."""
    pages = boto3.client("dynamodb").get_paginator("scan").paginate(TableName=table, ConsistentRead=True)
    return sorted((item for page in pages for item in page["Items"]), key=str)


def put_item(table: str, item: Mapping[str, Any]) -> None:
    """Store an item as another release would: without the code of this one."""
    boto3.client("dynamodb").put_item(TableName=table, Item=dict(item))
