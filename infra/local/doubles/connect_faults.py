"""Faults that tests plant in the Connect double, and a record of the requests it received."""

import re
import threading
from collections import Counter, deque
from dataclasses import dataclass, field
from enum import Enum

CALLS_KEPT = 100_000


class FaultEffect(Enum):
    """The effect of a planted fault on a call."""

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
    OTHER_BODY = "200 with the fault's body, not applied"


@dataclass(kw_only=True)
class Fault:
    """A planted fault: its calls, its effect, how often it applies, and after how many calls; `met` counts calls."""

    effect: FaultEffect
    method: str | None = None
    path: str = ""
    times: int = 1
    skip: int = 0
    delay_seconds: float = 0.0
    body: object = None
    released: threading.Event = field(default_factory=threading.Event)
    met: int = 0

    def release(self) -> None:
        """End the fault, and release every call that waits on it."""
        self.times = 0
        self.released.set()

    def matches(self, method: str, path: str) -> bool:
        """Whether the method is the same (None: any) and the pattern is found in the path."""
        return (self.method in (None, method)) and re.search(self.path, path) is not None


class Faults:
    """The planted faults, in the order in which they were planted."""

    def __init__(self) -> None:
        self._planted: list[Fault] = []
        self._lock = threading.Lock()

    def plant(self, fault: Fault) -> Fault:
        with self._lock:
            self._planted.append(fault)
        return fault

    def apply(self, method: str, path: str) -> Fault | None:
        """The first fault for this call; its count goes down."""
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
        """End all faults, and release every call that waits."""
        with self._lock:
            planted, self._planted = self._planted, []
        for fault in planted:
            fault.release()


@dataclass(frozen=True, kw_only=True)
class RecordedRequest:
    """One request as received: path without query; status is None when it was not answered."""

    method: str
    path: str
    query: str
    status: int | None


class CallRecorder:
    """The requests received, oldest first, for budgets such as "one call per tick"."""

    def __init__(self) -> None:
        self._calls: deque[RecordedRequest] = deque(maxlen=CALLS_KEPT)
        self._lock = threading.Lock()

    def note(self, call: RecordedRequest) -> None:
        with self._lock:
            self._calls.append(call)

    def calls(self, method: str | None = None, path: str = "") -> list[RecordedRequest]:
        """The requests with this method (None: any) and a path that matches the pattern."""
        with self._lock:
            return [call for call in self._calls if method in (None, call.method) and re.search(path, call.path)]

    def count(self, method: str | None = None, path: str = "") -> int:
        return len(self.calls(method, path))

    def by_kind(self) -> Counter[tuple[str, str]]:
        """Requests counted by method and path, connector names written as {name}."""
        kinds = ((call.method, re.sub(r"^/connectors/[^/]+", "/connectors/{name}", call.path)) for call in self.calls())
        return Counter(kinds)

    def clear(self) -> None:
        with self._lock:
            self._calls.clear()
