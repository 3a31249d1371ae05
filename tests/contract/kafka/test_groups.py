"""Consumer groups as Headgate lists them."""

import secrets
from collections.abc import Iterator

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from chalicelib.clients.http.addresses import AddressPolicy
from chalicelib.clients.kafka.client import Kafka
from chalicelib.domain.addresses import KafkaAddress
from chalicelib.domain.consumer_group import ConsumerGroup, GroupPartition
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.kit.clock import Deadline
from chalicelib.kit.pages import bounded_key
from tests.contract.conftest import Servers, Shop
from tests.contract.kafka.conftest import LIMIT
from tests.support.waiting import eventually


@pytest.fixture(scope="module")
def kafka(servers: Servers) -> Kafka:
    endpoint = OpenedEndpoint(KafkaAddress(bootstrap_servers=servers.kafka), {})
    return Kafka(endpoint, check_host=AddressPolicy(allow_loopback=True))


@pytest.fixture
def topic(admin: AdminClient) -> Iterator[str]:
    """A topic of two partitions without records."""
    name = f"groups.{secrets.token_hex(4)}"
    admin.create_topics([NewTopic(name, 2, 1)])[name].result(LIMIT)
    eventually(lambda: admin.list_topics(name, timeout=LIMIT).topics[name], lambda seen: len(seen.partitions) == 2)
    yield name
    admin.delete_topics([name])[name].exception(LIMIT)


@pytest.fixture
def committed(admin: AdminClient, topic: str) -> Iterator[list[str]]:
    """Two groups without members that stand at the beginning of the topic's first partition."""
    names = [f"group-{secrets.token_hex(4)}-{word}" for word in ("a/b c", "\N{GRINNING FACE}" * 80)]
    for name in names:
        request = ConsumerGroupTopicPartitions(name, [TopicPartition(topic, 0, 0)])
        admin.alter_consumer_group_offsets([request])[name].result(LIMIT)
    yield names
    for name in names:
        admin.delete_consumer_groups([name])[name].exception(LIMIT)


def groups(kafka: Kafka) -> dict[str, ConsumerGroup]:
    """All groups, read one by one."""
    found: dict[str, ConsumerGroup] = {}
    after = None
    while True:
        page = kafka.groups(limit=1, after=after, deadline=Deadline.after(LIMIT))
        found |= {group.group_id: group for group in page.groups}
        if not page.more:
            return found
        after = bounded_key(page.groups[-1].group_id)


def test_a_group_without_members_has_its_committed_offsets(kafka: Kafka, topic: str, committed: list[str]) -> None:
    found = groups(kafka)
    for name in committed:
        assert found[name] == ConsumerGroup(
            group_id=name,
            state="Empty",
            protocol_type=None,
            members=0,
            topics=(topic,),
            offsets=(GroupPartition(topic=topic, partition=0, committed_offset=0, end_offset=0),),
        )


def test_pages_have_the_order_of_the_names(kafka: Kafka, committed: list[str]) -> None:
    page = kafka.groups(limit=500, after=None, deadline=Deadline.after(LIMIT))
    names = [group.group_id for group in page.groups]
    assert names == sorted(names)
    assert set(committed) <= set(names)
    assert list(groups(kafka)) == names


def test_a_running_sink_has_its_partitions_before_it_commits_any(
    servers: Servers, admin: AdminClient, shop: Shop, kafka: Kafka
) -> None:
    config = shop.sink()
    topic = config["topics"]
    admin.create_topics([NewTopic(topic, 2, 1)])[topic].result(LIMIT)
    servers.connect.create(config, state="RUNNING")

    def described() -> ConsumerGroup | None:
        return groups(kafka).get(f"connect-{config['name']}")

    group = eventually(described, lambda seen: seen is not None and seen.state == "Stable" and bool(seen.topics))
    assert group
    assert (group.protocol_type, group.members, group.topics, group.total_lag) == ("consumer", 1, (topic,), None)
    assert [(one.partition, one.committed_offset, one.end_offset) for one in group.offsets or ()] == [
        (0, None, 0),
        (1, None, 0),
    ]
