"""Consumer groups of three real brokers, of which one is known as a bootstrap server: each coordinates some of them."""

from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from chalicelib.clients.http.addresses import AddressPolicy
from chalicelib.clients.kafka.client import Kafka
from chalicelib.domain.addresses import KafkaAddress
from chalicelib.domain.consumer_group import ConsumerGroup
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.errors import Unavailable
from chalicelib.kit.clock import Deadline
from tests.support.kafka_requests import by_name, counted_requests
from tests.support.three_brokers import NODES, ThreeBrokers, three_brokers
from tests.support.waiting import eventually

pytestmark = pytest.mark.real

LIMIT = 20
"""Seconds."""
GROUPS = 500
TOPIC = "shop.orders"
EACH = len(NODES)


@pytest.fixture(scope="module")
def brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ThreeBrokers]:
    """With groups that each broker coordinates some of, and a topic with a partition on each broker."""
    settings = {"offsets.topic.num.partitions": "12"}
    with three_brokers(tmp_path_factory.mktemp("brokers"), settings) as brokers:
        admin = AdminClient({"bootstrap.servers": brokers.bootstrap, "log_level": 0})
        eventually(lambda: set(admin.list_topics(timeout=LIMIT).brokers) == set(NODES))
        topic = NewTopic(TOPIC, EACH, replica_assignment=[[node] for node in NODES])
        admin.create_topics([topic])[TOPIC].result(LIMIT)
        eventually(lambda: len(admin.list_topics(TOPIC, timeout=LIMIT).topics[TOPIC].partitions) == EACH)
        _commit(admin, 0)
        for number in range(1, GROUPS):
            _commit(admin, number)
        yield brokers


def _commit(admin: AdminClient, number: int) -> None:
    name = f"group-{number:03}"
    request = ConsumerGroupTopicPartitions(name, [TopicPartition(TOPIC, number % EACH, 0)])

    def commit() -> bool:
        answer = admin.alter_consumer_group_offsets([request])[name]
        return answer.exception(LIMIT) is None and all(one.error is None for one in answer.result().topic_partitions)

    # The first group makes the topic of offsets, whose partitions have no leaders at first.
    eventually(commit)


@pytest.fixture
def kafka(brokers: ThreeBrokers) -> Kafka:
    endpoint = OpenedEndpoint(KafkaAddress(bootstrap_servers=brokers.bootstrap), {})
    return Kafka(endpoint, check_host=AddressPolicy(allow_loopback=True))


def test_500_groups_of_three_coordinators_are_read_in_a_few_requests_to_each(kafka: Kafka) -> None:
    with counted_requests() as requests:
        page = kafka.groups(limit=GROUPS, after=None, deadline=Deadline.after(LIMIT))
    assert [group.group_id for group in page.groups] == [f"group-{number:03}" for number in range(GROUPS)]
    assert not page.more
    assert {(group.state, group.members, group.topics, group.total_lag) for group in page.groups} == {
        ("Empty", 0, (TOPIC,), 0)
    }
    assert by_name(requests) == {
        # one when the client connects, one for the brokers, one for the topic
        "Metadata": 3,
        "ListGroups": EACH,
        "DescribeGroups": EACH,
        "OffsetFetch": EACH,
        "ListOffsets": EACH,
    }


def test_the_members_of_a_group_of_the_newer_protocol_are_not_known_while_it_has_any(
    kafka: Kafka, brokers: ThreeBrokers
) -> None:
    """It is asked for them by a request that kafka-python does not have (KIP-848)."""
    settings = {"bootstrap.servers": brokers.bootstrap, "group.id": "newer", "group.protocol": "consumer"}
    consumer = Consumer(settings)

    def found() -> ConsumerGroup | None:
        consumer.poll(0.1)
        page = kafka.groups(limit=1, after=f"group-{GROUPS - 1}", deadline=Deadline.after(LIMIT))
        return page.groups[0] if page.groups else None

    try:
        consumer.subscribe([TOPIC])
        group = eventually(found, lambda seen: seen is not None and seen.state == "Stable")
        assert group
        assert (group.protocol_type, group.members, group.topics, group.total_lag) == ("consumer", None, None, None)
    finally:
        consumer.close()


def test_while_one_broker_is_away_its_groups_do_not_seem_to_be_gone(kafka: Kafka, brokers: ThreeBrokers) -> None:
    """The last test: the broker stays away."""
    admin = AdminClient({"bootstrap.servers": brokers.bootstrap, "log_level": 0})

    def knows_all() -> bool:
        return set(admin.list_topics(timeout=LIMIT).brokers) == set(NODES)

    brokers.servers[NODES[-1]].kill()
    # At first the others still name it, then nobody coordinates its groups.
    for is_named in (True, False):
        eventually(knows_all, lambda seen, expected=is_named: seen == expected)
        with pytest.raises(Unavailable) as refused:
            kafka.groups(limit=GROUPS, after=None, deadline=Deadline.after(LIMIT))
        assert refused.value.code == "STREAM_UNAVAILABLE"
