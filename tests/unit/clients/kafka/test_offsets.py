"""Where topics begin, as brokers answer it. With a broker: tests/contract/kafka/test_broker.py."""

import struct

import pytest

from chalicelib.clients.kafka.messages import NotUnderstood, Reader, text
from chalicelib.clients.kafka.offsets import read_beginnings, read_cleanup_policies

NOT_LEADER = 6


def partition(number: int, error: int, offset: int) -> bytes:
    return struct.pack("!ihqq", number, error, -1, offset)


def test_partitions_that_the_broker_has_no_copy_of_are_left_out() -> None:
    answer = struct.pack("!i", 1) + text("orders") + struct.pack("!i", 2)
    answer += partition(0, 0, 42) + partition(1, NOT_LEADER, -1)
    assert read_beginnings(Reader(answer)) == {("orders", 0): 42}


def test_the_policy_of_a_topic_is_read_beside_synonyms() -> None:
    synonym = text("log.cleanup.policy") + text("delete") + b"\x05"
    config = text("cleanup.policy") + text("compact") + b"\x00\x01\x00" + struct.pack("!i", 1) + synonym
    topic = struct.pack("!hh", 0, -1) + b"\x02" + text("orders") + struct.pack("!i", 1) + config
    assert read_cleanup_policies(Reader(struct.pack("!ii", 0, 1) + topic)) == {"orders": "compact"}


@pytest.mark.parametrize("read", [read_beginnings, read_cleanup_policies])
@pytest.mark.parametrize("answer", [b"", b"\x7f\xff\xff\xff" * 2, b"\x00\x00\x00\x01" * 3])
def test_bytes_that_are_no_answer_are_not_understood(read: object, answer: bytes) -> None:
    with pytest.raises(NotUnderstood):
        read(Reader(answer))  # type: ignore[operator]
