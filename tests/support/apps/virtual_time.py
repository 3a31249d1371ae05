"""Many workers in virtual time: each runs in a thread of its own, one at a time, in the order of the virtual clock.

    time = VirtualTime(clock)
    time.at(clock.now, lambda: ...)       # begins a worker; `time.sleep` is how it waits
    time.run_until(clock.now + timedelta(minutes=3))

Nothing waits in real time, and the same test runs the same way each time.
"""

import heapq
import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NoReturn

from chalicelib.kit.clock import Deadline
from tests.support.apps.call_interceptor import Crash
from tests.support.apps.in_process_app import VirtualClock

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
        self._due: list[tuple[datetime, int, Action]] = []
        self._numbers = itertools.count()
        self._current = threading.local()
        self._asleep: set[_Worker] = set()
        self._errors: list[BaseException] = []

    def at(self, when: datetime, action: Action) -> None:
        """Begin a worker at this time. A `Crash` ends it alone; any other error ends `run_until`."""
        worker = _Worker(action, self)
        self._push(when, worker.begin)

    def sleep(self, seconds: float) -> None:
        """Called by a worker: others run meanwhile. Called by the test: time passes, and nothing else happens."""
        worker = self.worker
        if worker is None:
            self.clock.advance(seconds)
            return
        if worker.is_dead:
            raise Crash
        self._push(self.clock.now + timedelta(seconds=seconds), worker.resume)
        self._asleep.add(worker)
        worker.park()
        self._asleep.discard(worker)

    def run_until(self, when: datetime) -> None:
        """Let time pass, with everything that happens in it."""
        while self._due and self._due[0][0] <= when:
            at, _, act = heapq.heappop(self._due)
            self.clock.now = max(self.clock.now, at)
            act()
            if self._errors:
                raise self._errors.pop(0)
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
    def worker(self) -> "_Worker | None":
        """The worker that calls; None for the test itself."""
        return getattr(self._current, "worker", None)

    def _push(self, when: datetime, act: Action) -> None:
        heapq.heappush(self._due, (when, next(self._numbers), act))


class _Worker:
    def __init__(self, action: Action, time: VirtualTime) -> None:
        self._action, self._time = action, time
        self._may_run, self._stopped = threading.Semaphore(0), threading.Semaphore(0)
        self.is_dead = False

    def begin(self) -> None:
        threading.Thread(target=self._run, daemon=True).start()
        self._stopped.acquire()

    def resume(self) -> None:
        self._may_run.release()
        self._stopped.acquire()

    def park(self) -> None:
        self._stopped.release()
        self._may_run.acquire()
        if self.is_dead:
            raise Crash

    def kill(self) -> None:
        self.is_dead = True
        self.resume()

    def _run(self) -> None:
        self._time._current.worker = self
        try:
            self._action()
        except Crash:
            pass
        except BaseException as error:  # noqa: BLE001 - raised again where the test waits
            self._time._errors.append(error)
        finally:
            self._stopped.release()
