"""Ends one process with its process group."""

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress

from infra.local.process.process_identity import Identity


def end(identity: Identity, stop_signal: signal.Signals = signal.SIGTERM, within: float = 15.0) -> None:
    """Sends the stop signal, waits up to `within` seconds, then kills the process group.

    The process must lead a group of its own, as every server does that `processes.Server` started. Does nothing
    when the process has ended, also if its id belongs to another process now.
    """
    if not identity.is_running():
        return
    _signal(os.kill, identity.pid, stop_signal)
    if not wait_for_end(identity, within):
        kill(identity)


def kill(identity: Identity) -> None:
    """Kills the process group (SIGKILL), and waits until the process is gone."""
    if identity.is_running():
        _signal(os.killpg, identity.pid, signal.SIGKILL)
        wait_for_end(identity, 5.0)


def wait_for_end(identity: Identity, within: float) -> bool:
    """Waits up to `within` seconds for the process to end; whether it did."""
    until = time.monotonic() + within
    while identity.is_running():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def _signal(send: Callable[[int, int], None], pid: int, number: signal.Signals) -> None:
    # It may have ended since the check.
    with suppress(ProcessLookupError):
        send(pid, number)
