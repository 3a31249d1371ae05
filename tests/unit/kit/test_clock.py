from datetime import UTC, datetime, timedelta, timezone

import pytest

from chalicelib.kit.clock import Deadline, rfc3339, to_milliseconds, utc_now


def test_the_current_time_has_a_zone_and_milliseconds() -> None:
    now = utc_now()
    assert (now.utcoffset(), now.microsecond % 1000) == (timedelta(0), 0)


def test_a_time_is_spelled_in_utc_with_milliseconds_whatever_its_zone() -> None:
    time = datetime(2026, 1, 31, 14, 0, 0, 7_999, tzinfo=timezone(timedelta(hours=2)))
    assert rfc3339(time) == "2026-01-31T12:00:00.007Z"


def test_formatted_times_sort_in_order_of_time() -> None:
    times = [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(milliseconds=step) for step in (0, 9, 10, 99, 999, 1000)]
    assert sorted(map(rfc3339, times)) == list(map(rfc3339, times))


def test_a_stored_time_equals_the_shown_one() -> None:
    time = datetime(2026, 1, 1, 0, 0, 0, 123_456, tzinfo=UTC)
    assert to_milliseconds(time) == datetime.fromisoformat(rfc3339(time))


def test_a_deadline_has_something_left_until_it_has_passed() -> None:
    assert 0 < Deadline.after(60).remaining() <= 60
    assert not Deadline.after(60).passed
    assert (Deadline.after(-1).remaining(), Deadline.after(-1).passed) == (0, True)


def test_a_step_gets_no_more_than_it_asks_for() -> None:
    assert Deadline.after(60).remaining(at_most=2) == 2


@pytest.mark.parametrize(("left", "step"), [(60, 20), (5, 5)])
def test_a_step_has_the_rest_of_the_deadline_up_to_a_bound(left: float, step: float) -> None:
    assert Deadline.after(left).within(20).remaining() == pytest.approx(step, abs=1)
