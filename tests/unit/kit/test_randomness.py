"""Random pauses, random order."""

import pytest

from chalicelib.kit.randomness import jitter, shuffled


@pytest.mark.parametrize(("attempt", "longest"), [(0, 0.5), (1, 1.0), (4, 8.0)])
def test_a_pause_may_be_twice_as_long_after_each_attempt(attempt: int, longest: float) -> None:
    pauses = [jitter(0.5, attempt) for _ in range(1000)]
    assert all(0 <= pause <= longest for pause in pauses)
    assert max(pauses) > longest / 2


def test_two_callers_wait_for_different_times() -> None:
    assert len({jitter(1, 0) for _ in range(100)}) > 90


def test_shuffling_keeps_all_items() -> None:
    assert sorted(shuffled(range(50))) == list(range(50))
