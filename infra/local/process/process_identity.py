"""Tells one process from another that later got the same id.

The kernel hands process ids out again. A process is known by its id, the moment it started (field 22 of
/proc/PID/stat, in ticks since boot; see proc(5)) and the boot itself.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True)
class Identity:
    """A process as it was seen when it was started."""

    pid: int
    started: int
    boot: str

    def to_line(self) -> str:
        """One line of JSON."""
        return json.dumps(asdict(self))

    @staticmethod
    def from_line(line: str) -> "Identity | None":
        """The identity that `to_line` wrote, or None for anything else (a file cut off half-way, say)."""
        try:
            found = json.loads(line)
            return Identity(int(found["pid"]), int(found["started"]), str(found["boot"]))
        except (ValueError, KeyError, TypeError):
            return None

    def is_running(self) -> bool:
        """Whether this very process still runs; one that ended and waits to be reaped does not."""
        return running(self.pid) == self


def running(pid: int) -> Identity | None:
    """The process that has this id now, or None when there is none, or it has ended."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
        boot = _BOOT.read_text().strip()
    except OSError:
        return None
    # The second field is the command in brackets, which may itself hold spaces and brackets.
    fields = text.rpartition(")")[2].split()
    state, started = fields[0], int(fields[19])
    return None if state in "ZX" else Identity(pid, started, boot)
