"""Waiting for what happens elsewhere: in another process, or on another thread."""

import socket
import subprocess
import time
from collections.abc import Callable
from typing import TypeVar

POLL_SECONDS = 0.1
T = TypeVar("T")


def eventually(look: Callable[[], T], wanted: Callable[[T], bool] = bool, *, seconds: float = 40.0) -> T:
    """Look again and again until what is seen is as wanted, and give that. AssertionError, with the last sight, when
    it is not within so many seconds.
    """
    end = time.monotonic() + seconds
    while not wanted(seen := look()):
        assert time.monotonic() < end, f"not within {seconds} s; last seen: {str(seen)[:2000]}"
        time.sleep(POLL_SECONDS)
    return seen


def until_listening(port: int, process: "subprocess.Popen[bytes]") -> None:
    """Until something listens on that port of 127.0.0.1. AssertionError when the process that should has ended, or
    takes too long.
    """
    eventually(lambda: process.poll() is not None or _listens(port), seconds=90)
    assert process.poll() is None, f"it ended with {process.poll()}"


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
