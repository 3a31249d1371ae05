"""Random secrets that a stack stores for its next run, each in a file that only its owner may read."""

import os
import secrets
from collections.abc import Callable
from pathlib import Path


def kept_secret(file: Path, make: Callable[[], str] = lambda: secrets.token_urlsafe(24)) -> str:
    """The value in `file`, or a new one, which is stored there. The file's mode is 0600."""
    if file.exists():
        return file.read_text().strip()
    value = make()
    write_private(file, value + "\n")
    return value


def write_private(file: Path, text: str) -> None:
    """Writes the file whole or not at all, readable by its owner only."""
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_name(file.name + ".new")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as stream:
        stream.write(text)
    fresh.replace(file)
