"""Progress messages for people.

They go to standard error: standard output is for the machine-readable lines.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_lock = threading.Lock()


def say(text: str) -> None:
    """Prints one line. Lines of several threads do not mix."""
    with _lock:
        print(f"headgate: {text}", file=sys.stderr, flush=True)


def megabytes(size: int) -> str:
    """A size in bytes as text, such as `1.2 MB`."""
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
