"""The features of a Connect worker, by its version."""

import re

_VERSION = re.compile(r"(\d{1,4})\.(\d{1,4})")
_CONFLUENT = re.compile(r"-(ccs|ce)\b")
# Confluent Platform 7.x is Kafka 3.x and 8.x is 4.x, with equal minor versions; workers report the platform's version.
_CONFLUENT_OFFSET = 4


def kafka_version(version: str) -> tuple[int, int] | None:
    """Major and minor of Apache Kafka; None when the text has another form."""
    match = _VERSION.match(version)
    if match is None:
        return None
    major, minor = int(match[1]), int(match[2])
    if _CONFLUENT.search(version) and major > _CONFLUENT_OFFSET:
        major -= _CONFLUENT_OFFSET
    return major, minor


def supports_offset_changes(version: str) -> bool:
    """Whether the offsets of a stopped connector can be replaced and deleted (KIP-875, Kafka 3.6)."""
    kafka = kafka_version(version)
    return kafka is not None and kafka >= (3, 6)


def is_supported(version: str) -> bool:
    """Whether a worker can be used: a restart of failed tasks with their connector (KIP-745) needs Kafka 3.0. A version
    of another form is taken.
    """
    kafka = kafka_version(version)
    return kafka is None or kafka >= (3, 0)


def supports_initial_state(version: str) -> bool:
    """Whether a connector can be created in a state such as STOPPED (KIP-980, Kafka 3.7)."""
    kafka = kafka_version(version)
    return kafka is not None and kafka >= (3, 7)
