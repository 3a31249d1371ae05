"""Reads the settings of topics, and makes and deletes single topics. It imports kafka-python: import it lazily."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from kafka import TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType, OffsetSpec
from kafka.errors import (
    BrokerResponseError,
    KafkaError,
    KafkaTimeoutError,
    RequestTimedOutError,
    TopicAlreadyExistsError,
    UnknownTopicOrPartitionError,
)

from chalicelib.clients.kafka.admin import Admin
from chalicelib.domain.plans.dry_run import end_dry_run
from chalicelib.domain.topic import RequiredTopic, TopicSettings
from chalicelib.errors import Conflict, TimedOut

_READ = ("cleanup.policy", "retention.ms", "retention.bytes")
_MAX_VALUE = 1_000


def read_settings(admin: Admin, topics: Collection[str]) -> Mapping[str, TopicSettings]:
    """Raises KafkaError."""
    # The request does not name topics: a broker may create a missing topic that is named.
    described = {topic["name"]: topic["partitions"] for topic in admin.client.describe_topics()}
    existing = [topic for topic in topics if topic in described]
    if not existing:
        return {}
    resources = [ConfigResource(ConfigResourceType.TOPIC, topic, list(_READ)) for topic in existing]
    configs = admin.client.describe_configs(resources, config_filter="all").get("topic", {})
    truncated = _truncated(admin, {topic: len(described[topic]) for topic in existing})
    return {
        topic: TopicSettings(
            partitions=len(described[topic]),
            configs={key: str(one.get("value"))[:_MAX_VALUE] for key, one in configs.get(topic, {}).items()},
            truncated=topic in truncated,
        )
        for topic in existing
    }


def _truncated(admin: Admin, counts: Mapping[str, int]) -> frozenset[str]:
    """Those of the topics, given with their numbers of partitions, that begin after offset 0. Raises KafkaError."""
    partitions = [TopicPartition(topic, number) for topic, count in counts.items() for number in range(count)]
    first = admin.client.list_partition_offsets(dict.fromkeys(partitions, OffsetSpec.EARLIEST))
    return frozenset(partition.topic for partition, earliest in first.items() if earliest.offset > 0)


def create_topic(admin: Admin, topic: RequiredTopic) -> None:
    """Raises Conflict when the brokers refuse, TimedOut when they do not say what they did."""
    options = {"num_partitions": topic.settings.partitions, "configs": dict(topic.settings.configs)}
    _change(lambda: admin.client.create_topics({topic.name: options}), TopicAlreadyExistsError, topic.name, "create")


def delete_topic(admin: Admin, name: str) -> bool:
    """False when there was no such topic. Raises Conflict when the brokers refuse, TimedOut when they do not say what
    they did.
    """
    return _change(lambda: admin.client.delete_topics([name]), UnknownTopicOrPartitionError, name, "delete")


def _change(change: Callable[[], Any], done: type[KafkaError], name: str, verb: str) -> bool:
    """Make a change; False when the brokers answer with `done`: it was made before. Raises DryRunEnded in a dry run."""
    end_dry_run()
    try:
        change()
    except done:
        return False
    except (KafkaTimeoutError, RequestTimedOutError):
        raise _unknown(name, verb) from None
    except BrokerResponseError as refusal:
        raise Conflict(
            f"The brokers refuse to {verb} the topic {name} ({type(refusal).__name__.removesuffix('Error')}). Give the "
            f"user of the stream cluster the right to, or {verb} it by hand."
        ) from None
    except (KafkaError, OSError, RuntimeError):
        raise _unknown(name, verb) from None
    return True


def _unknown(name: str, verb: str) -> TimedOut:
    return TimedOut(f"The brokers did not say in time whether the topic {name} was {verb}d. Look at it, then repeat.")
