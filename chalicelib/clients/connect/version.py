"""What a Connect worker of some version can do."""

import re

_VERSION = re.compile(r"(\d{1,4})\.(\d{1,4})")
_CONFLUENT = re.compile(r"-(ccs|ce)\b")
_CONFLUENT_AHEAD = 4
"""Confluent Platform 7.x is Kafka 3.x and 8.x is 4.x, minor for minor; its workers report the platform's version."""


def kafka_version(version: str) -> tuple[int, int] | None:
    """Major and minor of Apache Kafka; None when the text says neither."""
    match = _VERSION.match(version)
    if match is None:
        return None
    major, minor = int(match[1]), int(match[2])
    return (
        (major - _CONFLUENT_AHEAD, minor) if _CONFLUENT.search(version) and major > _CONFLUENT_AHEAD else (major, minor)
    )


def creates_stopped(version: str) -> bool:
    """Whether `initial_state` is understood on create (KIP-980, Kafka 3.7)."""
    known = kafka_version(version)
    return known is not None and known >= (3, 7)
