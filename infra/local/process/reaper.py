"""Ends the servers of a run that died without ending them itself (kill -9, out of memory).

The run starts this program and writes to its standard input which servers it started and stopped. When the run ends,
however it ends, the kernel closes that pipe, and the servers that are still on the list are ended here. Linux's
parent-death signal would not do: it follows the *thread* that started the server.

    python -m infra.local.process.reaper        lines of `+ IDENTITY` and `- IDENTITY` on standard input
"""

import signal
import subprocess
import sys
import threading
from typing import IO

from infra.local.process.process_identity import Identity
from infra.local.process.process_stop import end
from infra.local.stack.layout import ROOT


class Reaper:
    """The run's side: one program for all servers of a run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "infra.local.process.reaper"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            text=True,
        )

    def watch(self, identity: Identity, stop_signal: signal.Signals) -> None:
        """From now on the server is ended when the run ends."""
        self._write(f"+ {int(stop_signal)} {identity.to_line()}")

    def unregister(self, identity: Identity) -> None:
        """The run has stopped the server itself."""
        self._write(f"- 0 {identity.to_line()}")

    def close(self) -> None:
        """Ends the servers that are still on the list, and the reaper."""
        if self._process.stdin is not None and not self._process.stdin.closed:
            self._process.stdin.close()
        self._process.wait(30)

    def _write(self, line: str) -> None:
        stream = self._process.stdin
        if stream is None:
            raise ValueError("the reaper has no standard input")
        with self._lock:
            stream.write(line + "\n")
            stream.flush()


def follow_pipe(lines: IO[str]) -> None:
    """The program's side: keeps the list until `lines` ends, then ends the servers on it, last started first."""
    watched: dict[Identity, signal.Signals] = {}
    for line in lines:
        sign, number, text = line.split(" ", 2)
        identity = Identity.from_line(text)
        if identity is None:
            continue
        if sign == "+":
            watched[identity] = signal.Signals(int(number))
        else:
            watched.pop(identity, None)
    for identity, stop_signal in reversed(watched.items()):
        end(identity, stop_signal, within=5.0)


if __name__ == "__main__":
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    follow_pipe(sys.stdin)
