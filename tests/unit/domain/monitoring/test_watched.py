"""What is measured of a connector, and what the brokers' answer means for it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.domain.delivery import Delivery, DeliveryOptions, Mapping
from chalicelib.domain.monitoring.offsets import GroupOffsets, Offsets, PartitionOffsets
from chalicelib.domain.monitoring.watched import (
    ProgressFacts,
    Watched,
    progress_facts,
    watched_delivery,
    watched_pipeline,
)
from chalicelib.domain.pipeline import Capture, CaptureOptions, Pipeline, SnapshotMode
from chalicelib.domain.table import TableName

AT = datetime(2026, 1, 31, 12, tzinfo=UTC)
PIPELINE = Pipeline(
    id="00000000-0000-0000-0000-000000000001",
    name="p",
    source_id="s",
    stream_cluster_id="k",
    connect_cluster_id="c",
    capture=Capture(topic_prefix="shop", tables=(TableName("public", "orders"), TableName("public", "lines"))),
    created_at=AT,
    updated_at=AT,
)
ORDERS, LINES, HEARTBEAT = "shop.public.orders", "shop.public.lines", "shop.headgate-heartbeat"
SINK = watched_delivery(
    Delivery(
        id="00000000-0000-0000-0000-000000000002",
        name="d",
        destination_id="d",
        pipeline_id=PIPELINE.id,
        connect_cluster_id="c",
        mappings=tuple(Mapping(topic=topic, schema_name="public", table_name="t") for topic in (ORDERS, LINES)),
        options=DeliveryOptions(),
        created_at=AT,
        updated_at=AT,
    )
)


def source(snapshot_mode: SnapshotMode = SnapshotMode.INITIAL, heartbeat: int | None = None) -> Watched:
    options = CaptureOptions(heartbeat_interval_ms=heartbeat)
    return watched_pipeline(
        replace(PIPELINE, capture=replace(PIPELINE.capture, snapshot_mode=snapshot_mode, options=options))
    )


def topic(end: int, beginning: int = 0, partitions: int = 1) -> dict[int, PartitionOffsets]:
    return {number: PartitionOffsets(beginning=beginning, end=end) for number in range(partitions)}


def sink_facts(committed: dict[int, int], *, end: int = 10, beginning: int = 0, state: str = "Stable") -> ProgressFacts:
    members = 1 if state == "Stable" else 0
    group = GroupOffsets(state=state, members=members, committed={ORDERS: committed})
    found = progress_facts(SINK, Offsets(topics={ORDERS: topic(end, beginning)}, groups={SINK.group: group}))
    assert found
    return found


@pytest.mark.parametrize(("heartbeat", "seconds"), [(None, 30), (5_000, 30), (60_000, 180)])
def test_a_capture_may_be_quiet_for_three_heartbeats_and_for_half_a_minute(heartbeat: int | None, seconds: int) -> None:
    assert source(heartbeat=heartbeat).quiet == timedelta(seconds=seconds)


def test_a_capture_moves_with_its_data_and_with_its_heartbeats() -> None:
    offsets = Offsets(topics={ORDERS: topic(5, partitions=2), HEARTBEAT: topic(7)})
    assert progress_facts(source(), offsets) == ProgressFacts(position=17, records=10, end=10)


def test_a_capture_has_not_begun_before_its_first_heartbeat() -> None:
    found = progress_facts(source(), Offsets(topics={ORDERS: topic(5)}))
    assert found == ProgressFacts(position=5, records=5, end=5, begun=False)


@pytest.mark.parametrize("watched", [source(heartbeat=0), source(SnapshotMode.INITIAL_ONLY)])
def test_a_capture_without_heartbeats_says_that_its_standstill_is_not_known(watched: Watched) -> None:
    assert watched.notice


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
        (source(), Offsets(topics={ORDERS: None, HEARTBEAT: topic(1)})),
        (source(), Offsets(topics={ORDERS: topic(1), HEARTBEAT: None})),
        (SINK, Offsets(topics={ORDERS: topic(1)}, groups={SINK.group: None})),
    ],
)
def test_what_cannot_be_read_completely_is_not_measured(watched: Watched, offsets: Offsets) -> None:
    assert progress_facts(watched, offsets) is None
