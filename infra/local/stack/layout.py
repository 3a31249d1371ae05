"""The folders of a local run: programs, state and logs."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
"""The project's root folder."""

HOME = ROOT / ".headgate"
"""Everything that local runs make. Ignored by git; may be deleted at any time."""

POMS = Path(__file__).resolve().parent / "poms"
MODULES = Path(__file__).resolve().parent / "modules"
PLUGIN_PROJECT = ROOT / "infra" / "connect"


def cache_folder() -> Path:
    """The folder of fetched programs; `HEADGATE_CACHE` lets several checkouts share one."""
    return Path(os.environ.get("HEADGATE_CACHE") or HOME / "cache").absolute()


def state_folder(stack: str) -> Path:
    """The state of the stack of that name (`real` or `sandbox`); `HEADGATE_STATE` moves it."""
    return Path(os.environ.get("HEADGATE_STATE") or HOME / "state").absolute() / stack


def display_path(path: Path) -> str:
    """The path from the project's root if it is below it, else the whole path."""
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
