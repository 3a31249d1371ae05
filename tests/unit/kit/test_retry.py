from collections.abc import Callable

import pytest

from chalicelib.kit.clock import Deadline
from chalicelib.kit.retry import Retry, at_once


def failing(times: int, error: type[Exception] = ConnectionError) -> tuple[Callable[[int], int], list[int]]:
    """A call that fails so many times, and the numbers of its attempts."""
    attempts: list[int] = []

    def call(attempt: int) -> int:
        attempts.append(attempt)
        if len(attempts) <= times:
            raise error(f"attempt {attempt}")
        return attempt

    return call, attempts


def test_what_fails_is_called_again_until_it_succeeds() -> None:
    call, attempts = failing(2)
    assert at_once(4).run(call, on=ConnectionError) == 2
    assert attempts == [0, 1, 2]


def test_the_error_of_the_last_attempt_is_raised() -> None:
    call, attempts = failing(9)
    with pytest.raises(ConnectionError, match="attempt 2"):
        at_once(3).run(call, on=(ConnectionError, TimeoutError))
    assert attempts == [0, 1, 2]


def test_another_error_is_raised_at_once() -> None:
    call, attempts = failing(9, KeyError)
    with pytest.raises(KeyError):
        at_once(3).run(call, on=ConnectionError)
    assert attempts == [0]


def test_pauses_are_random_grow_and_are_bounded() -> None:
    pauses: list[float] = []
    call, _ = failing(40)
    Retry(attempts=50, first_pause=0.1, longest_pause=0.4, sleep=pauses.append).run(call, on=ConnectionError)
    assert len(set(pauses)) == len(pauses) == 40
    assert all(pause <= min(0.4, 0.1 * 2**attempt) for attempt, pause in enumerate(pauses))


def test_no_pause_is_begun_that_would_end_behind_the_deadline() -> None:
    pauses: list[float] = []
    call, attempts = failing(9)
    with pytest.raises(ConnectionError):
        Retry(attempts=9, sleep=pauses.append).run(call, on=ConnectionError, deadline=Deadline.after(0))
    assert (attempts, pauses) == ([0], [])
