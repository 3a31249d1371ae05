"""The records in the topics of a demonstration, read from the broker."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager

from kafka import TopicPartition
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
