"""Ctrl-C and SIGTERM, turned into an orderly end.

While a stack starts, the signal raises KeyboardInterrupt in the main thread as usual, so that every `with` block ends
what it started. A second signal during that end changes nothing: servers are always given the time to end.
"""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class _Signalled(threading.Event):
    """For the main thread to wait for. An event's own wait takes a lock, and a signal that comes meanwhile would leave
    it taken for ever.
    """

    def wait(self, timeout: float | None = None) -> bool:
        if not self.is_set():
            time.sleep(threading.TIMEOUT_MAX if timeout is None else timeout)
        return self.is_set()


@contextmanager
def awaited() -> Iterator[threading.Event]:
    """Gives an event to wait for, which is set once the signal has ended the block, quietly, wherever it stood."""
    came = _Signalled()
    noted = False

    def note(_number: int, _frame: FrameType | None) -> None:
        nonlocal noted
        if not noted:
            noted = True
            raise KeyboardInterrupt

    before = {number: signal.signal(number, note) for number in _SIGNALS}
    try:
        yield came
    except KeyboardInterrupt:
        if not noted:
            raise
        came.set()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
