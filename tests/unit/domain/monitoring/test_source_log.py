"""How fast the log of a source grows, from one look to the next."""

from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.domain.monitoring.source_log import LogGrowth, grown, seconds_until_lost

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
FIRST = LogGrowth(at=NOW, end=1_000_000, retained_bytes=500, active=False)


def later(seconds: float, *, written: int, retained: int | None = None, active: bool = False) -> LogGrowth:
    """What a look so much later sees; without a reader all that is written is retained."""
    more = written if retained is None else retained
    return LogGrowth(at=NOW + timedelta(seconds=seconds), end=1_000_000 + written, retained_bytes=500 + more,
                     active=active)  # fmt: skip


def test_one_look_measures_no_rate() -> None:
    assert grown(None, FIRST).rate is None


def test_two_looks_measure_what_is_written_a_second() -> None:
    assert grown(FIRST, later(60, written=6_000)).rate == 100


def test_what_a_reader_releases_does_not_grow() -> None:
    read = LogGrowth(at=NOW, end=1_000_000, retained_bytes=500, active=True)
    assert grown(read, later(60, written=6_000, retained=600, active=True)).rate == 10
    assert grown(read, later(60, written=6_000, retained=-100, active=True)).rate == pytest.approx(-100 / 60)


def test_looks_that_are_close_together_are_measured_with_the_next_one() -> None:
    close = grown(FIRST, later(10, written=9_000))
    assert close.rate is None
    assert grown(close, later(60, written=12_000)).rate == 200


NOT_COMPARABLE = {
    "the clock was set back": later(-60, written=6_000),
    "the clock was set forward, or nobody looked for long": later(7200, written=6_000),
    "the log ends earlier than before": later(60, written=-1),
    "the slot begins earlier than before": later(60, written=10, retained=11),
    "no server writes so much": later(60, written=10**13),
}


@pytest.mark.parametrize("other", NOT_COMPARABLE.values(), ids=NOT_COMPARABLE)
def test_the_measurement_begins_anew_where_two_looks_cannot_be_compared(other: LogGrowth) -> None:
    measured = grown(FIRST, later(60, written=6_000))
    again = LogGrowth(at=other.at + timedelta(minutes=1), end=other.end, retained_bytes=other.retained_bytes,
                      active=False)  # fmt: skip
    began = grown(FIRST, other)
    assert began.rate is None
    assert grown(began, again).rate == 0
    assert measured.rate == 100


def test_a_burst_does_not_outlast_itself() -> None:
    burst = grown(FIRST, later(60, written=60_000))
    quiet = grown(burst, later(120, written=60_000))
    assert (burst.rate, quiet.rate) == (1000, 0)
    assert quiet.per_second == 800


def test_the_rate_is_smoothed_while_it_rises() -> None:
    slow = grown(FIRST, later(60, written=6_000))
    assert grown(slow, later(120, written=66_000)).rate == 280


def test_when_the_reader_leaves_the_rate_is_what_is_written_from_then_on() -> None:
    read = grown(LogGrowth(at=NOW, end=1_000_000, retained_bytes=500, active=True),
                 later(60, written=60_000, retained=0, active=True))  # fmt: skip
    assert read.rate == 0
    assert grown(read, later(120, written=120_000, retained=60_000)).rate == 1000


@pytest.mark.parametrize(
    ("safe_bytes", "rate", "seconds"),
    [
        (None, 10.0, None),
        (1000, None, None),
        (1000, 0.0, None),
        (1000, -5.0, None),
        (1000, 10.0, 100),
        (0, None, 0),
        (-5, 10.0, 0),
        (10**12, 0.001, None),
    ],
    ids=["unlimited", "no rate", "not growing", "shrinking", "growing", "nothing left", "past it", "in 30,000 years"],
)
def test_the_time_until_the_loss(safe_bytes: int | None, rate: float | None, seconds: int | None) -> None:
    assert seconds_until_lost(safe_bytes, rate) == seconds
