"""Servers that tests start, each in a process of its own that ends with its block."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from infra.local.process.ports import kept_ports
from infra.local.process.processes import ServerPlan, ServerProcess
from infra.local.process.reaper import Reaper
from infra.local.stack import dynamodb
from infra.local.stack.fetch import fetch_all
from infra.local.stack.folders import Folders
from infra.local.stack.layout import ROOT


@contextmanager
def running_server(plan: ServerPlan) -> Iterator[ServerProcess]:
    """The server, ready. It also ends when the test run is killed."""
    with ExitStack() as ends:
        reaper = Reaper()
        ends.callback(reaper.close)
        server = ServerProcess(plan, reaper)
        # Before the start: a server that never gets ready has to end, too.
        ends.callback(server.stop)
        server.start()
        yield server


@contextmanager
def dynamodb_local() -> Iterator[str]:
    """The URL of an empty DynamoDB Local, for tests marked `real`: it needs Java and a download."""
    with TemporaryDirectory(prefix="headgate-dynamodb-") as state:
        folders = Folders(Path(state))
        port = kept_ports(folders.ports, ["dynamodb"])["dynamodb"]
        with running_server(dynamodb.plan(fetch_all().dynamodb, folders, port=port)):
            yield f"http://127.0.0.1:{port}"


@dataclass(frozen=True)
class PythonProcess:
    """A module that answers each line of JSON on its input with one. What else it prints is in its log."""

    process: "subprocess.Popen[str]"
    log: Path | None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, request: Mapping[str, Any]) -> Any:
        """The answer to one request. Threads take turns."""
        assert self.process.stdin is not None
        with self._lock:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            return self.read()

    def read(self) -> Any:
        """The next line of the process, for example the one that says that it is ready."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"the process has ended: {self.log.read_text()[-3000:] if self.log else ''}"
        return json.loads(line)


@contextmanager
def python_process(
    module: str, *arguments: str, variables: Mapping[str, str] | None = None, log: Path | None = None
) -> Iterator[PythonProcess]:
    """The module, run with these variables besides those of this process. It ends when its input does."""
    with open(log or os.devnull, "w") as errors:  # noqa: PTH123 - one of them is no Path
        process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            cwd=ROOT,
            env={**os.environ, **(variables or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    try:
        yield PythonProcess(process, log)
    finally:
        process.communicate(timeout=60)
