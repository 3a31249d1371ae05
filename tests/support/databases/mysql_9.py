"""MySQL 9 for tests, out of Debian's next release (sid), where packages are checked against its signed lists.

apt-get works with folders of its own, so it needs no root and changes nothing on the machine. The server runs with the
libraries of its packages.
"""

import platform
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from infra.local.app.errors import SetupMissing
from infra.local.stack.fetch import fill, locked_cache
from infra.local.stack.mysql_programs import Programs
from tests.support.databases.mysql import MySQLServer, running_mysql

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
SOURCE = f"deb [signed-by={KEYRING}] http://deb.debian.org/debian sid main"
PACKAGE = "mysql-server-core"
_SECONDS = 400


def missing() -> str | None:
    """Why MySQL 9 cannot be had on this machine, in a sentence; None when it may be."""
    if platform.machine() != "x86_64":
        return f"MySQL 9 is fetched for x86-64 only, and this is {platform.machine()}"
    for tool in ("apt-get", "dpkg"):
        if shutil.which(tool) is None:
            return f"MySQL 9 comes out of Debian's packages, and {tool} is not here"
    return None if KEYRING.exists() else f"MySQL 9 comes out of Debian's packages, whose keys ({KEYRING}) are not here"


def find_mysql_9() -> Programs:
    """The server, fetched if need be: 60 MB, once. Raises SetupMissing with the reason."""
    reason = missing()
    if reason:
        raise SetupMissing(f"{reason}.")
    with locked_cache() as cache:
        folder = cache.resolve() / "mysql-9"
        if not folder.is_dir():
            fill(folder, "MySQL 9", _fetch)
    base = folder / "usr"
    libraries = base / "lib" / "x86_64-linux-gnu"
    return Programs(
        mysqld=base / "sbin" / "mysqld",
        base=base,
        libraries=libraries,
        messages="share/mysql",
        loader=libraries / "ld-linux-x86-64.so.2",
    )


@pytest.fixture(scope="session")
def mysql_9() -> Iterator[MySQLServer]:
    """A new MySQL 9. Skips, with the reason, where there can be none."""
    try:
        programs = find_mysql_9()
    except SetupMissing as error:
        pytest.skip(str(error))
    with running_mysql(programs=programs) as server:
        yield server


def _fetch(into: Path) -> None:
    work = into.with_name(into.name + ".apt")
    shutil.rmtree(work, ignore_errors=True)
    for folder in ("state/lists/partial", "cache/archives/partial"):
        (work / folder).mkdir(parents=True)
    # As if nothing were installed: the packages of all libraries are fetched.
    (work / "status").touch()
    (work / "sources.list").write_text(f"{SOURCE}\n")
    options = {
        "Dir::State": work / "state",
        "Dir::State::status": work / "status",
        "Dir::Cache": work / "cache",
        "Dir::Etc::sourcelist": work / "sources.list",
        "Dir::Etc::sourceparts": "/dev/null",
        "APT::Install-Recommends": "false",
        "APT::Sandbox::User": "",
        "Debug::NoLocking": "1",
    }
    apt = ["apt-get", *(word for name, value in options.items() for word in ("-o", f"{name}={value}"))]
    _run([*apt, "update"])
    _run([*apt, "--yes", "--download-only", "install", PACKAGE])
    for package in sorted((work / "cache" / "archives").glob("*.deb")):
        _run(["dpkg", "-x", str(package), str(into)])
    shutil.rmtree(work)


def _run(command: Sequence[str]) -> None:
    result = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    if result.returncode != 0:
        raise SetupMissing(f"MySQL 9 cannot be fetched: {command[0]} says {result.stderr.strip()[-300:]!r}.")
