"""A result of the last seconds, kept in the memory of this process."""

from collections.abc import Callable
from datetime import datetime, timedelta
from threading import Lock
from typing import Generic, TypeVar

from chalicelib.kit.clock import Clock

T = TypeVar("T")


class Recent(Generic[T]):
    """Computes a result, and shows it again for some seconds, whoever asks and however often.

    Threads that come meanwhile wait for it. An error is raised to its caller and not kept.
    """

    def __init__(self, lasts: timedelta, clock: Clock) -> None:
        self._lasts, self._clock, self._lock = lasts, clock, Lock()
        self._kept: tuple[T, datetime] | None = None

    def get(self, compute: Callable[[], T]) -> T:
        """The result of the last seconds, or a new one."""
        with self._lock:
            now = self._clock()
            # Of a time that has not come yet: the clock was set back.
            if self._kept is None or not timedelta(0) <= now - self._kept[1] < self._lasts:
                self._kept = (compute(), now)
            return self._kept[0]
