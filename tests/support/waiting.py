"""Waiting for what happens elsewhere: in another process, or on another thread."""

import time
from collections.abc import Callable
from typing import TypeVar

POLL_SECONDS = 0.1
T = TypeVar("T")


def eventually(look: Callable[[], T], wanted: Callable[[T], bool] = bool, *, seconds: float = 40.0) -> T:
    """Look again and again until what is seen is as wanted, and give that. AssertionError, with the last sight, when
    it is not within so many seconds.
    """
    end = time.monotonic() + seconds
    while not wanted(seen := look()):
        assert time.monotonic() < end, f"not within {seconds} s; last seen: {str(seen)[:2000]}"
        time.sleep(POLL_SECONDS)
    return seen
