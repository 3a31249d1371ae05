"""The offsets of topics and consumer groups, as Headgate reads them."""

import secrets
from collections.abc import Iterator

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from chalicelib.clients.http.addresses import AddressPolicy
from chalicelib.clients.kafka.client import Kafka
from chalicelib.domain.addresses import KafkaAddress
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.monitoring.offsets import GroupOffsets, Offsets, PartitionOffsets
from chalicelib.kit.clock import Deadline
from tests.contract.conftest import Servers, Shop
from tests.contract.kafka.conftest import LIMIT
from tests.support.waiting import eventually


@pytest.fixture(scope="module")
def kafka(servers: Servers) -> Kafka:
    endpoint = OpenedEndpoint(KafkaAddress(bootstrap_servers=servers.kafka), {})
    return Kafka(endpoint, check_host=AddressPolicy(allow_loopback=True))


@pytest.fixture
def topic(servers: Servers, admin: AdminClient) -> Iterator[str]:
    """A topic of two partitions, the first with five records of which two are deleted."""
    name = f"offsets.{secrets.token_hex(4)}"
    admin.create_topics([NewTopic(name, 2, 1)])[name].result(LIMIT)
    eventually(lambda: admin.list_topics(name, timeout=LIMIT).topics[name], lambda seen: len(seen.partitions) == 2)
    producer = Producer({"bootstrap.servers": servers.kafka, "log_level": 0})
    for number in range(5):
        producer.produce(name, f"value {number}".encode(), partition=0)
    assert producer.flush(LIMIT) == 0
    (deleted,) = admin.delete_records([TopicPartition(name, 0, 2)]).values()
    deleted.result(LIMIT)
    yield name
    admin.delete_topics([name])[name].exception(LIMIT)


def _commit(admin: AdminClient, group: str, topic: str, offset: int) -> None:
    request = ConsumerGroupTopicPartitions(group, [TopicPartition(topic, 0, offset)])
    admin.alter_consumer_group_offsets([request])[group].result(LIMIT)


def test_ends_of_topics_and_what_groups_have_committed_are_read_in_one_call(
    kafka: Kafka, admin: AdminClient, topic: str
) -> None:
    groups = [f"group-{secrets.token_hex(4)}" for _ in range(2)]
    for offset, group in enumerate(groups, start=3):
        _commit(admin, group, topic, offset)
    found = kafka.offsets([], dict.fromkeys(groups, (topic,)), Deadline.after(LIMIT))
    assert found == Offsets(
        topics={topic: {0: PartitionOffsets(beginning=2, end=5), 1: PartitionOffsets(beginning=0, end=0)}},
        groups={
            group: GroupOffsets(state="Empty", members=0, committed={topic: {0: offset}})
            for offset, group in enumerate(groups, start=3)
        },
    )
    for group in groups:
        admin.delete_consumer_groups([group])[group].result(LIMIT)


def test_only_the_ends_of_topics_are_read_that_no_group_reads(kafka: Kafka, topic: str) -> None:
    found = kafka.offsets([topic], {}, Deadline.after(LIMIT))
    assert found.topics == {topic: {0: PartitionOffsets(end=5), 1: PartitionOffsets(end=0)}}


def test_a_topic_and_a_group_that_do_not_exist_are_not_created_and_not_called_unreadable(
    kafka: Kafka, admin: AdminClient
) -> None:
    name = f"unknown.{secrets.token_hex(4)}"
    for _ in range(2):
        found = kafka.offsets([name], {name: [f"{name}.other"]}, Deadline.after(LIMIT))
        assert (found.topics, found.groups) == ({}, {name: GroupOffsets(state="Dead", members=0)})
    assert not {name, f"{name}.other"} & admin.list_topics(timeout=LIMIT).topics.keys()


def test_the_task_of_a_running_sink_is_the_member_of_its_group(
    servers: Servers, admin: AdminClient, shop: Shop, kafka: Kafka
) -> None:
    config = shop.sink()
    group = f"connect-{config['name']}"
    admin.create_topics([NewTopic(config["topics"], 1, 1)])[config["topics"]].result(LIMIT)
    servers.connect.create(config, state="RUNNING")

    def described() -> tuple[str | None, int | None]:
        found = kafka.offsets([], {group: [config["topics"]]}, Deadline.after(LIMIT)).groups[group]
        return (found.state, found.members) if found else (None, None)

    eventually(described, lambda seen: seen == ("Stable", 1))
    servers.connect.call("PUT", f"/connectors/{config['name']}/stop")
    eventually(described, lambda seen: seen[0] in ("Empty", "Dead") and seen[1] == 0)
