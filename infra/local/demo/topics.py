"""The records in the topics of a demonstration, read from the broker."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from confluent_kafka import Consumer

PREFIX = "headgate-demo-"
_SECONDS = 10.0
_QUIET: Mapping[str, str | int] = {"socket.timeout.ms": 10_000, "log_level": 0}


def records(kafka: str, topics: Sequence[str]) -> Mapping[str, int]:
    """How many records each topic has had; a topic that does not exist is left out. `kafka` is `host:port`."""
    consumer = _consumer(kafka)
    try:
        found = consumer.list_topics(timeout=_SECONDS).topics
        return {name: sum(_ends(consumer, name, list(found[name].partitions))) for name in topics if name in found}
    finally:
        consumer.close()


def delete_former(kafka: str) -> int:
    """Deletes the topics that earlier demonstrations made; returns how many."""
    from confluent_kafka.admin import AdminClient

    admin = AdminClient({"bootstrap.servers": kafka, **_QUIET})
    names = [name for name in admin.list_topics(timeout=_SECONDS).topics if name.startswith(PREFIX)]
    if names:
        for outcome in admin.delete_topics(names, request_timeout=_SECONDS).values():
            outcome.result(_SECONDS)
    return len(names)


def _consumer(kafka: str) -> "Consumer":
    from confluent_kafka import Consumer

    # It joins no group: it only asks for the ends of partitions.
    return Consumer({"bootstrap.servers": kafka, "group.id": "headgate-demo", **_QUIET})


def _ends(consumer: "Consumer", topic: str, partitions: Sequence[int]) -> list[int]:
    from confluent_kafka import TopicPartition

    return [consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=_SECONDS)[1] for number in partitions]
