"""Faults that tests plant in the Connect double, and the book of the calls it received."""

import re
import threading
from collections import Counter, deque
from dataclasses import dataclass, field
from enum import Enum

CALLS_KEPT = 100_000


class Effect(Enum):
    """What a planted fault does to the call that it meets."""

    LOSE_REPLY = "applied, then the connection is closed without an answer"
    APPLY_LATE = "the connection is closed without an answer, and the call is applied after the delay"
    REBALANCE = "409 of a rebalance, not applied"
    REBALANCE_EXPECTED = "500 of a rebalance that is about to begin, not applied"
    TIMED_OUT_APPLIED = "500 Request timed out, applied"
    TIMED_OUT = "500 Request timed out, not applied"
    NOT_READY = "404 as an HTML page, not applied"
    HANG = "the connection stays open and silent until it is released, not applied"
    SLOW = "answered rightly after the delay"
    GARBAGE = "200 with a body that is not JSON, not applied"


@dataclass(kw_only=True)
class Fault:
    """One planted fault: which calls it meets, what it does, how often, and after how many calls that it lets pass."""

    effect: Effect
    method: str | None = None
    path: str = ""
    times: int = 1
    skip: int = 0
    delay_seconds: float = 0.0
    released: threading.Event = field(default_factory=threading.Event)
    met: int = 0

    def release(self) -> None:
        """Let go of every call that hangs on this fault, and meet no more."""
        self.times = 0
        self.released.set()

    def matches(self, method: str, path: str) -> bool:
        """Whether the call is one of those meant: the same method (None: any), the pattern found in the path."""
        return (self.method in (None, method)) and re.search(self.path, path) is not None


class Faults:
    """The planted faults, in the order in which they were planted."""

    def __init__(self) -> None:
        self._planted: list[Fault] = []
        self._lock = threading.Lock()

    def plant(self, fault: Fault) -> Fault:
        """Add a fault; it is answered for later checks of `met`."""
        with self._lock:
            self._planted.append(fault)
        return fault

    def meet(self, method: str, path: str) -> Fault | None:
        """The first fault that this call meets; its count goes down."""
        with self._lock:
            for fault in self._planted:
                if fault.times <= 0 or not fault.matches(method, path):
                    continue
                if fault.skip > 0:
                    fault.skip -= 1
                    continue
                fault.times -= 1
                fault.met += 1
                return fault
        return None

    def clear(self) -> None:
        """Forget all faults and release what hangs."""
        with self._lock:
            planted, self._planted = self._planted, []
        for fault in planted:
            fault.release()


@dataclass(frozen=True, kw_only=True)
class RequestContext:
    """One call as received: path without query; status is None when no answer was given."""

    method: str
    path: str
    query: str
    status: int | None


class Recorder:
    """The calls received, oldest first, for budgets such as "one call per tick"."""

    def __init__(self) -> None:
        self._calls: deque[RequestContext] = deque(maxlen=CALLS_KEPT)
        self._lock = threading.Lock()

    def note(self, call: RequestContext) -> None:
        """Write a call down."""
        with self._lock:
            self._calls.append(call)

    def calls(self, method: str | None = None, path: str = "") -> list[RequestContext]:
        """The calls with this method (None: any) in whose path the pattern is found."""
        with self._lock:
            return [one for one in self._calls if method in (None, one.method) and re.search(path, one.path)]

    def count(self, method: str | None = None, path: str = "") -> int:
        """How many calls there were of that kind."""
        return len(self.calls(method, path))

    def by_kind(self) -> Counter[tuple[str, str]]:
        """Calls counted by method and path, connector names written as {name}."""
        kinds = ((one.method, re.sub(r"^/connectors/[^/]+", "/connectors/{name}", one.path)) for one in self.calls())
        return Counter(kinds)

    def clear(self) -> None:
        """Begin anew."""
        with self._lock:
            self._calls.clear()
