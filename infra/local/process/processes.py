"""One server of a stack: started, waited for, stopped, and found again after a run that was killed."""

import os
import pwd
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from infra.local.app.errors import ServerFailed
from infra.local.app.progress import say
from infra.local.process.process_identity import Identity, running
from infra.local.process.process_stop import end, kill
from infra.local.process.reaper import Reaper
from infra.local.stack.layout import display_path

LAST_LINES = 20


@dataclass(frozen=True, kw_only=True)
class ServerPlan:
    """The command of a server, and the check that it is up.

    `ready` must return quickly: True when the server serves, False (or an OSError) while it does not. `environment` is
    added to the run's own. `user` is the name of the account to run under, None for the run's own.
    """

    name: str
    command: Sequence[str]
    folder: Path
    log: Path
    pid_file: Path
    ready: Callable[[], bool]
    ready_within: float = 60.0
    environment: Mapping[str, str] = field(default_factory=dict)
    user: str | None = None
    stop_signal: signal.Signals = signal.SIGTERM
    end_within: float = 15.0


class ServerProcess:
    """A server in a process group of its own, so that Ctrl-C in a terminal reaches the run and not the server."""

    def __init__(self, plan: ServerPlan, reaper: Reaper) -> None:
        self.plan = plan
        self._reaper = reaper
        self._process: subprocess.Popen[bytes] | None = None
        self._identity: Identity | None = None

    @property
    def pid(self) -> int:
        """The id of the running process. Raises ServerFailed when it was not started."""
        if self._process is None:
            raise ServerFailed(f"{self.plan.name} is not running.")
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether the process runs; it may not answer yet."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Starts the server and returns when it is ready; else raises ServerFailed with the end of its log."""
        began = time.monotonic()
        self.launch()
        self.wait_ready()
        say(f"{self.plan.name} is up ({time.monotonic() - began:.1f} s)")

    def launch(self) -> None:
        """Starts the process without waiting for it; first stops one that a killed run left behind."""
        stop_leftover(self.plan.pid_file, self.plan.stop_signal)
        self._process = _spawn(self.plan)
        self._identity = running(self._process.pid)
        if self._identity is not None:
            self._reaper.watch(self._identity, self.plan.stop_signal)
            self.plan.pid_file.write_text(self._identity.to_line())

    def wait_ready(self) -> None:
        """Waits for the server to serve, at most `ready_within` seconds."""
        until = time.monotonic() + self.plan.ready_within
        while not self._answers():
            if not self.is_running:
                raise ServerFailed(self.failure_report("ended before it was ready"))
            if time.monotonic() > until:
                raise ServerFailed(self.failure_report(f"was not ready within {self.plan.ready_within:.0f} s"))
            time.sleep(0.1)

    def stop(self) -> None:
        """Sends the stop signal; kills the server when it takes longer than `end_within` seconds."""
        self._finish(lambda identity: end(identity, self.plan.stop_signal, self.plan.end_within))

    def kill(self) -> None:
        """Ends the server with SIGKILL, as a crash would."""
        self._finish(kill)

    def restart(self) -> None:
        """Stops the server if it runs, and starts it again."""
        self.stop()
        self.start()

    def _finish(self, stop: Callable[[Identity], None]) -> None:
        if self._process is None or self._identity is None:
            return
        stop(self._identity)
        self._process.wait()
        self._reaper.unregister(self._identity)
        self.plan.pid_file.unlink(missing_ok=True)
        self._process = self._identity = None

    def _answers(self) -> bool:
        try:
            return self.plan.ready()
        except OSError:
            return False

    def failure_report(self, event: str) -> str:
        """The event, with the end of the server's log."""
        lines = "\n".join(f"  | {line}" for line in last_lines(self.plan.log))
        return f"{self.plan.name} {event}. The end of {display_path(self.plan.log)}:\n{lines}"


def report_ended(servers: Sequence[ServerProcess], until: threading.Event) -> None:
    """Until the event is set, looks every two seconds whether a server has ended, and reports each once."""
    up = [server for server in servers if server.is_running]
    while not until.wait(2.0):
        for server in [server for server in up if not server.is_running]:
            up.remove(server)
            say(server.failure_report("ended unexpectedly"))


def stop_leftover(pid_file: Path, stop_signal: signal.Signals = signal.SIGTERM) -> bool:
    """Stops the server that `pid_file` identifies, if it still runs; True when there was one."""
    if not pid_file.exists():
        return False
    identity = Identity.from_line(pid_file.read_text())
    alive = identity is not None and identity.is_running()
    if identity is not None and alive:
        say(f"stopping a server that an earlier run left behind (process {identity.pid}, {pid_file.stem})")
        end(identity, stop_signal)
    pid_file.unlink(missing_ok=True)
    return alive


def last_lines(log: Path, count: int = LAST_LINES) -> list[str]:
    """The end of a log file, at most 64 KB of it."""
    if not log.exists():
        return ["(no log)"]
    with log.open("rb") as stream:
        stream.seek(max(0, log.stat().st_size - 65536))
        return stream.read().decode(errors="replace").splitlines()[-count:]


def _spawn(plan: ServerPlan) -> subprocess.Popen[bytes]:
    plan.log.parent.mkdir(parents=True, exist_ok=True)
    if plan.log.exists():
        plan.log.replace(plan.log.with_suffix(".log.1"))
    account = pwd.getpwnam(plan.user) if plan.user else None
    with plan.log.open("wb") as log:
        return subprocess.Popen(
            list(plan.command),
            cwd=plan.folder,
            env={**os.environ, **plan.environment},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            user=account.pw_uid if account else None,
            group=account.pw_gid if account else None,
            extra_groups=[] if account else None,
        )
