"""What is measured of a connector, and what the brokers' answer means for it."""

from datetime import timedelta

import pytest

from chalicelib.domain.monitoring.offsets import GroupOffsets, Offsets, PartitionOffsets
from chalicelib.domain.monitoring.watched_connector import (
    ProgressFacts,
    WatchedConnector,
    progress_facts,
)
from chalicelib.domain.names import ConnectorKind

ORDERS, LINES, HEARTBEAT = "shop.public.orders", "shop.public.lines", "shop.headgate-heartbeat"
SOURCE = WatchedConnector(
    connector="source",
    kind=ConnectorKind.SOURCE,
    topics=(ORDERS, LINES),
    heartbeat_topic=HEARTBEAT,
    quiet=timedelta(seconds=30),
)
SINK = WatchedConnector(connector="sink", kind=ConnectorKind.SINK, topics=(ORDERS, LINES), quiet=timedelta(seconds=180))


def topic(end: int, beginning: int = 0, partitions: int = 1) -> dict[int, PartitionOffsets]:
    return {number: PartitionOffsets(beginning=beginning, end=end) for number in range(partitions)}


def sink_facts(committed: dict[int, int], *, end: int = 10, beginning: int = 0, state: str = "Stable") -> ProgressFacts:
    members = 1 if state == "Stable" else 0
    group = GroupOffsets(state=state, members=members, committed={ORDERS: committed})
    found = progress_facts(SINK, Offsets(topics={ORDERS: topic(end, beginning)}, groups={SINK.group: group}))
    assert found
    return found


def test_a_capture_moves_with_its_data_and_with_its_heartbeats() -> None:
    offsets = Offsets(topics={ORDERS: topic(5, partitions=2), HEARTBEAT: topic(7)})
    assert progress_facts(SOURCE, offsets) == ProgressFacts(position=17, records=10, end=10)


def test_a_capture_has_not_begun_before_its_first_heartbeat() -> None:
    found = progress_facts(SOURCE, Offsets(topics={ORDERS: topic(5)}))
    assert found == ProgressFacts(position=5, records=5, end=5, begun=False)


def test_a_sink_lags_by_what_it_has_not_committed() -> None:
    found = sink_facts({0: 4})
    assert (found.lag, found.position, found.records, found.behind, found.lost) == (6, 4, 4, True, 0)


def test_a_partition_that_was_never_committed_counts_from_its_beginning() -> None:
    found = sink_facts({}, beginning=3)
    assert (found.lag, found.position, found.records, found.lost) == (7, 0, 3, 0)


def test_one_record_of_each_partition_proves_nothing() -> None:
    assert (sink_facts({0: 9}).lag, sink_facts({0: 9}).behind) == (1, False)


def test_records_that_were_removed_before_they_were_delivered_are_lost() -> None:
    assert sink_facts({0: 4}, beginning=8).lost == 4


def test_the_mark_of_a_transaction_is_not_lost() -> None:
    assert sink_facts({0: 9}, beginning=10).lost == 0


@pytest.mark.parametrize(("state", "members"), [("Stable", 1), ("Empty", 0), ("Dead", None)])
def test_a_group_has_no_member_only_when_it_says_so(state: str, members: int | None) -> None:
    assert sink_facts({}, state=state).members == members


@pytest.mark.parametrize(
    ("watched", "offsets"),
    [
        (SOURCE, Offsets(topics={ORDERS: None, HEARTBEAT: topic(1)})),
        (SOURCE, Offsets(topics={ORDERS: topic(1), HEARTBEAT: None})),
        (SINK, Offsets(topics={ORDERS: topic(1)}, groups={SINK.group: None})),
    ],
)
def test_what_cannot_be_read_completely_is_not_measured(watched: WatchedConnector, offsets: Offsets) -> None:
    assert progress_facts(watched, offsets) is None
