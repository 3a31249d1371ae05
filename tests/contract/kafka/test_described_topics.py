"""Topics as people see them, on the double and on the real broker."""

import secrets
from collections.abc import Iterator

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from chalicelib.clients.http.addresses import AddressPolicy
from chalicelib.clients.kafka.client import Kafka
from chalicelib.domain.addresses import KafkaAddress
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.topic import PartitionDetail, Topic
from chalicelib.kit.clock import Deadline
from tests.contract.conftest import Servers
from tests.contract.kafka.conftest import LIMIT
from tests.support.kafka_requests import by_name, counted_requests
from tests.support.waiting import eventually

BYTES = 10_000


@pytest.fixture(scope="module")
def kafka(servers: Servers) -> Kafka:
    endpoint = OpenedEndpoint(KafkaAddress(bootstrap_servers=servers.kafka), {})
    return Kafka(endpoint, check_host=AddressPolicy(allow_loopback=True))


@pytest.fixture
def names(servers: Servers, admin: AdminClient) -> Iterator[list[str]]:
    """A compacted topic named like one of Kafka Connect's, an empty one, and one of two partitions with records: three
    in the first, of which one is deleted, and none in the second.
    """
    begin = f"described{secrets.token_hex(4)}"
    names = [f"{begin}-connect-configs", f"{begin}.empty", f"{begin}.records"]
    compacted = NewTopic(names[0], 1, 1, config={"cleanup.policy": "compact"})
    created = admin.create_topics([compacted, NewTopic(names[1], 1, 1), NewTopic(names[2], 2, 1)])
    for future in created.values():
        future.result(LIMIT)
    eventually(lambda: set(names) <= admin.list_topics(timeout=LIMIT).topics.keys())
    producer = Producer({"bootstrap.servers": servers.kafka, "log_level": 0})
    for _ in range(3):
        producer.produce(names[2], secrets.token_bytes(BYTES), partition=0)
    assert producer.flush(LIMIT) == 0
    (deleted,) = admin.delete_records([TopicPartition(names[2], 0, 1)]).values()
    deleted.result(LIMIT)
    yield names
    for future in admin.delete_topics(names).values():
        future.exception(LIMIT)


def limit() -> Deadline:
    return Deadline.after(LIMIT)


def test_a_page_of_the_list_is_in_the_order_of_names_with_sizes_and_four_requests(
    kafka: Kafka, names: list[str]
) -> None:
    before = names[0][:-1]
    with counted_requests() as counts:
        page = kafka.list_topics(limit(), limit=2, after=before)
    compacted, empty = page.items
    assert compacted == Topic(name=names[0], partitions=1, replication_factor=1, internal=False, size=0, compacted=True)
    assert empty == Topic(name=names[1], partitions=1, replication_factor=1, internal=False, size=0)
    assert (page.keys, page.more) == (tuple(names[:2]), True)
    # The first metadata are those with which kafka-python finds the brokers.
    assert by_name(counts) == {"Metadata": 2, "DescribeLogDirs": 1, "DescribeConfigs": 1}
    (rest,) = kafka.list_topics(limit(), limit=1, after=page.next_key).items
    assert rest.name == names[2]
    assert rest.partitions == 2
    assert rest.size is not None
    assert 3 * BYTES < rest.size < 4 * BYTES


def test_a_topic_is_described_with_partitions_offsets_and_settings(kafka: Kafka, names: list[str]) -> None:
    with counted_requests() as counts:
        detail = kafka.describe_topic(names[2], limit())
    assert detail is not None
    assert detail.topic.size is not None
    assert detail.topic.size > 3 * BYTES
    node = detail.partition_details[0].leader
    assert node is not None
    assert detail.partition_details == (
        PartitionDetail(partition=0, leader=node, replicas=(node,), isr=(node,), beginning_offset=1, end_offset=3),
        PartitionDetail(partition=1, leader=node, replicas=(node,), isr=(node,), beginning_offset=0, end_offset=0),
    )
    assert detail.configs
    assert detail.configs["cleanup.policy"] == "delete"
    assert by_name(counts) == {"Metadata": 2, "ListOffsets": 2, "DescribeConfigs": 1, "DescribeLogDirs": 1}


def test_a_topic_is_found_with_as_many_requests_as_its_name_needs(kafka: Kafka, names: list[str]) -> None:
    with counted_requests() as counts:
        compacted = kafka.find_topic(names[0], limit())
    assert compacted is not None
    assert compacted.compacted
    assert by_name(counts) == {"Metadata": 2, "DescribeConfigs": 1}
    with counted_requests() as counts:
        assert kafka.find_topic(names[2], limit())
    assert by_name(counts) == {"Metadata": 2}


@pytest.mark.parametrize("name", ["described.missing", "a name with blanks", ".", "a" * 250])
def test_a_missing_topic_and_a_name_that_kafka_does_not_allow_are_not_found_and_not_made(
    kafka: Kafka, admin: AdminClient, name: str
) -> None:
    for _ in range(2):
        assert kafka.find_topic(name, limit()) is None
        assert kafka.describe_topic(name, limit()) is None
    assert name not in admin.list_topics(timeout=LIMIT).topics


def test_a_deletion_is_three_requests(kafka: Kafka, names: list[str], admin: AdminClient) -> None:
    with counted_requests() as counts:
        kafka.delete_topic(names[1], limit())
    assert by_name(counts) == {"Metadata": 2, "DeleteTopics": 1}
    eventually(lambda: names[1] not in admin.list_topics(timeout=LIMIT).topics)
