"""Folders for the state of database servers that tests start."""

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

MEMORY, MEMORY_NEEDED_BYTES = Path("/dev/shm"), 2 * 1024**3  # noqa: S108 - the names below it are random
"""A file system in memory, and the free space that the servers of a whole run need."""


@contextlib.contextmanager
def fresh_state(name: str) -> Iterator[Path]:
    """An empty folder, which the server may enter: it runs as another account than root. `name` is part of its name.

    In memory if there is space: each database is many files, and tests make and drop many.
    """
    has_space = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > MEMORY_NEEDED_BYTES
    state = Path(tempfile.mkdtemp(prefix=f"headgate-{name}-", dir=MEMORY if has_space else None))
    # The server's account must be able to reach its data through this folder.
    state.chmod(0o711)
    try:
        yield state
    finally:
        shutil.rmtree(state, ignore_errors=True)
