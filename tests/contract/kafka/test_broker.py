"""The broker's behaviour for clients of librdkafka."""

import secrets
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    KafkaException,
    Producer,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, OffsetSpec

from chalicelib.clients.http.addresses import AddressPolicy
from chalicelib.clients.kafka.client import Kafka
from chalicelib.domain.addresses import KafkaAddress
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.kit.clock import Deadline, utc_now
from tests.contract.conftest import Servers
from tests.contract.kafka.conftest import LIMIT
from tests.support.waiting import eventually


@pytest.fixture
def topic(admin: AdminClient) -> Iterator[str]:
    """A topic of two partitions."""
    name = f"contract.{secrets.token_hex(4)}"
    admin.create_topics([NewTopic(name, 2, 1, config={"retention.ms": "60000"})])[name].result(LIMIT)
    eventually(lambda: admin.list_topics(name, timeout=LIMIT).topics[name], lambda seen: len(seen.partitions) == 2)
    yield name
    admin.delete_topics([name])[name].exception(LIMIT)


@pytest.fixture
def group(admin: AdminClient, topic: str) -> Iterator[str]:
    """A group that has read three records of the topic's first partition."""
    name = f"group-{secrets.token_hex(4)}"
    request = ConsumerGroupTopicPartitions(name, [TopicPartition(topic, 0, 3)])
    admin.alter_consumer_group_offsets([request])[name].result(LIMIT)
    yield name
    admin.delete_consumer_groups([name])[name].exception(LIMIT)


@pytest.fixture
def consumer(servers: Servers) -> Iterator[Consumer]:
    settings = {"bootstrap.servers": servers.kafka, "group.id": f"reader-{secrets.token_hex(4)}", "log_level": 0}
    consumer = Consumer({**settings, "enable.auto.commit": False, "auto.offset.reset": "earliest"})
    yield consumer
    consumer.close()


def _code(attempt: Callable[[], Any]) -> str:
    with pytest.raises(KafkaException) as caught:
        attempt()
    return str(caught.value.args[0].name())


def _write(servers: Servers, topic: str, count: int) -> None:
    producer = Producer({"bootstrap.servers": servers.kafka, "log_level": 0, "linger.ms": 0})
    for number in range(count):
        producer.produce(topic, f"value {number}".encode(), key=b"key", partition=0, headers={"why": "contract"})
    assert producer.flush(LIMIT) == 0


def test_the_cluster_has_the_id_that_connect_reports(admin: AdminClient, servers: Servers) -> None:
    cluster = admin.describe_cluster(request_timeout=LIMIT).result(LIMIT)
    assert cluster.cluster_id == servers.connect.call("GET", "/").json()["kafka_cluster_id"]
    assert [f"{node.host}:{node.port}" for node in cluster.nodes] == [servers.kafka]


def test_a_created_topic_is_listed_with_its_partitions(admin: AdminClient, topic: str) -> None:
    assert sorted(admin.list_topics(timeout=LIMIT).topics[topic].partitions) == [0, 1]
    described = admin.describe_topics(TopicCollection([topic]))[topic].result(LIMIT)
    assert [partition.leader.id for partition in described.partitions] == [1, 1]


def test_an_existing_topic_is_not_created_again(admin: AdminClient, topic: str) -> None:
    assert _code(lambda: admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(LIMIT)) == "TOPIC_ALREADY_EXISTS"


@pytest.mark.parametrize(
    ("name", "replicas", "code"),
    [
        ("bad name", 1, "TOPIC_EXCEPTION"),
        ("too.many", 3, "INVALID_REPLICATION_FACTOR"),
        ("x" * 250, 1, "TOPIC_EXCEPTION"),
    ],
)
def test_an_invalid_topic_is_refused(admin: AdminClient, name: str, replicas: int, code: str) -> None:
    assert _code(lambda: admin.create_topics([NewTopic(name, 1, replicas)])[name].result(LIMIT)) == code


def test_a_dry_run_creates_nothing(admin: AdminClient) -> None:
    name = f"dry.{secrets.token_hex(4)}"
    admin.create_topics([NewTopic(name, 1, 1)], validate_only=True)[name].result(LIMIT)
    assert name not in admin.list_topics(timeout=LIMIT).topics


def test_asking_for_an_unknown_topic_does_not_create_it(admin: AdminClient) -> None:
    name = f"unknown.{secrets.token_hex(4)}"
    for _ in range(2):
        assert admin.list_topics(name, timeout=LIMIT).topics[name].error.name() == "UNKNOWN_TOPIC_OR_PART"


def test_a_deleted_topic_is_gone(admin: AdminClient, topic: str) -> None:
    admin.delete_topics([topic])[topic].result(LIMIT)
    eventually(lambda: admin.list_topics(timeout=LIMIT).topics, lambda topics: topic not in topics)
    assert _code(lambda: admin.delete_topics([topic])[topic].result(LIMIT)) == "UNKNOWN_TOPIC_OR_PART"


def test_topic_configs_show_what_was_set_and_what_is_default(admin: AdminClient, topic: str) -> None:
    (described,) = admin.describe_configs([ConfigResource("topic", topic)]).values()
    settings = described.result(LIMIT)
    assert (settings["retention.ms"].value, settings["retention.ms"].is_default) == ("60000", False)
    assert (settings["cleanup.policy"].value, settings["cleanup.policy"].is_default) == ("delete", True)
    assert settings["max.message.bytes"].value == "16777216"


def test_configs_of_an_unknown_topic_are_refused(admin: AdminClient) -> None:
    (described,) = admin.describe_configs([ConfigResource("topic", "unknown.topic")]).values()
    assert _code(lambda: described.result(LIMIT)) == "UNKNOWN_TOPIC_OR_PART"


def test_records_written_are_read_with_keys_and_headers(servers: Servers, topic: str, consumer: Consumer) -> None:
    _write(servers, topic, 5)
    consumer.assign([TopicPartition(topic, 0, 2)])
    found = [eventually(lambda: consumer.poll(0.2), lambda message: message is not None) for _ in range(3)]
    assert [message.value() for message in found if message] == [b"value 2", b"value 3", b"value 4"]
    assert found[0] is not None
    assert (found[0].key(), found[0].headers()) == (b"key", [("why", b"contract")])


def test_offsets_show_where_a_partition_begins_and_ends(
    servers: Servers, admin: AdminClient, topic: str, consumer: Consumer
) -> None:
    _write(servers, topic, 5)
    partition = TopicPartition(topic, 0)
    (latest,) = admin.list_offsets({partition: OffsetSpec.latest()}).values()
    (earliest,) = admin.list_offsets({partition: OffsetSpec.earliest()}).values()
    assert (earliest.result(LIMIT).offset, latest.result(LIMIT).offset) == (0, 5)
    assert consumer.get_watermark_offsets(partition, timeout=LIMIT) == (0, 5)
    assert consumer.get_watermark_offsets(TopicPartition(topic, 1), timeout=LIMIT) == (0, 0)


def test_records_that_were_deleted_are_missing_at_the_beginning(
    servers: Servers, admin: AdminClient, topic: str, consumer: Consumer
) -> None:
    _write(servers, topic, 5)
    partition = TopicPartition(topic, 0, 3)
    (deleted,) = admin.delete_records([partition]).values()
    assert deleted.result(LIMIT).low_watermark == 3
    assert consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=LIMIT) == (3, 5)
    assert (
        _code(lambda: next(iter(admin.delete_records([TopicPartition(topic, 0, 9)]).values())).result(LIMIT))
        == "OFFSET_OUT_OF_RANGE"
    )


def test_headgate_finds_the_topics_that_have_lost_their_beginning(
    servers: Servers, admin: AdminClient, topic: str
) -> None:
    mixed = f"{topic}.mixed"
    admin.create_topics([NewTopic(mixed, 1, 1, config={"cleanup.policy": "compact,delete"})])[mixed].result(LIMIT)
    kafka = Kafka(
        OpenedEndpoint(KafkaAddress(bootstrap_servers=servers.kafka), {}), check_host=AddressPolicy(allow_loopback=True)
    )
    eventually(lambda: kafka.topics(Deadline.after(LIMIT)), lambda topics: {topic, mixed} <= topics)
    names = [topic, mixed, "unknown.topic"]
    before = kafka.topic_facts(names, Deadline.after(LIMIT))
    assert (before.partitions[topic], before.partitions[mixed]) == (2, 1)
    assert (before.truncated, before.unread, "unknown.topic" in before.partitions) == (set(), set(), False)
    assert before.first_written.keys() & set(names) == set()
    began = utc_now() - timedelta(seconds=5)
    for name in (topic, mixed):
        _write(servers, name, 5)
    written = kafka.topic_facts(names, Deadline.after(LIMIT)).first_written
    assert began < written[topic] <= written[mixed] <= utc_now() + timedelta(seconds=5)
    for name in (topic, mixed):
        admin.delete_records([TopicPartition(name, 0, 3)])[TopicPartition(name, 0)].result(LIMIT)
    after = kafka.topic_facts(names, Deadline.after(LIMIT))
    assert (after.truncated, after.unread) == ({topic, mixed}, set())
    kafka.close()
    admin.delete_topics([mixed])[mixed].result(LIMIT)


def test_a_group_with_offsets_only_is_empty(admin: AdminClient, group: str) -> None:
    listed = {group.group_id: group.state.name for group in admin.list_consumer_groups().result(LIMIT).valid}
    assert listed[group] == "EMPTY"
    described = admin.describe_consumer_groups([group])[group].result(LIMIT)
    assert (described.state.name, described.members) == ("EMPTY", [])


def test_an_unknown_group_is_dead(admin: AdminClient) -> None:
    assert admin.describe_consumer_groups(["nobody"])["nobody"].result(LIMIT).state.name == "DEAD"


def test_a_groups_offsets_are_reported(admin: AdminClient, group: str, topic: str) -> None:
    request = ConsumerGroupTopicPartitions(group)
    (found,) = admin.list_consumer_group_offsets([request])[group].result(LIMIT).topic_partitions
    assert (found.topic, found.partition, found.offset) == (topic, 0, 3)


def test_an_unknown_group_has_no_offsets(admin: AdminClient) -> None:
    request = ConsumerGroupTopicPartitions("nobody")
    assert admin.list_consumer_group_offsets([request])["nobody"].result(LIMIT).topic_partitions == []


def test_a_partition_without_offset_has_none(admin: AdminClient, group: str, topic: str) -> None:
    request = ConsumerGroupTopicPartitions(group, [TopicPartition(topic, 1)])
    (found,) = admin.list_consumer_group_offsets([request])[group].result(LIMIT).topic_partitions
    assert found.offset == -1001


def test_a_deleted_group_is_unknown(admin: AdminClient, group: str) -> None:
    admin.delete_consumer_groups([group])[group].result(LIMIT)
    assert _code(lambda: admin.delete_consumer_groups([group])[group].result(LIMIT)) == "GROUP_ID_NOT_FOUND"
