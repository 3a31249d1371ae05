"""A machine whose Go is too old to build MinIO."""

import os
from pathlib import Path

import pytest


def old_go(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """From now on `go` says that it is version 1.19; no MinIO of this machine is named. `folder` gets the program."""
    go = folder / "go"
    go.write_text("#!/bin/sh\necho go1.19.8\n")
    go.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.delenv("HEADGATE_MINIO", raising=False)
