"""Waits for other processes and threads."""

import socket
import subprocess
import time
from collections.abc import Callable
from typing import TypeVar

POLL_SECONDS = 0.1
PATIENCE = 3
"""Times longer than on a machine that does nothing else: parts of the suite run beside each other."""
T = TypeVar("T")


def eventually(read: Callable[[], T], is_met: Callable[[T], bool] = bool, *, seconds: float = 40.0) -> T:
    """Call `read` until `is_met` of its result, and return the result. AssertionError, with the last result, after
    `seconds` on a machine that does nothing else.
    """
    limit = PATIENCE * seconds
    end = time.monotonic() + limit
    while not is_met(value := read()):
        assert time.monotonic() < end, f"not within {limit} s; last seen: {str(value)[:2000]}"
        time.sleep(POLL_SECONDS)
    return value


def until_listening(port: int, process: "subprocess.Popen[bytes]") -> None:
    """Waits until something listens on that port of 127.0.0.1. AssertionError when the process has ended, or takes too
    long.
    """
    eventually(lambda: process.poll() is not None or _listens(port), seconds=90)
    assert process.poll() is None, f"it ended with {process.poll()}"


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
