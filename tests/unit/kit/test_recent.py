"""A result that is shown again for some seconds."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from chalicelib.kit.recent import Recent

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


def numbers() -> Callable[[], int]:
    counter = count(1)
    return lambda: next(counter)


@pytest.mark.parametrize(("seconds", "result"), [(4.9, 1), (5, 2), (-1, 2)])
def test_a_result_is_shown_again_for_five_seconds_unless_the_clock_was_set_back(seconds: float, result: int) -> None:
    clock, compute = Clock(), numbers()
    recent = Recent[int](timedelta(seconds=5), clock)
    assert recent.get(compute) == 1
    clock.now += timedelta(seconds=seconds)
    assert recent.get(compute) == result


def test_callers_at_the_same_time_share_one_result() -> None:
    recent, compute = Recent[int](timedelta(seconds=5), Clock()), numbers()
    with ThreadPoolExecutor(20) as callers:
        assert set(callers.map(lambda _: recent.get(compute), range(100))) == {1}


def test_an_error_is_not_kept() -> None:
    recent = Recent[int](timedelta(seconds=5), Clock())

    def fail() -> int:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        recent.get(fail)
    assert recent.get(lambda: 3) == 3
