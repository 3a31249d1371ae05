"""`infra/run` as a user starts it: in its own process, with its own state, ended by Ctrl-C."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from infra.local.process.ports import free_port

ROOT = Path(__file__).resolve().parents[3]
START_SECONDS = 300
END_SECONDS = 60


@contextmanager
def fresh_state() -> Iterator[Path]:
    """An empty folder for a stack's state, which PostgreSQL may enter: it runs as another account than root."""
    folder = Path(tempfile.mkdtemp(prefix="headgate-run-"))
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def clean_environment(state: Path) -> Mapping[str, str]:
    """The environment of a run, without variables of Headgate or AWS, but with its state folder and cache."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("HEADGATE_", "AWS_"))}
    cache = os.environ.get("HEADGATE_CACHE")
    return {**ours, "HEADGATE_STATE": str(state), **({"HEADGATE_CACHE": cache} if cache else {})}


@dataclass
class LocalRun:
    """A running command; `output` gets both of its streams."""

    process: "subprocess.Popen[bytes]"
    output: Path

    @property
    def text(self) -> str:
        return self.output.read_text(encoding="utf-8")

    def wait_for(self, pattern: str) -> None:
        """Until a line matches. Fails when the run ends first, or does not print it in time."""
        until = time.monotonic() + START_SECONDS
        while re.search(pattern, self.text, re.MULTILINE) is None:
            assert self.process.poll() is None, f"the run ended with {self.process.returncode}:\n{self.text}"
            assert time.monotonic() < until, f"the run never printed {pattern}:\n{self.text}"
            time.sleep(0.2)

    def value_of(self, name: str) -> str:
        """The value of one of its machine-readable lines."""
        found = re.search(rf"^{name}=(.*)$", self.text, re.MULTILINE)
        assert found, f"the run did not print {name}:\n{self.text}"
        return found[1]

    def press_ctrl_c(self) -> int:
        """Interrupts it as a terminal does: the signal goes to every process of the group. Returns its exit status."""
        os.killpg(self.process.pid, signal.SIGINT)
        return self.process.wait(END_SECONDS)


@contextmanager
def started(command: list[str], state: Path) -> Iterator[LocalRun]:
    """The command, run from the project's root. It must have ended, or be interrupted, before the block is over."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "output"
        with output.open("wb") as stream:
            process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=dict(clean_environment(state)),
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        run = LocalRun(process, output)
        try:
            yield run
        finally:
            if process.poll() is None:
                run.press_ctrl_c()


def once(stack: str, state: Path) -> tuple[int, str]:
    """`infra/run --once`: its exit status and everything it printed."""
    command = [str(ROOT / "infra" / "run"), "--once", "--stack", stack, "--port", str(free_port())]
    with started(command, state) as run:
        status = run.process.wait(START_SECONDS)
        return status, run.text
