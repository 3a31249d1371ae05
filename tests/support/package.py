"""The deployment package, built as people build it."""

import subprocess
import sys
from pathlib import Path

import pytest

from infra.aws.package import OLDEST
from infra.local.stack.layout import ROOT


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder with the package, and what `infra/package` printed. Built once for all tests of a process."""
    folder = tmp_path_factory.getbasetemp() / "built-package"
    said = folder.with_suffix(".txt")
    if not said.exists():
        folder.mkdir()
        said.write_text(built_package(folder))
    return folder, said.read_text()


def built_package(folder: Path) -> str:
    """Builds the package into the folder; what `infra/package` printed. Skips the test where Python is too old."""
    if sys.version_info[:2] < OLDEST:
        pytest.skip("Chalice packages for the Python that runs it; 3.12 is the oldest that works")
    done = subprocess.run(
        ["infra/package", str(folder)], cwd=ROOT, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
