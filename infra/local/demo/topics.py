"""The records in the topics of a demonstration, read from the broker."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager

from kafka import KafkaConsumer, TopicPartition
from kafka.admin import KafkaAdminClient, OffsetSpec

logging.getLogger("kafka").setLevel(logging.CRITICAL)  # a demonstration says itself what it could not do

PREFIX = "headgate-demo-"
_MILLISECONDS = 10_000


def records(kafka: str, topics: Sequence[str]) -> Mapping[str, int]:
    """How many records each topic has had; a topic that does not exist is left out. `kafka` is `host:port`."""
    with _admin(kafka) as admin:
        existing = [topic for topic in admin.describe_topics() if topic["name"] in topics]
        partitions = [
            TopicPartition(topic["name"], partition["partition_index"])
            for topic in existing
            for partition in topic["partitions"]
        ]
        ends = admin.list_partition_offsets(dict.fromkeys(partitions, OffsetSpec.LATEST)) if partitions else {}
    counts = dict.fromkeys((topic["name"] for topic in existing), 0)
    for partition, end in ends.items():
        counts[partition.topic] += end.offset
    return counts


def values(kafka: str, topic: str) -> Sequence[str]:
    """The values of all records that the topic has now, without those of tombstones."""
    with closing(KafkaConsumer(bootstrap_servers=kafka, consumer_timeout_ms=_MILLISECONDS)) as consumer:
        partitions = [TopicPartition(topic, number) for number in sorted(consumer.partitions_for_topic(topic) or ())]
        consumer.assign(partitions)
        consumer.seek_to_beginning(*partitions)
        ends = consumer.end_offsets(partitions)
        read: list[str] = []
        while any(consumer.position(partition) < ends[partition] for partition in partitions):
            polled = consumer.poll(timeout_ms=_MILLISECONDS)
            read += [one.value.decode() for records in polled.values() for one in records if one.value is not None]
    return read


def delete_former(kafka: str) -> int:
    """Deletes the topics that earlier demonstrations made; returns how many."""
    with _admin(kafka) as admin:
        names = [name for name in admin.list_topics() if name.startswith(PREFIX)]
        if names:
            admin.delete_topics(names, timeout_ms=_MILLISECONDS)
    return len(names)


@contextmanager
def _admin(kafka: str) -> Iterator[KafkaAdminClient]:
    limits = {"bootstrap_timeout_ms": _MILLISECONDS, "request_timeout_ms": _MILLISECONDS}
    with closing(KafkaAdminClient(bootstrap_servers=kafka, **limits)) as admin:
        yield admin
