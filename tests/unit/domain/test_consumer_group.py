"""What is said about the lag of a group: a number where all of it is known, and else null."""

import pytest

from chalicelib.domain.consumer_group import ConsumerGroup, GroupPartition


def partition(committed: int | None, end: int | None) -> GroupPartition:
    return GroupPartition(topic="orders", partition=0, committed_offset=committed, end_offset=end)


def group(*partitions: GroupPartition, topics: tuple[str, ...] | None = ("orders",)) -> ConsumerGroup:
    return ConsumerGroup(
        group_id="g", state="Stable", protocol_type="consumer", members=1, topics=topics, offsets=partitions
    )


@pytest.mark.parametrize(
    ("committed", "end", "lag"),
    [(3, 5, 2), (5, 5, 0), (0, 0, 0), (None, 5, None), (3, None, None), (None, None, None)],
)
def test_the_lag_of_a_partition_needs_both_offsets(committed: int | None, end: int | None, lag: int | None) -> None:
    assert partition(committed, end).lag == lag


def test_the_lag_in_a_topic_that_was_made_again_is_not_known() -> None:
    assert partition(7, 5).lag is None


def test_the_total_is_the_sum_when_all_of_it_is_known() -> None:
    assert group(partition(3, 5), partition(5, 5)).total_lag == 2
    assert group(partition(5, 5)).total_lag == 0


@pytest.mark.parametrize(
    "unknown",
    [
        group(partition(3, 5), partition(None, 0)),
        group(partition(3, 5), topics=None),
        group(),
    ],
    ids=["a partition without a committed offset", "partitions that could not be read", "nothing committed"],
)
def test_the_total_is_null_when_a_part_is_not_known(unknown: ConsumerGroup) -> None:
    assert unknown.total_lag is None
