"""Compares fetched programs with the SHA-256 of each file that this project was made with.

`poms/PART.sha256` has the format of `sha256sum`. After a change of a pom it is written anew, from a fetch that somebody
has looked at: in the part's folder, `find . -type f -printf '%P\\n' | LC_ALL=C sort | xargs -d '\\n' sha256sum`.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from infra.local.app.errors import SetupMissing

_SHOWN = 5


def require_known(folder: Path, listing: Path) -> None:
    """Raise SetupMissing unless the folder has exactly the files of the listing, each with its content."""
    expected, fetched = read_listing(listing), _hashes(folder)
    different = sorted(name for name in expected.keys() | fetched.keys() if expected.get(name) != fetched.get(name))
    if different:
        more = f" and {len(different) - _SHOWN} more" if len(different) > _SHOWN else ""
        raise SetupMissing(
            f"what was fetched for {listing.stem} is not what this version of Headgate was made with, so nothing of it "
            f"is used: {', '.join(different[:_SHOWN])}{more}. Maven's repository has changed, or somebody on the way."
        )


def read_listing(listing: Path) -> Mapping[str, str]:
    """The SHA-256 of each file, in hex, by its path below the part's folder."""
    lines = (line.split(maxsplit=1) for line in listing.read_text(encoding="utf-8").splitlines())
    return {name: sha256 for sha256, name in lines}


def _hashes(folder: Path) -> Mapping[str, str]:
    files = (path for path in folder.rglob("*") if not path.is_dir())
    return {str(path.relative_to(folder)): _sha256(path) for path in files}


def _sha256(path: Path) -> str:
    # A link could lead out of the folder, and to something else tomorrow.
    return "a link" if path.is_symlink() else hashlib.sha256(path.read_bytes()).hexdigest()
