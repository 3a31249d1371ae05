"""Every call by which Headgate reaches outside passes this gate: there tests count calls, and let one go wrong."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeVar

T = TypeVar("T")


class Crash(BaseException):
    """The process ends here. Not an Exception, so that nothing in the product can live on after it."""


class Side(Enum):
    """Who is called."""

    STORE = "store"
    CONNECT = "connect"


@dataclass(frozen=True, kw_only=True)
class Point:
    """One call: its place in the order of all calls (from 0), whom it goes to, what it asks, and whether it writes.

    `turn` is its place among the calls to the same side.
    """

    number: int
    turn: int
    side: Side
    what: str
    writes: bool

    def __str__(self) -> str:
        return f"#{self.number} {self.side.value} {self.what}"


InterceptedCall = Callable[[], object]
FailureMode = Callable[[Point, InterceptedCall], object]
"""What is done in place of a call; it may make the call, before or after it does its harm."""


@dataclass
class CallInterceptor:
    """Watches the calls of one thread. Calls of other threads, and all calls while nobody watches, pass untouched."""

    _points: list[Point] = field(default_factory=list)
    _thread: int | None = None
    _trouble: FailureMode | None = None
    _met: set[int] = field(default_factory=set)

    def watch(self, failure_mode: FailureMode | None = None) -> None:
        """Begin to count the calls of this thread, and ask `failure_mode` about each."""
        self._points, self._trouble, self._thread = [], failure_mode, threading.get_ident()

    def unwatch(self) -> list[Point]:
        """Let everything pass again; the calls that were seen."""
        self._thread = self._trouble = None
        return self._points

    def passing(self, side: Side, what: str, *, writes: bool, call: Callable[[], T]) -> T:
        """Make the call, or what trouble makes of it."""
        if threading.get_ident() != self._thread:
            return call()
        turn = sum(point.side is side for point in self._points)
        point = Point(number=len(self._points), turn=turn, side=side, what=what, writes=writes)
        self._points.append(point)
        return call() if self._trouble is None else self._trouble(point, call)  # type: ignore[return-value]
