"""Delayed actions: one thread that waits, a pool that works."""

import heapq
import itertools
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Delays:
    """How long the double takes over each change, in seconds; the defaults were measured on Connect 4.3.1.

    `silent` and `not_ready` (the worker's start) are shorter than the real 3 to 12 s, so that tests are fast.
    """

    connector: float = 0.04
    task: float = 0.15
    snapshot: float = 0.4
    deleted: float = 0.05
    unassigned: float = 0.05
    silent: float = 1.0
    not_ready: float = 0.3
    secret_retry: float = 0.25
    validation: float = 60.0


class Timeline:
    """Runs functions after a delay. Safe to call from any thread; `close` drops the functions that wait."""

    def __init__(self, *, workers: int = 8) -> None:
        self._due: list[tuple[float, int, Callable[[], object]]] = []
        self._order = itertools.count()
        self._changed = threading.Condition()
        self._closed = False
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="connect-double")
        self._thread = threading.Thread(target=self._run, name="connect-double-timeline", daemon=True)
        self._thread.start()

    def after(self, seconds: float, action: Callable[[], object]) -> None:
        """Run the action once, `seconds` from now, on a thread of the pool."""
        with self._changed:
            if not self._closed:
                heapq.heappush(self._due, (time.monotonic() + seconds, next(self._order), action))
                self._changed.notify()

    def close(self) -> None:
        """Drop planned actions, and wait for running ones."""
        with self._changed:
            self._closed = True
            self._due.clear()
            self._changed.notify()
        self._thread.join()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _run(self) -> None:
        while True:
            with self._changed:
                if self._closed:
                    return
                wait = self._due[0][0] - time.monotonic() if self._due else None
                if wait is None or wait > 0:
                    self._changed.wait(wait)
                    continue
                self._pool.submit(_run_logged, heapq.heappop(self._due)[2])


def _run_logged(action: Callable[[], object]) -> None:
    try:
        action()
    except Exception:
        # The next change is due all the same.
        logging.getLogger(__name__).exception("a planned change of the Connect double failed")
