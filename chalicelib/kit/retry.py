"""Calls again what has failed for a moment."""

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from chalicelib.kit.clock import Deadline
from chalicelib.kit.randomness import jitter

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """At most `attempts` calls, with random pauses: the first of at most `first_pause` seconds, each later one of up to
    twice as long, none longer than `longest_pause`. `sleep` is `time.sleep` unless given.
    """

    attempts: int
    first_pause: float = 0.05
    longest_pause: float = 0.5
    sleep: Callable[[float], None] | None = None

    def run(
        self,
        call: Callable[[int], T],
        *,
        on: type[Exception] | tuple[type[Exception], ...],
        deadline: Deadline | None = None,
    ) -> T:
        """The result of `call`, which gets the number of its attempt from 0 and is repeated when it raises one of `on`.

        Raises the error of the last attempt, which is also the one behind which no pause ends before the deadline.
        """
        for attempt in itertools.count():
            try:
                return call(attempt)
            except on:
                # The bound before the random number: otherwise all late pauses would be as long as each other.
                pause = jitter(min(self.longest_pause, self.first_pause * 2**attempt), 0)
                last = attempt + 1 >= self.attempts
                if last or (deadline is not None and deadline.remaining() <= pause):
                    raise
            (self.sleep or time.sleep)(pause)
        raise AssertionError("unreachable")


def at_once(attempts: int) -> Retry:
    """Without pauses, for what starts again from newer data when another writer was faster."""
    return Retry(attempts=attempts, first_pause=0, sleep=lambda _seconds: None)
