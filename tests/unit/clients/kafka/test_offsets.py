from collections.abc import Iterator

import pytest

from chalicelib.clients.http.addresses import AddressPolicy
from chalicelib.clients.kafka import offsets
from chalicelib.clients.kafka.client import Kafka
from chalicelib.domain.addresses import KafkaAddress
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.monitoring.offsets import GroupOffsets, Offsets, PartitionOffsets
from chalicelib.errors import Unavailable
from chalicelib.kit.clock import Deadline
from infra.local.doubles import kafka_codec
from infra.local.doubles.kafka import KafkaDouble

SETUP = {"api_versions": 3, "metadata": 1}
"""What every connection session begins with."""


@pytest.fixture
def double() -> Iterator[KafkaDouble]:
    """A broker with three topics, each read by a group that has committed two of five records."""
    double = KafkaDouble().start()
    for name in ("a", "b", "c"):
        double.state.create_topic(name, partitions=2)
        double.state.advance(name, 5)
        double.state.join_group(f"connect-{name}", [name])
        double.state.commit(f"connect-{name}", name, 0, 2)
    yield double
    double.stop()


def read(double: KafkaDouble, topics: str = "", groups: str = "abc") -> Offsets:
    endpoint = OpenedEndpoint.unsaved(KafkaAddress(bootstrap_servers=double.address), {})
    kafka = Kafka(endpoint, check_host=AddressPolicy(allow_loopback=True))
    return kafka.offsets(list(topics), {f"connect-{name}": [name] for name in groups}, Deadline.after(10))


PARTITIONS = {0: PartitionOffsets(beginning=0, end=5), 1: PartitionOffsets(beginning=0, end=0)}


def group(name: str) -> GroupOffsets:
    return GroupOffsets(state="Stable", members=1, committed={name: {0: 2}})


def test_a_topic_that_may_not_be_described_is_null_and_the_others_are_read(double: KafkaDouble) -> None:
    double.state.denied.add("b")
    assert read(double, "abc").topics == {"a": PARTITIONS, "b": None, "c": PARTITIONS}


def test_a_group_that_may_not_be_described_is_null_and_the_others_are_read(double: KafkaDouble) -> None:
    double.state.denied.add("connect-a")
    assert read(double).groups == {"connect-a": None, "connect-b": group("b"), "connect-c": group("c")}


def test_a_topic_is_null_while_one_of_its_partitions_has_no_leader(double: KafkaDouble) -> None:
    double.state.leaderless.add("c")
    assert read(double, "abc").topics == {"a": PARTITIONS, "b": PARTITIONS, "c": None}


def test_a_group_that_rebalances_says_so(double: KafkaDouble) -> None:
    double.state.rebalance("connect-a")
    found = read(double).groups["connect-a"]
    assert found is not None
    assert found.state == "PreparingRebalance"


def test_many_topics_and_groups_take_as_many_requests_as_one(double: KafkaDouble) -> None:
    def requests(groups: str) -> dict[str, int]:
        double.calls.clear()
        read(double, groups, groups)
        return dict(double.calls)

    assert (
        requests("abc")
        == requests("a")
        == SETUP
        | {
            "metadata": 2,
            "list_offsets": 2,
            "find_coordinator": 1,
            "offset_fetch": 1,
            "describe_groups": 1,
        }
    )


def test_without_groups_nothing_is_asked_about_groups(double: KafkaDouble) -> None:
    read(double, "abc", "")
    assert dict(double.calls) == SETUP | {"metadata": 2, "list_offsets": 1}


def test_brokers_that_answer_for_one_group_at_a_time_are_asked_for_each(
    double: KafkaDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = read(double)
    for api, highest in {"find_coordinator": 3, "offset_fetch": 7}.items():
        monkeypatch.setitem(kafka_codec.HIGHEST, api, highest)
    kafka_codec.apis.cache_clear()
    double.calls.clear()
    assert read(double) == new
    assert (double.calls["find_coordinator"], double.calls["offset_fetch"]) == (3, 3)
    monkeypatch.undo()
    kafka_codec.apis.cache_clear()


@pytest.mark.parametrize(
    ("bound", "topics", "groups"),
    [
        ("MAX_TOPICS", {"a": PARTITIONS, "b": PARTITIONS, "c": None}, "abc"),
        ("MAX_PARTITIONS", {"a": PARTITIONS, "b": None, "c": None}, "abc"),
        ("MAX_GROUPS", dict.fromkeys("abc", PARTITIONS), "ab"),
    ],
)
def test_what_comes_behind_a_bound_is_null(
    double: KafkaDouble,
    monkeypatch: pytest.MonkeyPatch,
    bound: str,
    topics: dict[str, dict[int, PartitionOffsets] | None],
    groups: str,
) -> None:
    monkeypatch.setattr(offsets, bound, 2 if bound != "MAX_PARTITIONS" else 3)
    found = read(double)
    assert found.topics == topics
    assert [group for group, seen in found.groups.items() if seen] == [f"connect-{name}" for name in groups]


def test_what_one_api_does_not_answer_is_null(double: KafkaDouble) -> None:
    double.break_next("describe_groups")
    found = read(double, "", "a")
    assert found.groups == {"connect-a": GroupOffsets(committed={"a": {0: 2}})}
    assert found.topics == {"a": PARTITIONS}


def test_brokers_that_do_not_answer_are_unavailable(double: KafkaDouble) -> None:
    double.refuse()
    with pytest.raises(Unavailable):
        read(double)
