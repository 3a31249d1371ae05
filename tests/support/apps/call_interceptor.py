"""Calls to other systems pass a `CallInterceptor`: tests count them, or make one of them fail."""

import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from typing import Any, Protocol, TypeVar
from unittest.mock import patch

import httpx

T = TypeVar("T")


class Crash(BaseException):
    """The process ends here. Not an Exception, so that no handler of the product catches it."""


class Side(Enum):
    STORE = "store"
    CONNECT = "connect"
    QUEUE = "queue"
    KAFKA = "kafka"
    DATABASE = "database"


class StoreRequest(Protocol):
    """What a failure has to know about a request to the store: see `tests.support.apps.tables`."""

    @property
    def outdated_tables(self) -> Collection[str]:
        """The tables that may be read as they were some time ago."""

    @property
    def divisible(self) -> bool:
        """Whether the store may do only a part of it, and say so."""

    def partly(self) -> object:
        """Do only a part of it."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """One call. `number` counts all calls from 0, `number_on_side` those to the same side.

    `operation` is the name of the action, or method and path of an HTTP request.
    """

    number: int
    number_on_side: int
    side: Side
    operation: str
    writes: bool
    request: StoreRequest | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"#{self.number} {self.side.value} {self.operation}"


InterceptedCall = Callable[[], object]
FailureMode = Callable[[Point, InterceptedCall], object]
"""Runs instead of a call; it may make the call itself, before or after the failure."""


@dataclass
class CallInterceptor:
    """Records the calls of one thread. Calls of other threads, and all calls before `watch`, pass unchanged.

    `before_write` runs before each call of any thread that writes, recorded or not.
    """

    before_write: Callable[[], None] = lambda: None
    _points: list[Point] = field(default_factory=list)
    _thread: int | None = None
    _failure_mode: FailureMode | None = None

    def watch(self, failure_mode: FailureMode | None = None) -> None:
        """Start to record the calls of this thread, and to run `failure_mode` instead of each."""
        self._points, self._failure_mode, self._thread = [], failure_mode, threading.get_ident()

    def before_first_write(self, act: Callable[[], object]) -> None:
        """Start to record. Right before the first call that writes, `act` runs unrecorded: somebody else is faster."""

        def act_first(point: Point, call: InterceptedCall) -> object:
            if point.writes and not any(earlier.writes for earlier in self._points[: point.number]):
                with self.unrecorded():
                    act()
            return call()

        self.watch(act_first)

    def unwatch(self) -> list[Point]:
        """Stop recording. Returns the recorded calls."""
        self._thread = self._failure_mode = None
        return self._points

    @contextmanager
    def unrecorded(self) -> Iterator[None]:
        """Calls inside the block pass unchanged, also those of this thread."""
        thread, self._thread = self._thread, None
        try:
            yield
        finally:
            self._thread = thread

    def intercept(
        self, side: Side, operation: str, *, writes: bool, call: Callable[[], T], request: StoreRequest | None = None
    ) -> T:
        """Make the call, or run the failure mode instead."""
        if writes:
            self.before_write()
        if threading.get_ident() != self._thread:
            return call()
        point = Point(
            number=len(self._points),
            number_on_side=sum(point.side is side for point in self._points),
            side=side,
            operation=operation,
            writes=writes,
            request=request,
        )
        self._points.append(point)
        return call() if self._failure_mode is None else self._failure_mode(point, call)  # type: ignore[return-value]


@dataclass(frozen=True)
class InterceptedClient:
    """A client each method of which is one call. `writes` are the methods that change something."""

    client: Any
    interceptor: CallInterceptor
    side: Side
    writes: Collection[str] = ()

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.client, name)
        return partial(self._intercepted, name, method) if callable(method) and name != "close" else method

    def _intercepted(self, name: str, method: Callable[..., T], *arguments: Any, **named: Any) -> T:
        call = partial(method, *arguments, **named)
        return self.interceptor.intercept(self.side, name, writes=name in self.writes, call=call)


@contextmanager
def intercepting_http(interceptor: CallInterceptor) -> Iterator[None]:
    """Each HTTP request of a client passes the interceptor."""
    send = httpx.HTTPTransport.handle_request

    def intercepted(transport: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
        operation = f"{request.method} {request.url.path}"
        validates = request.url.path.endswith("/validate")
        writes = request.method != "GET" and not validates
        return interceptor.intercept(Side.CONNECT, operation, writes=writes, call=lambda: send(transport, request))

    with patch.object(httpx.HTTPTransport, "handle_request", intercepted):
        yield
