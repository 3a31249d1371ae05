"""The built files of the console, which lie in `chalicelib/console`; its manifest lists them.

{"files": {"app-1a2b3c4d.js": {"media_type": "text/javascript; charset=utf-8", "sha256": "..."}},
 "index": {"sha256": "..."}}
"""

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import chalicelib
from chalicelib.errors import NotFound

_FOLDER = Path(chalicelib.__file__).parent / "console"
_BUILD_CHARACTERS = 12


@dataclass(frozen=True, slots=True)
class Manifest:
    """`media_types` are those of the files by name, `build` is another text for each build of the console."""

    media_types: MappingProxyType[str, str]
    build: str


def manifest() -> Manifest:
    """The manifest; read again when the console was built again while this process runs."""
    file = _FOLDER / "manifest.json"
    return _manifest(file, file.stat().st_mtime_ns)


def index_page() -> str:
    """The text of the page."""
    return (_FOLDER / "index.html").read_text(encoding="utf-8")


def console_file(name: str) -> tuple[str, str]:
    """The text of a file and its media type. Raises NotFound for a name that the manifest does not list."""
    media_type = manifest().media_types.get(name)
    if media_type is None:
        raise NotFound("The console has no such file: it belongs to another release. Load the page /console again.")
    return (_FOLDER / name).read_text(encoding="utf-8"), media_type


@lru_cache(maxsize=1)
def _manifest(file: Path, _modified: int) -> Manifest:
    content = file.read_bytes()
    files: dict[str, Any] = json.loads(content)["files"]
    media_types = {name: str(entry["media_type"]) for name, entry in files.items()}
    build = hashlib.sha256(content).hexdigest()[:_BUILD_CHARACTERS]
    return Manifest(MappingProxyType(media_types), build)
