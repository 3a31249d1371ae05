"""Keeps two runs from working in the same folder at once."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from infra.local.app.errors import SetupMissing
from infra.local.app.progress import say


@contextmanager
def locked(file: Path, *, busy: str, wait: bool) -> Iterator[None]:
    """Takes an exclusive lock for the block; the kernel releases it when the process ends, however it ends.

    When another process has it: says `busy` and waits, or, without `wait`, raises SetupMissing with that sentence.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not wait:
                raise SetupMissing(busy) from None
            say(busy)
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield
