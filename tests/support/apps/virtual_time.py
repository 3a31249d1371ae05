"""Many workers in virtual time: each runs in a thread of its own, one at a time, in the order of the virtual clock.

    time = VirtualTime(clock)
    time.at(clock.now, lambda: ...)       # begins a worker; `time.sleep` is how it waits
    time.run_until(clock.now + timedelta(minutes=3))

Nothing waits in real time, and the same test runs the same way each time.
"""

import heapq
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NoReturn

from chalicelib.kit.clock import Deadline
from tests.support.apps.call_interceptor import Crash
from tests.support.apps.in_process_app import VirtualClock
from tests.support.apps.stepped_thread import SteppedThread, current_thread

Action = Callable[[], None]


@dataclass(frozen=True)
class VirtualDeadline(Deadline):
    clock: VirtualClock = field(default_factory=VirtualClock)

    @classmethod
    def on(cls, clock: VirtualClock, seconds: float) -> "VirtualDeadline":
        """The deadline that many virtual seconds from now."""
        return cls(clock.now.timestamp() + seconds, clock)

    def remaining(self, at_most: float = float("inf")) -> float:
        return max(0.0, min(at_most, self.at - self.clock.now.timestamp()))


class VirtualTime:
    """Begins workers at their times, and lets them sleep."""

    def __init__(self, clock: VirtualClock) -> None:
        self.clock = clock
        self._due: list[tuple[datetime, int, SteppedThread]] = []
        self._numbers = itertools.count()
        self._asleep: set[SteppedThread] = set()

    def at(self, when: datetime, action: Action) -> None:
        """Begin a worker at this time. A `Crash` ends it alone; any other error ends `run_until`."""
        self._push(when, SteppedThread(self, action))

    def sleep(self, seconds: float) -> None:
        """Called by a worker: others run meanwhile. Called by the test: time passes, and nothing else happens."""
        worker = self.worker
        if worker is None:
            self.clock.advance(seconds)
            return
        if worker.is_dead:
            raise Crash
        self._asleep.add(worker)
        self._push(self.clock.now + timedelta(seconds=seconds), worker)
        worker.park()
        self._asleep.discard(worker)

    def run_until(self, when: datetime) -> None:
        """Let time pass, with everything that happens in it."""
        while self._due and self._due[0][0] <= when:
            at, _, worker = heapq.heappop(self._due)
            self.clock.now = max(self.clock.now, at)
            worker.resume()
            if worker.error:
                raise worker.error
        self.clock.now = max(self.clock.now, when)

    def close(self) -> None:
        """End the workers that are still asleep."""
        self._due.clear()
        for worker in list(self._asleep):
            worker.kill()

    def crash(self) -> NoReturn:
        """The process of the worker that calls ends here: what is behind it in `finally` must not happen either."""
        worker = self.worker
        if worker is not None:
            worker.is_dead = True
        raise Crash

    @property
    def worker(self) -> SteppedThread | None:
        """The worker that calls; None for the test itself."""
        return current_thread(self)

    def _push(self, when: datetime, worker: SteppedThread) -> None:
        heapq.heappush(self._due, (when, next(self._numbers), worker))
