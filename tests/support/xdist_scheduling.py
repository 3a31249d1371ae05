"""How pytest-xdist distributes tests over processes: a plugin for `-n 4 --dist loadfile --no-loadscope-reorder`.

The tests of a file stay in one process, so that servers that they share start once. The files that use the sandbox form
two scopes, since each process that runs one of them starts its own sandbox. The slowest folders begin first.
"""

from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

SANDBOX = "integration/api/"
FIRST = (SANDBOX, "integration/databases/", "integration/", "contract/", "timelines/", "faults/")
"""Folders in the order in which their files start; all others follow."""


def scope_of(nodeid: str) -> str:
    """Tests with the same scope run in the same process."""
    file = nodeid.partition("::")[0]
    name = file.rpartition("/")[2]
    if not file.startswith(SANDBOX):
        return file
    # Both halves of the alphabet take about the same time.
    return f"{SANDBOX}a-h" if name < "test_i" else f"{SANDBOX}i-z"


def priority(nodeid: str) -> int:
    """Tests with a lower priority number start first."""
    return next((at for at, folder in enumerate(FIRST) if nodeid.startswith(folder)), len(FIRST))


class SandboxScheduling(LoadFileScheduling):
    """A process takes one scope at a time."""

    def _split_scope(self, nodeid: str) -> str:
        return scope_of(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> SandboxScheduling | None:
    """Only for `--dist loadfile`."""
    return SandboxScheduling(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Sorts in the worker processes only; a run in one process keeps its order."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: priority(item.nodeid))
