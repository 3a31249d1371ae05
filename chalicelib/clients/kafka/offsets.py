"""Messages about where the partitions of topics begin, and whether topics are compacted.

Versions and source: see `messages`.
"""

import struct
from collections.abc import Iterable, Mapping, Sequence

from chalicelib.clients.kafka.messages import MAX_PARTITIONS, Api, Reader, text

LIST_OFFSETS = Api(2, 1)
DESCRIBE_CONFIGS = Api(32, 1)

Partition = tuple[str, int]
"""A topic and the number of one of its partitions."""

COMPACTED = "compact"
"""The policy under which the last record of each key stays."""

_ANY_REPLICA = -2
"""Every broker that has a copy of the partition answers, not only its leader (Kafka: DEBUGGING_REPLICA_ID)."""
_EARLIEST = -2
_TOPIC = 2
_CLEANUP_POLICY = "cleanup.policy"
_MOST_SETTINGS = 1000


def beginnings(partitions: Iterable[Partition]) -> bytes:
    """The body of a request for the first offset of each partition."""
    by_topic: dict[str, list[int]] = {}
    for topic, number in partitions:
        by_topic.setdefault(topic, []).append(number)
    body = struct.pack("!ii", _ANY_REPLICA, len(by_topic))
    for topic, numbers in by_topic.items():
        body += text(topic) + struct.pack("!i", len(numbers))
        body += b"".join(struct.pack("!iq", number, _EARLIEST) for number in numbers)
    return body


def read_beginnings(answer: Reader) -> Mapping[Partition, int]:
    """The first offset of each partition that this broker has. Raises NotUnderstood."""
    found: dict[Partition, int] = {}
    for _ in range(answer.count(MAX_PARTITIONS)):
        topic = answer.text() or ""
        for _ in range(answer.count(MAX_PARTITIONS)):
            number, error = answer.int32(), answer.int16()
            answer.skip(8)  # time
            offset = answer.int64()
            if not error:
                found[topic, number] = offset
    return found


def cleanup_policies(topics: Sequence[str]) -> bytes:
    """The body of a request for what the brokers do with the old records of each topic."""
    resource = struct.pack("!b", _TOPIC)
    asked = struct.pack("!i", 1) + text(_CLEANUP_POLICY)
    return struct.pack("!i", len(topics)) + b"".join(resource + text(topic) + asked for topic in topics) + b"\0"


def read_cleanup_policies(answer: Reader) -> Mapping[str, str]:
    """The policy of each topic whose settings this user may see. Raises NotUnderstood."""
    found: dict[str, str] = {}
    answer.int32()  # time of throttling
    for _ in range(answer.count(MAX_PARTITIONS)):
        answer.int16()  # error
        answer.text()  # its text
        answer.int8()  # kind of resource
        topic = answer.text() or ""
        for _ in range(answer.count(_MOST_SETTINGS)):
            name, value = answer.text(), answer.text()
            answer.skip(3)  # read only, source, sensitive
            for _ in range(answer.count(_MOST_SETTINGS)):
                answer.text()  # name, value and source of a synonym
                answer.text()
                answer.int8()
            if name == _CLEANUP_POLICY:
                found[topic] = value or ""
    return found
