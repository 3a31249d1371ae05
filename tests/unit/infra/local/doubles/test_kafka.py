"""The Kafka double against clients that misbehave, and its faults."""

import contextlib
import socket
import struct
from collections.abc import Iterator

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from infra.local.doubles.kafka import MESSAGE_LIMIT, KafkaDouble
from infra.local.doubles.kafka_codec import KafkaRequest, UnreadableError, read
from infra.local.doubles.kafka_state import BrokerState, Log
from tests.support.waiting import eventually


@pytest.fixture
def double() -> Iterator[KafkaDouble]:
    """A running broker."""
    made = KafkaDouble().start()
    yield made
    made.stop()


@pytest.fixture
def admin(double: KafkaDouble) -> AdminClient:
    """An admin client that gives up soon."""
    return AdminClient({"bootstrap.servers": double.address, "log_level": 0, "socket.timeout.ms": 1000})


def _answer_to(double: KafkaDouble, content: bytes) -> bytes:
    host, _, port = double.address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=10) as client:
        client.sendall(content)
        return client.recv(65536)


@pytest.mark.parametrize(
    "content",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        struct.pack("!i", -1),
        struct.pack("!i", 0),
        struct.pack("!i", MESSAGE_LIMIT + 1),
        struct.pack("!ihhi", 8, 999, 0, 1),
        struct.pack("!ihhi", 8, 3, 99, 1),
        struct.pack("!ihhi", 12, 3, 12, 1) + b"\xff\xff\xff\xff",
        struct.pack("!i", 3) + b"abc",
    ],
)
def test_garbage_closes_the_connection_and_nothing_else(
    double: KafkaDouble, admin: AdminClient, content: bytes
) -> None:
    with contextlib.suppress(ConnectionResetError):
        assert _answer_to(double, content) == b""
    assert admin.list_topics(timeout=10).cluster_id == "headgate-double-cluster"


def test_an_unknown_version_of_api_versions_is_answered_in_version_0(double: KafkaDouble) -> None:
    answer = _answer_to(double, struct.pack("!ihhi", 8, 18, 99, 7))
    assert struct.unpack_from("!iih", answer) == (len(answer) - 4, 7, 35)


def test_a_frame_is_read_with_its_api_and_client() -> None:
    request = read(struct.pack("!hhih", 3, 1, 9, 2) + b"me" + struct.pack("!i", -1))
    assert isinstance(request, KafkaRequest)
    assert (request.api, request.version, request.correlation, request.client) == ("metadata", 1, 9, "me")
    assert request.body.topics is None


def test_a_frame_that_is_cut_short_is_unreadable() -> None:
    with pytest.raises(UnreadableError):
        read(struct.pack("!hhih", 3, 1, 9, 200))


def test_a_broken_call_is_applied_without_answer(double: KafkaDouble, admin: AdminClient) -> None:
    double.break_next("create_topics")
    with pytest.raises(KafkaException):
        admin.create_topics([NewTopic("orders", 1, 1)], request_timeout=2)["orders"].result(10)
    eventually(lambda: "orders" in double.state.topics)


def test_a_frozen_broker_answers_once_it_thaws(double: KafkaDouble, admin: AdminClient) -> None:
    double.freeze()
    with pytest.raises(KafkaException):
        admin.list_topics(timeout=0.5)
    double.thaw()
    assert admin.list_topics(timeout=10).topics == {}


def test_a_broker_that_refused_can_be_reached_again_at_its_address(double: KafkaDouble, admin: AdminClient) -> None:
    admin.list_topics(timeout=10)
    address = double.address
    double.refuse()
    with pytest.raises(KafkaException):
        admin.list_topics(timeout=0.5)
    double.accept()
    assert double.address == address
    assert admin.list_topics(timeout=10).topics == {}


def test_lag_can_be_made_without_records(double: KafkaDouble) -> None:
    double.state.create_topic("orders", 2)
    double.state.advance("orders", 10, partition=1)
    double.state.commit("connect-sink", "orders", 1, 4)
    assert (double.state.end_offset("orders", 0), double.state.end_offset("orders", 1)) == (0, 10)
    assert double.state.groups["connect-sink"].offsets == {("orders", 1): 4}


def test_calls_are_counted_by_api(double: KafkaDouble, admin: AdminClient) -> None:
    admin.describe_cluster(request_timeout=10).result(10)
    eventually(lambda: double.calls["metadata"], lambda count: count >= 1)


@pytest.mark.parametrize("records", [b"short", bytes(100), struct.pack("!qiib", 0, 1000, 0, 2) + bytes(60)])
def test_bytes_that_are_no_record_batch_are_refused(records: bytes) -> None:
    log = Log()
    with pytest.raises(ValueError, match="not a record batch"):
        log.append(records)
    assert log.end == 0


def test_a_group_that_is_left_keeps_its_offsets() -> None:
    state = BrokerState("c")
    state.join_group("g", ["orders"])
    state.commit("g", "orders", 0, 5)
    state.leave_group("g")
    assert (state.groups["g"].state, state.groups["g"].offsets) == ("Empty", {("orders", 0): 5})
    state.delete_offsets("g")
    assert "g" not in state.groups
