"""The folders of MySQL's data and programs, and the account that runs it (see `server_account`)."""

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from infra.local.stack.mysql_programs import Programs
from infra.local.stack.server_account import ELSEWHERE, ServerFolder, is_open_to_all, server_folder


@dataclass(frozen=True, kw_only=True)
class Home(ServerFolder):
    """`programs` are where the account can reach them."""

    programs: Programs


def prepare(folder: Path, programs: Programs, elsewhere: Path = ELSEWHERE) -> Home:
    """The home for the state folder `folder`, owned by its account; below `elsewhere` if need be."""
    place = server_folder(folder, "MySQL", elsewhere)
    if place.account and programs.base and not is_open_to_all(programs.base):
        programs = _copied(programs, programs.base, place.folder / programs.base.name)
    return Home(folder=place.folder, account=place.account, programs=programs)


def _copied(programs: Programs, base: Path, into: Path) -> Programs:
    """The programs and libraries, copied to a folder that the account can reach."""
    libraries = programs.libraries
    if not into.exists():
        unfinished = into.with_name(into.name + ".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        shutil.copytree(base, unfinished, symlinks=True)
        if libraries and not libraries.is_relative_to(base):
            shutil.copytree(libraries, unfinished / "libraries")
        unfinished.rename(into)

    def moved(path: Path) -> Path:
        return into / path.relative_to(base) if path.is_relative_to(base) else into / "libraries"

    return replace(
        programs,
        mysqld=moved(programs.mysqld),
        base=into,
        libraries=moved(libraries) if libraries else None,
        loader=moved(programs.loader) if programs.loader else None,
    )
