"""Tools that fetch or build for minutes (Maven, Go): their output is followed, and progress is shown meanwhile."""

import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from infra.local.app.progress import ticking

LIMIT_SECONDS = 3600
"""A tool that takes longer is ended."""


def follow(
    command: Sequence[str],
    note: Callable[[str], None],
    progress: Callable[[], str],
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> int:
    """The tool's exit status, negative when it was ended by a signal. `note` gets each line of its output.

    `environment` is all that the tool sees; None for that of this process.
    """
    process = subprocess.Popen(
        list(command),
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    with process:
        limit = threading.Timer(LIMIT_SECONDS, process.terminate)
        limit.start()
        try:
            with ticking(progress):
                for line in process.stdout or ():
                    note(line)
                return process.wait()
        except BaseException:
            process.terminate()
            raise
        finally:
            limit.cancel()
