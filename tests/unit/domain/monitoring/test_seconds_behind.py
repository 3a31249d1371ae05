"""How far behind a delivery is in seconds, computed from the ends of its partitions at former measurements."""

from bisect import bisect_right
from datetime import UTC, datetime, timedelta
from itertools import accumulate, repeat

import pytest

from chalicelib.domain.monitoring.seconds_behind import (
    MAX_ENDS,
    MAX_PARTITIONS,
    PartitionBacklog,
    WaitingPartition,
    seconds_behind,
    waiting_partitions,
)

START = datetime(2026, 1, 31, 12, tzinfo=UTC)
PERIOD = 30
Waiting = tuple[WaitingPartition, ...]


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def looked(before: Waiting | None, second: int, *backlogs: tuple[int, int], period: int = PERIOD) -> Waiting:
    """After a look at the partitions 0, 1, ... of a topic, each with its next offset and its end."""
    waiting = {("t", i): PartitionBacklog(*backlog) for i, backlog in enumerate(backlogs) if backlog[1] > backlog[0]}
    return waiting_partitions(before, waiting, at(second - period), at(second))


def behind(waiting: Waiting | None, second: int) -> int | None:
    return seconds_behind(waiting, at(second))


def test_nothing_waits_where_everything_is_delivered() -> None:
    assert behind(looked((), 30, (10, 10)), 30) == 0


def test_what_waits_now_and_did_not_at_the_last_look_was_written_since() -> None:
    assert behind(looked((), 30, (10, 15)), 30) == PERIOD


def test_what_waits_at_the_first_measurement_may_be_of_any_age_until_it_is_delivered() -> None:
    first = looked(None, 0, (10, 100))
    later = looked(first, 30, (99, 130))
    delivered = looked(later, 60, (115, 160))
    assert [behind(first, 0), behind(later, 30), behind(delivered, 60)] == [None, None, 45]


def test_nothing_waits_at_a_first_measurement_that_finds_nothing() -> None:
    assert behind(looked(None, 0, (10, 10)), 0) == 0


def test_what_was_delivered_once_and_is_delivered_again_may_be_of_any_age() -> None:
    waiting = looked((), 30, (100, 110))
    assert behind(looked(waiting, 60, (5, 110)), 60) is None


def test_a_topic_that_was_made_again_begins_anew() -> None:
    waiting = looked((), 30, (100, 110))
    assert behind(looked(waiting, 60, (0, 20)), 60) is None


def test_a_capture_is_not_behind() -> None:
    assert seconds_behind(None, START) is None


@pytest.mark.parametrize("sink", [8, 10, 12], ids=["falls behind", "keeps its distance", "catches up"])
@pytest.mark.parametrize("bursts", [False, True])
def test_it_is_right_to_a_look_or_a_third_of_the_time_that_it_waits(sink: int, bursts: bool) -> None:
    """A source writes ten records a second, or those of a minute at its end; a sink starts ten minutes later."""
    second_of = [second // 60 * 60 + 59 if bursts else second for second in range(7_200) for _ in range(10)]
    waiting: Waiting = ()
    for second in range(PERIOD, 7_200, PERIOD):
        end = bisect_right(second_of, second)
        offset = min(end, max(0, second - 600) * sink)
        waiting = looked(waiting, second, (offset, end))
        real = second - second_of[offset] if offset < end else 0
        found = behind(waiting, second)
        assert found is not None
        assert abs(found - real) <= max(2 * PERIOD, real / 3), (second, found, real)


def test_a_delivery_that_stands_still_gets_further_behind_and_nothing_new_is_remembered() -> None:
    waiting = looked((), 30, (10, 15))
    for second in (60, 90, 3_600):
        again = looked(waiting, second, (10, 15))
        assert (again, behind(again, second)) == (waiting, second)


def test_a_record_that_comes_after_a_long_silence_is_as_old_as_it_is() -> None:
    waiting = looked((), 30, (10, 11))
    for second in range(60, 7_200, PERIOD):
        waiting = looked(waiting, second, (10, 11))
    waiting = looked(waiting, 7_200, (10, 12))
    assert behind(looked(waiting, 7_230, (11, 12)), 7_230) == 2 * PERIOD


def test_of_several_partitions_the_one_counts_that_is_furthest_behind() -> None:
    waiting = looked((), 30, (10, 15), (7, 7))
    for second in (60, 90):
        waiting = looked(waiting, second, (10, 15), (second * 9, second * 10))
    assert behind(waiting, 90) == 90


def test_the_partitions_with_most_waiting_records_are_followed_and_stay() -> None:
    waiting = looked((), 30, *((0, records) for records in range(1, 10)))
    largest = [partition.partition for partition in waiting]
    assert largest == [5, 6, 7, 8]
    again = looked(waiting, 60, *((0, 100) for _ in range(9)))
    assert [partition.partition for partition in again] == largest


def test_what_is_remembered_is_bounded_however_long_a_delivery_stands_still() -> None:
    ends, waiting = accumulate(repeat(7)), ()
    for second, end in zip(range(PERIOD, 100_000, PERIOD), ends, strict=False):
        waiting = looked(waiting, second, *((0, end) for _ in range(9)))
        assert len(waiting) <= MAX_PARTITIONS
        assert max(len(partition.ends) for partition in waiting) <= MAX_ENDS
    assert behind(waiting, second) == second
