"""Histories in the store: one conditional write for each part and minute, few rows for a day, and none that is full."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.domain.monitoring.history import Grain, HistoryKind, Sample, Series, Span, packed
from chalicelib.kit.clock import Deadline
from chalicelib.kit.ids import id_from
from chalicelib.stores.monitoring.histories import PARTS, HistoryRow, HistoryStore
from tests.support.apps.call_interceptor import CallInterceptor
from tests.support.apps.tables import Tables

NOW = datetime(2026, 1, 31, 12, 30, tzinfo=UTC)
SERIES, LOG = Series(HistoryKind.METRICS, id_from("cluster")), Series(HistoryKind.LOG, id_from("source"))
MEMBER = id_from("0")
HOUR = timedelta(hours=1)


@pytest.fixture
def store(tables: Tables) -> HistoryStore:
    return HistoryStore()


def members(count: int, sample: Sample = (5, 1000)) -> dict[str, Sample]:
    return {id_from(str(number)): sample for number in range(count)}


def read(
    store: HistoryStore, span: timedelta = HOUR, *, now: datetime = NOW, until: datetime = NOW, member: str = MEMBER
) -> Mapping[datetime, Sample]:
    chosen = Span.of(until - span, until, now)
    return {chosen.grain.time(number): sample for number, sample in store.read(SERIES, member, chosen, now).items()}


@pytest.mark.parametrize("count", [1, 100, 101, 800, 801, 2_000])
def test_each_member_is_found_whatever_their_number_is(store: HistoryStore, count: int) -> None:
    at = NOW - timedelta(minutes=5)
    store.add(SERIES, at, {id_from(str(number)): (number, None) for number in range(count)})
    for number in {0, count // 2, count - 1}:
        assert read(store, member=id_from(str(number))) == {at: (number, None)}


@pytest.mark.parametrize(("count", "parts"), [(100, 1), (800, 8), (3_000, 64)])
def test_a_minute_is_one_write_for_each_part(
    store: HistoryStore, interceptor: CallInterceptor, count: int, parts: int
) -> None:
    interceptor.watch()
    store.add(SERIES, NOW, members(count))
    assert [point.operation for point in interceptor.unwatch()] == ["UpdateItem"] * parts


def test_the_first_samples_of_a_minute_stay(store: HistoryStore) -> None:
    at = NOW - timedelta(minutes=1)
    store.add(SERIES, at, members(1, (1, 1)))
    store.add(SERIES, at, members(1, (2, 2)))
    assert read(store) == {at: (1, 1)}


def test_members_that_become_more_within_an_hour_lose_nothing(store: HistoryStore) -> None:
    times = [NOW - timedelta(minutes=minute) for minute in (9, 8, 7)]
    for at, count in zip(times, (100, 101, 801), strict=True):
        store.add(SERIES, at, members(count))
    assert sorted(read(store)) == times
    store.sum_up(SERIES, Grain.HOUR.floor(NOW), Deadline.after(20))
    later = NOW + timedelta(days=3)
    assert read(store, timedelta(days=4), now=later, until=later) == {Grain.HOUR.floor(NOW): (5, 1000)}


def test_a_day_of_a_member_is_read_in_one_call(store: HistoryStore, interceptor: CallInterceptor) -> None:
    interceptor.watch()
    read(store, timedelta(hours=24))
    assert [point.operation for point in interceptor.unwatch()] == ["BatchGetItem"]
    interceptor.watch()
    read(store, timedelta(days=400))
    assert len(interceptor.unwatch()) <= 3


def test_an_hour_is_summed_up_once_and_outlives_its_minutes(store: HistoryStore) -> None:
    hour = Grain.HOUR.floor(NOW)
    for minute, lag in ((1, 4), (2, 9), (3, 6)):
        store.add(SERIES, hour + timedelta(minutes=minute), members(2, (lag, lag * 1000)))
    store.sum_up(SERIES, hour, Deadline.after(20))
    store.add(SERIES, hour + timedelta(minutes=4), members(2, (99, 0)))
    store.sum_up(SERIES, hour, Deadline.after(20))
    for after, expected in ((timedelta(days=20), {hour: (9, 6333)}), (timedelta(days=410), {})):
        later = NOW + after
        assert read(store, timedelta(days=21), now=later, until=NOW + timedelta(days=20)) == expected


def test_minutes_are_shown_for_fourteen_days(store: HistoryStore) -> None:
    store.add(SERIES, NOW - timedelta(minutes=1), members(1))
    for days, count in ((13.9, 1), (15, 0)):
        chosen = Span(Grain.MINUTE, Grain.MINUTE.number(NOW) - 60, 60, 1)
        assert len(store.read(SERIES, MEMBER, chosen, NOW + timedelta(days=days))) == count


def test_a_series_has_its_own_rows(store: HistoryStore) -> None:
    store.add(LOG, NOW - timedelta(minutes=1), {MEMBER: (7, 8)})
    assert read(store) == {}


def test_a_minute_of_another_release_is_one_minutes_matter(store: HistoryStore) -> None:
    times = [NOW - timedelta(minutes=minute) for minute in (3, 2, 1)]
    for at in times:
        store.add(SERIES, at, members(1))
    (row,) = HistoryRow.query(SERIES.key)
    row.update([getattr(HistoryRow, f"s{times[1].minute:03}").set(b"\xff of a newer release")])
    assert sorted(read(store)) == [times[0], times[2]]


@pytest.mark.parametrize("grain", Grain)
def test_a_row_of_a_large_cluster_has_room(grain: Grain) -> None:
    largest = packed(members(10_000 // PARTS[HistoryKind.METRICS][-1] * 5 // 4, (2**47, 2**41)))
    assert HistoryRow.s000.attr_type == "B"
    assert grain.columns * (len(largest) + len("s000")) < 400_000
