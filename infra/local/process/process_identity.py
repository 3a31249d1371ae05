"""Identifies a process, also after another one got the same id.

The kernel uses process ids again. A process is identified by its id, its start time (field 22 of /proc/PID/stat, in
ticks since boot; see proc(5)) and the boot. psutil does not do: its start times move when the clock is set.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True)
class Identity:
    """A process at the time when it was started."""

    pid: int
    started: int
    boot: str

    def to_line(self) -> str:
        """One line of JSON."""
        return json.dumps(asdict(self))

    @staticmethod
    def from_line(line: str) -> "Identity | None":
        """The identity that `to_line` wrote, or None for anything else, such as a file that was written in part."""
        try:
            fields = json.loads(line)
            return Identity(int(fields["pid"]), int(fields["started"]), str(fields["boot"]))
        except (ValueError, KeyError, TypeError):
            return None

    def is_running(self) -> bool:
        """Whether this process still runs; a zombie does not."""
        return running(self.pid) == self


def running(pid: int) -> Identity | None:
    """The process that has this id now; None when there is none, or it is a zombie."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
        boot = _BOOT.read_text().strip()
    except OSError:
        return None
    # The second field is the command in brackets, which may itself hold spaces and brackets.
    fields = text.rpartition(")")[2].split()
    state, started = fields[0], int(fields[19])
    return None if state in "ZX" else Identity(pid, started, boot)
