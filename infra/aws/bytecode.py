"""Adds the bytecode of every module to the zip: a function that starts would compile them, and cannot keep the result.

The files are as PEP 552 describes them, unchecked: nothing compares them with the source, and the zip does not keep
its time.
"""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

_SECONDS = 300
_READABLE = 0o644 << 16
_OPTIONS = ("-q", "-q", "--invalidation-mode", "unchecked-hash", "--workers", "1")


def add_bytecode(file: Path) -> None:
    """Adds a `.pyc` for each `.py` that compiles, for the Python that runs this. The same zip gets the same bytes."""
    with TemporaryDirectory(prefix="headgate-bytecode-") as folder:
        with ZipFile(file) as archive:
            archive.extractall(folder)
        # Sets of constants would lie in another order with each seed. What does not compile is no error: packages
        # hold templates of code as well.
        subprocess.run(
            [sys.executable, "-m", "compileall", *_OPTIONS, "-s", folder, "-p", "/var/task", folder],
            env={**os.environ, "PYTHONHASHSEED": "0"},
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
        compiled = sorted(Path(folder).rglob("*.pyc"))
        with ZipFile(file, "a", compression=ZIP_DEFLATED) as archive:
            present = set(archive.namelist())
            for path in compiled:
                name = path.relative_to(folder).as_posix()
                if name not in present:
                    archive.writestr(_entry(name), path.read_bytes())


def _entry(name: str) -> ZipInfo:
    entry = ZipInfo(name)
    entry.compress_type, entry.external_attr = ZIP_DEFLATED, _READABLE
    return entry
