"""What moves and what does not, whatever Kafka Connect says: measured by ticks on the real stack."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from tests.support.apps.real_headgate import BETWEEN_TICKS, Json, RealDatabase, RealHeadgate
from tests.support.databases.blocking_proxy import BlockingProxy
from tests.support.waiting import eventually

pytestmark = pytest.mark.real

ORDERS = ("CREATE TABLE shop.orders (id int PRIMARY KEY, customer text)", "ALTER TABLE shop.orders OWNER TO {role}")


@dataclass
class Moving:
    """A pipeline over `shop.orders` behind a proxy, and its delivery."""

    headgate: RealHeadgate
    database: RealDatabase
    proxy: BlockingProxy
    pipeline: Json
    delivery: Json

    def insert(self, count: int) -> None:
        first = "(SELECT coalesce(max(id), 0) FROM shop.orders)"
        self.database.run(f"INSERT INTO shop.orders SELECT {first} + n, 'somebody' FROM generate_series(1, {count}) n")

    def status(self, of: str) -> Json:
        """The status of the pipeline or of the delivery, after a tick."""
        self.headgate.tick()
        time.sleep(BETWEEN_TICKS)
        path = "pipelines" if of == "pipeline" else "deliveries"
        return dict(self.headgate.get(f"/{path}/{getattr(self, of)['id']}/status?fresh=true"))

    def until(self, of: str, fits: Callable[[Json], bool], *, seconds: float) -> Json:
        """Tick until the status fits."""
        return eventually(lambda: self.status(of), fits, seconds=seconds)


@pytest.fixture(scope="module")
def moving(measured: RealHeadgate) -> Iterator[Moving]:
    database, target = measured.database("moving", *ORDERS), measured.database("target")
    database.run("INSERT INTO shop.orders VALUES (0, 'first')")
    with BlockingProxy(urlsplit(database.superuser).port or 5432) as proxy:
        source = measured.source(replace(database, port=proxy.port))
        measured.discover(source)
        pipeline = measured.pipeline(source, [("shop", "orders")])
        measured.deploy(pipeline)
        destination = measured.destination(target)
        body = measured.delivery_body(pipeline, {pipeline["topics"][0]: "orders"})
        delivery = measured.deliver(destination, body)
        yield Moving(headgate=measured, database=database, proxy=proxy, pipeline=pipeline, delivery=delivery)
        measured.delete(f"/deliveries/{delivery['id']}")
        measured.delete_pipeline(pipeline, database)


def shows_throughput_of_new_rows(moving: Moving) -> bool:
    """Whether more than one record a second is shown, while rows are added all the time."""
    moving.insert(200)
    throughput = moving.headgate.get(f"/pipelines/{moving.pipeline['id']}")["metrics"]["throughput"]
    return bool(throughput and throughput > 1)


def test_a_pipeline_and_a_delivery_that_move_show_when_and_how_fast(moving: Moving) -> None:
    seen = moving.until("pipeline", lambda one: bool((one["progress"] or {}).get("moved_at")), seconds=180)
    assert (seen["observed_state"], seen["reasons"], seen["progress"]["lag"]) == ("RUNNING", [], None)
    moving.until("pipeline", lambda _: shows_throughput_of_new_rows(moving), seconds=180)
    delivered = moving.until("delivery", lambda one: (one["progress"] or {}).get("lag") == 0, seconds=120)
    assert (delivered["observed_state"], delivered["reasons"]) == ("RUNNING", [])
    assert delivered["progress"]["moved_at"]


def test_the_mark_of_a_transaction_seems_to_be_a_record_that_is_left(moving: Moving) -> None:
    """Connect commits behind the last record that it has delivered, and the mark comes after it."""
    kafka, topic = moving.headgate.stack.addresses.kafka, moving.pipeline["topics"][0]
    moving.until("delivery", lambda one: (one["progress"] or {}).get("lag") == 0, seconds=120)
    consumer = Consumer({"bootstrap.servers": kafka, "group.id": "copies", "log_level": 0})
    consumer.assign([TopicPartition(topic, 0, moving.headgate.records(topic) - 1)])
    last = eventually(lambda: consumer.poll(1), lambda message: message is not None and message.error() is None)
    consumer.close()
    assert last
    producer = Producer({"bootstrap.servers": kafka, "transactional.id": "copies", "log_level": 0})
    producer.init_transactions(10)
    producer.begin_transaction()
    producer.produce(topic, last.value(), key=last.key())
    producer.commit_transaction(10)
    assert moving.until("delivery", lambda one: one["progress"]["lag"] == 1, seconds=150)["reasons"] == []


def test_retention_that_overtakes_a_paused_sink_is_reported(moving: Moving) -> None:
    path, topic = f"/deliveries/{moving.delivery['id']}", moving.pipeline["topics"][0]
    moving.insert(1)
    moving.until("delivery", lambda one: (one["progress"] or {}).get("lag") == 0, seconds=150)
    moving.headgate.post(f"{path}/pause")
    written = moving.headgate.records(topic)
    moving.insert(50)
    moving.headgate.until_records(topic, written + 50)
    seen = moving.until("delivery", lambda one: (one["progress"] or {}).get("lag") == 50, seconds=60)
    assert (seen["observed_state"], "Kafka has removed" in str(seen["reasons"])) == ("PAUSED", False)
    partition = TopicPartition(topic, 0, written + 50)
    admin = AdminClient({"bootstrap.servers": moving.headgate.stack.addresses.kafka, "log_level": 0})
    admin.delete_records([partition])[partition].result(10)
    lost = moving.until("delivery", lambda one: "Kafka has removed up to 50 records" in str(one["reasons"]), seconds=60)
    assert lost["observed_state"] == "PAUSED"
    moving.headgate.post(f"{path}/resume")


def test_a_capture_that_waits_for_its_database_behind_running_is_degraded_until_it_moves(moving: Moving) -> None:
    moving.until("pipeline", lambda one: bool((one["progress"] or {}).get("moved_at")), seconds=180)
    moving.proxy.closed()
    began = time.monotonic()
    stalled = moving.until("pipeline", lambda one: "written nothing to Kafka" in str(one["reasons"]), seconds=200)
    print(f"a standstill behind RUNNING was reported after {time.monotonic() - began:.0f} s")
    assert (stalled["observed_state"], stalled["connector"]["state"]) == ("DEGRADED", "RUNNING")
    moving.proxy.open()
    moving.until("pipeline", lambda one: (one["observed_state"], one["reasons"]) == ("RUNNING", []), seconds=200)
