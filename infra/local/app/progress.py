"""Tells a waiting person what is going on.

Everything here goes to standard error: standard output belongs to the machine-readable lines.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_lock = threading.Lock()


def say(text: str) -> None:
    """One line, whole, whichever thread says it."""
    with _lock:
        print(f"headgate: {text}", file=sys.stderr, flush=True)


def megabytes(size: int) -> str:
    """A size in bytes, for people."""
    return f"{size / 1_000_000:.1f} MB"


@contextmanager
def ticking(text: Callable[[], str], every: float = 2.0) -> Iterator[None]:
    """Says `text()` every few seconds while the block runs; nothing when the block is quicker."""
    done = threading.Event()
    began = time.monotonic()

    def tick() -> None:
        while not done.wait(every):
            say(f"{text()} ({time.monotonic() - began:.0f} s)")

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
