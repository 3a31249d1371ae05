"""MinIO, built from its sources by Go: there is no package of its program that can be fetched.

`modules/minio` has a `go.mod` with the versions and a `go.sum` with the hash of every module, which Go compares before
it builds anything. An own `minio` takes its place where `HEADGATE_MINIO` has its path.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from infra.local.app.errors import SetupMissing
from infra.local.app.progress import say
from infra.local.stack.fetch import digest, fill, locked_cache
from infra.local.stack.layout import MODULES, display_path
from infra.local.stack.long_commands import follow

OLDEST = (1, 24)
"""The version of Go that MinIO's `go.mod` asks for."""

_MODULE = MODULES / "minio"
_PACKAGE = "github.com/minio/minio"
_VERSION = re.compile(r"go(\d+)\.(\d+)")
_ERROR_LINES = 15


@dataclass
class Build:
    """How far Go is, counted from its output: a line for each module that it fetches and each package that it builds.

    Go fetches first, and builds about 1,300 packages then.
    """

    modules: int = 0
    packages: int = 0
    tail: list[str] = field(default_factory=list)

    def note(self, line: str) -> None:
        """Counts the line, and keeps the last ones for the message of a failure."""
        if line.startswith("go: downloading "):
            self.modules += 1
            return
        if " " not in line.strip():
            self.packages += 1
        self.tail = [*self.tail, line.rstrip()][-_ERROR_LINES:]

    def __str__(self) -> str:
        return f"MinIO: {self.modules} modules fetched, {self.packages} packages built so far"


def missing() -> str | None:
    """Why MinIO cannot be had on this machine, as a part of a sentence; None when it can."""
    if os.environ.get("HEADGATE_MINIO"):
        return None
    oldest = ".".join(map(str, OLDEST))
    if shutil.which("go") is None:
        return f"Go {oldest} or newer, which builds MinIO, is not on the PATH"
    version = _VERSION.search(_output(["go", "env", "GOVERSION"]))
    if not version:
        return "`go env GOVERSION` does not work"
    if (int(version[1]), int(version[2])) < OLDEST:
        return f"MinIO needs Go {oldest} or newer to be built, and {version[0]} is here"
    return None


def find_program() -> Path:
    """The program that `HEADGATE_MINIO` names, else one that is built here, once. Raises SetupMissing."""
    reason = missing()
    if reason:
        raise SetupMissing(f"{reason}. A minio of this machine is used where HEADGATE_MINIO has its path.")
    own = os.environ.get("HEADGATE_MINIO")
    if own:
        return _required(Path(own))
    with locked_cache() as cache:
        folder = cache / f"minio-{digest([_MODULE / 'go.mod', _MODULE / 'go.sum'])}"
        if not folder.is_dir():
            say(
                f"building MinIO with Go, once, into {display_path(folder)}: about 250 MB to fetch, several minutes, "
                "and 2 GB of disk meanwhile"
            )
            fill(folder, "MinIO", _build)
    return folder / "minio"


def _build(into: Path) -> None:
    """Builds with caches of its own, which are removed: they are many times larger than the program."""
    work = into.with_name(into.name + ".build")
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(_MODULE, work)
    build = Build()
    command = ["go", "build", "-v", "-trimpath", "-ldflags=-s -w", "-o", str(into / "minio"), _PACKAGE]
    status = follow(command, build.note, lambda: str(build), folder=work, environment=_environment(work))
    shutil.rmtree(work)
    if status != 0:
        output = "\n".join(f"  | {line}" for line in build.tail)
        raise SetupMissing(
            f"Go (status {status}) could not build MinIO; is its module proxy reachable, and is there space on the "
            f"disk? Start again, or leave minio out of --with. The end of Go's output:\n{output}"
        )


def _environment(work: Path) -> Mapping[str, str]:
    """What Go needs of this process's environment, with its own Go and the versions and hashes of the module only."""
    return {
        **os.environ,
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
        # A folder in Go's cache that cannot be written to could not be removed.
        "GOFLAGS": "-mod=readonly -modcacherw -buildvcs=false",
        "GOMODCACHE": str(work / "modules"),
        "GOCACHE": str(work / "build"),
        "CGO_ENABLED": "0",
    }


def _required(program: Path) -> Path:
    """The program, if it is MinIO. Raises SetupMissing."""
    answer = _output([str(program), "--version"])
    if not answer.startswith("minio version "):
        raise SetupMissing(f"HEADGATE_MINIO: {program} is no MinIO server: {answer.strip()[:300]}")
    return program


def _output(command: Sequence[str]) -> str:
    """What the command prints, on both outputs."""
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"it cannot be run ({type(error).__name__})"
    return result.stdout + result.stderr


if __name__ == "__main__":
    print(find_program())
