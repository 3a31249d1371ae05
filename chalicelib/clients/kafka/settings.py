"""Reads the settings of topics, and makes and deletes single topics. It imports kafka-python: import it lazily."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from kafka.admin import ConfigResource, ConfigResourceType
from kafka.errors import (
    BrokerResponseError,
    KafkaError,
    KafkaTimeoutError,
    RequestTimedOutError,
    TopicAlreadyExistsError,
    UnknownTopicOrPartitionError,
)

from chalicelib.clients.kafka.admin import Admin
from chalicelib.domain.topic import RequiredTopic, TopicSettings
from chalicelib.errors import Conflict

_READ = ("cleanup.policy", "retention.ms", "retention.bytes")
_MAX_VALUE = 1_000


def read_settings(admin: Admin, topics: Collection[str]) -> Mapping[str, TopicSettings]:
    """Raises KafkaError."""
    # The request does not name topics: a broker may create a missing topic that is named.
    described = {topic["name"]: len(topic["partitions"]) for topic in admin.client.describe_topics()}
    existing = [topic for topic in topics if topic in described]
    if not existing:
        return {}
    resources = [ConfigResource(ConfigResourceType.TOPIC, topic, list(_READ)) for topic in existing]
    configs = admin.client.describe_configs(resources, config_filter="all").get("topic", {})
    return {
        topic: TopicSettings(
            partitions=described[topic],
            configs={key: str(one.get("value"))[:_MAX_VALUE] for key, one in configs.get(topic, {}).items()},
        )
        for topic in existing
    }


def create_topic(admin: Admin, topic: RequiredTopic) -> None:
    """Raises KafkaError when no broker answered, Conflict when they refuse."""
    options = {"num_partitions": topic.settings.partitions, "configs": dict(topic.settings.configs)}
    _change(lambda: admin.client.create_topics({topic.name: options}), TopicAlreadyExistsError, topic.name, "create")


def delete_topic(admin: Admin, name: str) -> None:
    """Raises KafkaError when no broker answered, Conflict when they refuse."""
    _change(lambda: admin.client.delete_topics([name]), UnknownTopicOrPartitionError, name, "delete")


def _change(change: Callable[[], Any], done: type[KafkaError], name: str, verb: str) -> None:
    """Make a change; `done` says that it was made before."""
    try:
        change()
    except done:
        return
    except (KafkaTimeoutError, RequestTimedOutError):
        raise
    except BrokerResponseError as refusal:
        raise Conflict(
            f"The brokers refuse to {verb} the topic {name} ({type(refusal).__name__.removesuffix('Error')}). Give the "
            f"user of the stream cluster the right to, or {verb} it by hand."
        ) from None
