"""Ctrl-C and SIGTERM, turned into an orderly end.

While a stack starts, the signal raises KeyboardInterrupt in the main thread as usual, so that every `with` block ends
what it started. A second signal during that end changes nothing: servers are always given the time to end.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def awaited() -> Iterator[threading.Event]:
    """Gives an event that is set when the signal comes; the block then ends quietly, wherever it stands."""
    came = threading.Event()

    def note(_number: int, _frame: FrameType | None) -> None:
        if not came.is_set():
            came.set()
            raise KeyboardInterrupt

    before = {number: signal.signal(number, note) for number in _SIGNALS}
    try:
        yield came
    except KeyboardInterrupt:
        if not came.is_set():
            raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
