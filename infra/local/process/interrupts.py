"""Ctrl-C, SIGTERM and SIGHUP, turned into an orderly stop.

The first signal raises KeyboardInterrupt in the main thread, so that every `with` block stops what it started. Later
signals are ignored: servers always get the time to stop.
"""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class _Signalled(threading.Event):
    """For the main thread to wait for. The `wait` of an Event takes a lock, which a signal handler that raises would
    leave locked for ever.
    """

    def wait(self, timeout: float | None = None) -> bool:
        if not self.is_set():
            time.sleep(threading.TIMEOUT_MAX if timeout is None else timeout)
        return self.is_set()


@contextmanager
def stop_on_signals() -> Iterator[threading.Event]:
    """Ends the block quietly when a signal comes. The event is set after the block was ended by one."""
    signalled = _Signalled()
    received = False

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        nonlocal received
        if not received:
            received = True
            raise KeyboardInterrupt

    before = {number: signal.signal(number, on_signal) for number in _SIGNALS}
    try:
        yield signalled
    except KeyboardInterrupt:
        if not received:
            raise
        signalled.set()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
