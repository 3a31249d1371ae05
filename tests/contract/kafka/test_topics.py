"""Topics that Headgate makes for connectors, reads and deletes, on the double and on the real broker."""

import secrets
from collections.abc import Iterator

import pytest
from confluent_kafka.admin import AdminClient

from chalicelib.clients.http.addresses import AddressPolicy
from chalicelib.clients.kafka.client import Kafka
from chalicelib.domain.addresses import KafkaAddress
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.topic import RequiredTopic, TopicSettings
from chalicelib.errors import Conflict
from chalicelib.kit.clock import Deadline
from tests.contract.conftest import Servers
from tests.contract.kafka.conftest import LIMIT
from tests.support.waiting import eventually

KEPT = {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"}


@pytest.fixture
def kafka(servers: Servers) -> Kafka:
    policy = AddressPolicy(allow_loopback=True)
    return Kafka(OpenedEndpoint(KafkaAddress(bootstrap_servers=servers.kafka)), check_host=policy)


@pytest.fixture
def topic(admin: AdminClient) -> Iterator[RequiredTopic]:
    """One that does not exist yet."""
    name = f"contract.history-{secrets.token_hex(4)}"
    yield RequiredTopic(name=name, settings=TopicSettings(partitions=1, configs=KEPT))
    admin.delete_topics([name])[name].exception(LIMIT)


def limit() -> Deadline:
    return Deadline.after(LIMIT)


def test_a_topic_is_made_with_its_settings(kafka: Kafka, topic: RequiredTopic) -> None:
    kafka.create_topic(topic, limit())
    found = eventually(lambda: kafka.topic_settings([topic.name], limit()))
    assert found == {topic.name: topic.settings}


def test_a_topic_that_exists_stays_as_it_is(kafka: Kafka, topic: RequiredTopic) -> None:
    kafka.create_topic(topic, limit())
    eventually(lambda: kafka.topic_settings([topic.name], limit()))
    other = RequiredTopic(name=topic.name, settings=TopicSettings(partitions=3))
    kafka.create_topic(other, limit())
    assert kafka.topic_settings([topic.name], limit())[topic.name] == topic.settings


def test_a_missing_topic_is_not_made_by_looking(kafka: Kafka, topic: RequiredTopic) -> None:
    assert kafka.topic_settings([topic.name], limit()) == {}
    assert kafka.topic_settings([topic.name], limit()) == {}


def test_a_topic_is_deleted_and_may_be_gone_already(kafka: Kafka, topic: RequiredTopic) -> None:
    kafka.create_topic(topic, limit())
    eventually(lambda: kafka.topic_settings([topic.name], limit()))
    kafka.delete_topic(topic.name, limit())
    eventually(lambda: kafka.topic_settings([topic.name], limit()), lambda found: not found)
    kafka.delete_topic(topic.name, limit())


def test_a_refusal_names_the_topic_and_what_to_do(kafka: Kafka) -> None:
    bad = RequiredTopic(name="contract history with blanks", settings=TopicSettings(partitions=1))
    with pytest.raises(Conflict, match="refuse to create the topic contract history with blanks") as refused:
        kafka.create_topic(bad, limit())
    assert "by hand" in refused.value.message
