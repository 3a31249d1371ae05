"""Calls to DynamoDB and to Kafka Connect pass a `CallInterceptor`: tests count them, or make one of them fail."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeVar

T = TypeVar("T")


class Crash(BaseException):
    """The process ends here. Not an Exception, so that no handler of the product catches it."""


class Side(Enum):
    """The server that is called."""

    STORE = "store"
    CONNECT = "connect"


@dataclass(frozen=True, kw_only=True)
class Point:
    """One call. `number` counts all calls from 0, `number_on_side` those to the same side.

    `operation` is DynamoDB's name of the action, or method and path of an HTTP request.
    """

    number: int
    number_on_side: int
    side: Side
    operation: str
    writes: bool

    def __str__(self) -> str:
        return f"#{self.number} {self.side.value} {self.operation}"


InterceptedCall = Callable[[], object]
FailureMode = Callable[[Point, InterceptedCall], object]
"""Runs instead of a call; it may make the call itself, before or after the failure."""


@dataclass
class CallInterceptor:
    """Records the calls of one thread. Calls of other threads, and all calls while nobody watches, pass unchanged."""

    _points: list[Point] = field(default_factory=list)
    _thread: int | None = None
    _failure_mode: FailureMode | None = None

    def watch(self, failure_mode: FailureMode | None = None) -> None:
        """Start to record the calls of this thread, and to run `failure_mode` instead of each."""
        self._points, self._failure_mode, self._thread = [], failure_mode, threading.get_ident()

    def unwatch(self) -> list[Point]:
        """Stop recording. Returns the recorded calls."""
        self._thread = self._failure_mode = None
        return self._points

    def intercept(self, side: Side, operation: str, *, writes: bool, call: Callable[[], T]) -> T:
        """Make the call, or run the failure mode instead."""
        if threading.get_ident() != self._thread:
            return call()
        number_on_side = sum(point.side is side for point in self._points)
        point = Point(
            number=len(self._points), number_on_side=number_on_side, side=side, operation=operation, writes=writes
        )
        self._points.append(point)
        return call() if self._failure_mode is None else self._failure_mode(point, call)  # type: ignore[return-value]
