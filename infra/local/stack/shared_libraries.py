"""Shared libraries that a fetched program needs and the machine does not have, out of Debian's packages.

apt-get compares a package with Debian's signed lists. Neither it nor dpkg needs root for this.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

_SYSTEM = (Path("/usr/lib/x86_64-linux-gnu"), Path("/usr/lib64"))
_SECONDS = 120


def provide(library: str, packages: Sequence[str], into: Path) -> bool:
    """Puts the library into the folder, from the machine's own files or one of the packages; whether it could.

    Names with something added count as well: Debian has renamed libraries (`libaio.so.1t64`) whose content on x86-64
    is the same.
    """
    if any(_copied(library, folder, into) for folder in _SYSTEM):
        return True
    with tempfile.TemporaryDirectory() as work:
        return any(_unpacked(package, Path(work)) and _copied(library, Path(work), into) for package in packages)


def _copied(library: str, folder: Path, into: Path) -> bool:
    found = next((file for file in sorted(folder.rglob(f"{library}*")) if file.is_file()), None)
    if found:
        shutil.copy2(found, into / library)
    return found is not None


def _unpacked(package: str, into: Path) -> bool:
    """Whether the package could be fetched, and unpacked in this folder."""
    if shutil.which("apt-get") is None or shutil.which("dpkg") is None:
        return False
    if not _run(["apt-get", "download", package], into):
        return False
    return all(_run(["dpkg", "-x", str(file), str(into)], into) for file in into.glob(f"{package}_*.deb"))


def _run(command: Sequence[str], folder: Path) -> bool:
    result = subprocess.run(command, cwd=folder, capture_output=True, timeout=_SECONDS, check=False)
    return result.returncode == 0
