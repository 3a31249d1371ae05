"""Topics of three real brokers, of which one is known as a bootstrap server: each broker is asked about its own."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from chalicelib.clients.http.addresses import AddressPolicy
from chalicelib.clients.kafka.client import Kafka
from chalicelib.domain.addresses import KafkaAddress
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.kit.clock import Deadline
from tests.support.kafka_requests import by_name, counted_requests
from tests.support.three_brokers import NODES, ThreeBrokers, three_brokers
from tests.support.waiting import eventually

pytestmark = [pytest.mark.real, pytest.mark.long]

LIMIT = 10
"""Seconds."""
TOPICS = 60
SPREAD = "shop.spread"
"""A topic with a partition on each broker."""


@pytest.fixture(scope="module")
def brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ThreeBrokers]:
    """With many topics of one partition, each of which lies on one broker, and one on all of them."""
    with three_brokers(tmp_path_factory.mktemp("brokers")) as brokers:
        admin = AdminClient({"bootstrap.servers": brokers.bootstrap, "log_level": 0})
        eventually(lambda: set(admin.list_topics(timeout=LIMIT).brokers) == set(NODES))
        single = [NewTopic(f"shop.t{number:02}", 1, 1) for number in range(TOPICS)]
        spread = NewTopic(SPREAD, 3, replica_assignment=[[1, 7], [7, 12], [12, 1]])
        for future in admin.create_topics([*single, spread]).values():
            future.result(LIMIT)
        eventually(lambda: len(admin.list_topics(timeout=LIMIT).topics) == TOPICS + 1)
        producer = Producer({"bootstrap.servers": brokers.bootstrap, "log_level": 0, "acks": "all"})
        for partition in range(3):
            for _ in range(partition):
                producer.produce(SPREAD, b"x" * 1_000, partition=partition)
        assert producer.flush(LIMIT) == 0
        yield brokers


@pytest.fixture
def kafka(brokers: ThreeBrokers) -> Kafka:
    endpoint = OpenedEndpoint(KafkaAddress(bootstrap_servers=brokers.bootstrap), {})
    return Kafka(endpoint, check_host=AddressPolicy(allow_loopback=True))


def limit() -> Deadline:
    return Deadline.after(LIMIT)


@contextmanager
def silent(brokers: ThreeBrokers, node: int) -> Iterator[None]:
    """The broker does not answer, and the others have not noticed it yet."""
    os.kill(brokers.servers[node].pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(brokers.servers[node].pid, signal.SIGCONT)


def test_a_page_asks_each_broker_once_for_sizes_however_many_topics_there_are(kafka: Kafka) -> None:
    for topics in (TOPICS + 1, 20):
        with counted_requests() as counts:
            page = kafka.list_topics(limit(), limit=topics, after=None)
        assert len(page.items) == topics
        assert all(topic.size is not None for topic in page.items)
        assert by_name(counts) == {"Metadata": 2, "DescribeLogDirs": len(NODES)}


def test_a_topic_on_three_brokers_has_the_offsets_and_sizes_that_each_leader_says(kafka: Kafka) -> None:
    with counted_requests() as counts:
        detail = kafka.describe_topic(SPREAD, limit())
    assert by_name(counts) == {
        "Metadata": 2,
        "ListOffsets": 2 * len(NODES),
        "DescribeConfigs": 1,
        "DescribeLogDirs": len(NODES),
    }
    assert detail is not None
    partitions = detail.partition_details
    assert [(one.leader, one.replicas) for one in partitions] == [(1, (1, 7)), (7, (7, 12)), (12, (12, 1))]
    assert [(one.beginning_offset, one.end_offset) for one in partitions] == [(0, 0), (0, 1), (0, 2)]
    assert detail.topic.replication_factor == 2
    assert detail.topic.size is not None
    # The copies of two replicas would be twice as much.
    assert 3_000 < detail.topic.size < 4_500


def test_what_a_silent_broker_does_not_say_is_null_and_the_rest_is_there(kafka: Kafka, brokers: ThreeBrokers) -> None:
    with silent(brokers, 7):
        page = kafka.list_topics(limit(), limit=TOPICS + 1, after=None)
        detail = kafka.describe_topic(SPREAD, limit())
    sizes = {topic.name: topic.size for topic in page.items}
    assert len(sizes) == TOPICS + 1
    assert None in sizes.values()
    assert 0 in sizes.values()
    assert sizes[SPREAD] is None
    assert detail is not None
    assert [one.end_offset for one in detail.partition_details] == [0, None, 2]
    assert detail.topic.size is None
    assert detail.configs


def test_a_topic_is_deleted_on_all_brokers(kafka: Kafka) -> None:
    with counted_requests() as counts:
        kafka.delete_topic("shop.t00", limit())
    assert by_name(counts)["DeleteTopics"] == 1
    eventually(lambda: kafka.find_topic("shop.t00", limit()) is None)
