"""The folders of one stack's state."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Folders:
    """Below `state`: a folder per server, `logs`, and the process ids of what runs."""

    state: Path

    def of(self, server: str) -> Path:
        """The server's own folder; made if missing."""
        return _created(self.state / server)

    def log(self, server: str) -> Path:
        return _created(self.state / "logs") / f"{server}.log"

    def pid_file(self, server: str) -> Path:
        """Where the identity of the server's process is stored while it runs."""
        return _created(self.state / "running") / f"{server}.json"

    @property
    def ports(self) -> Path:
        """The file that stores the stack's ports."""
        return self.state / "ports.json"


def _created(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder
