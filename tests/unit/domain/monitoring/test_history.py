"""Samples are packed and found again, and become at most 500 points that show the worst, the least or the mean."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.monitoring.history import (
    MAX_POINTS,
    MAX_SPAN,
    NOTHING,
    Grain,
    HistoryKind,
    Sample,
    Series,
    Span,
    is_summed_up,
    metric_sample,
    packed,
    per_second,
    repacked,
    sample_of,
    summary,
    unpacked,
)
from chalicelib.kit.ids import id_from

NOW = datetime(2026, 1, 31, 12, 34, 56, tzinfo=UTC)
MINUTE, HOUR = Grain.MINUTE, Grain.HOUR
METRICS, LOG = HistoryKind.METRICS, HistoryKind.LOG
A, B = id_from("a"), id_from("b")

numbers = st.none() | st.integers(0, 2**60)


@given(st.dictionaries(st.uuids(version=4).map(str), st.tuples(numbers, numbers), max_size=40))
def test_what_was_packed_is_found_again(samples: dict[str, Sample]) -> None:
    text = packed(samples)
    beginnings = [member[:8] for member in samples]
    for member, sample in samples.items():
        known = sample if beginnings.count(member[:8]) == 1 else NOTHING
        assert sample_of(member, unpacked(text)) == known
    assert repacked(unpacked(text)) == text


def test_a_quiet_connector_takes_six_bytes_in_a_minute() -> None:
    assert len(packed({A: (0, 0), B: (0, 0)})) == 1 + 2 * 6


def test_two_members_that_cannot_be_told_apart_have_no_samples() -> None:
    twin = A[:-1] + ("0" if A[-1] != "0" else "1")
    samples = unpacked(packed({A: (1, 1), twin: (2, 2), B: (3, 3)}))
    assert [sample_of(member, samples) for member in (A, twin, B)] == [NOTHING, NOTHING, (3, 3)]


def test_a_number_below_zero_counts_as_zero() -> None:
    assert sample_of(A, unpacked(packed({A: (5, -7)}))) == (5, 0)


@pytest.mark.parametrize("text", [b"", b"\x02abcd\x01\x01", packed({A: (1, 2**40)})[:-1]])
def test_what_this_release_has_not_packed_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match="samples"):
        unpacked(text)


@pytest.mark.parametrize(
    ("kind", "samples", "expected"),
    [
        (METRICS, [(1, 1000), (9, 3000), (4, None)], (9, 2000)), (METRICS, [(None, None), (None, 5)], (None, 5)),
        (LOG, [(100, 50), (300, 70), (200, 10)], (300, 10)), (LOG, [(1, None)], (1, None)), (LOG, [], NOTHING),
    ],
)  # fmt: skip
def test_several_samples_become_one(kind: HistoryKind, samples: list[Sample], expected: Sample) -> None:
    assert kind.combined(samples) == expected


def test_an_hour_is_what_its_minutes_become() -> None:
    texts = [packed({A: (1, 1000), B: (7, None)}), packed({A: (5, 3000)})]
    hour = summary(METRICS, texts)
    assert [sample_of(member, hour) for member in (A, B)] == [(5, 2000), (7, None)]


def test_a_throughput_keeps_a_record_in_a_thousand_seconds() -> None:
    assert [per_second(metric_sample(None, value)[1]) for value in (None, 0.0, 0.001, 12.3456)] == [
        None, 0.0, 0.001, 12.346,
    ]  # fmt: skip


def test_a_day_is_shown_by_points_of_three_minutes() -> None:
    span = Span.of(NOW - timedelta(hours=24), NOW, NOW)
    assert (span.grain, span.width, span.points) == (MINUTE, 3, 481)
    assert span.times[0] == MINUTE.floor(NOW - timedelta(hours=24))
    assert len(span.rows) <= 26


@pytest.mark.parametrize(
    ("since", "until", "grain", "rows"),
    [
        (timedelta(days=2), timedelta(0), MINUTE, 50), (timedelta(days=2, seconds=1), timedelta(0), HOUR, 2),
        (MAX_SPAN, timedelta(0), HOUR, 85), (timedelta(days=15), timedelta(days=14), HOUR, 2),
        (timedelta(seconds=1), timedelta(0), MINUTE, 1),
    ],
)  # fmt: skip
def test_every_span_has_few_points_and_rows(since: timedelta, until: timedelta, grain: Grain, rows: int) -> None:
    span = Span.of(NOW - since, NOW - until, NOW)
    assert span.grain is grain
    assert 1 <= span.points <= MAX_POINTS
    assert len(span.rows) <= rows
    assert span.times[0] <= NOW - since
    assert span.times[-1] < NOW - until <= span.times[-1] + span.width * grain.step


def test_a_point_without_samples_is_null_and_the_others_are_where_they_belong() -> None:
    span = Span(MINUTE, 100, 3, 2)
    samples: dict[int, Sample] = {100: (1, 1000), 101: (3, 2000), 105: (8, None)}
    assert list(span.combined(METRICS, samples)) == [(3, 1500), NOTHING, (8, None)]


def test_each_hour_is_summed_up_twice_and_not_that_of_every_series_at_once() -> None:
    series = [Series(LOG, id_from(str(number))) for number in range(50)]
    minutes = [[minute for minute in range(60) if is_summed_up(one, NOW.replace(minute=minute))] for one in series]
    assert {len(found) for found in minutes} == {2}
    assert len({found[0] for found in minutes}) > 10
