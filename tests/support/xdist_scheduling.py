"""How tests are spread over processes: `-n 4 --dist loadfile --no-loadscope-reorder` (a plugin of pytest).

A file's tests stay together, so that what they share is started once. The files over the sandbox go in two lots, since
each process that runs one of them starts a sandbox of its own. What takes longest begins first.
"""

from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

SANDBOX = "integration/api/"
FIRST = (SANDBOX, "integration/databases/", "integration/", "contract/", "faults/")
"""Folders in the order in which their files begin; all others follow."""


def lot(nodeid: str) -> str:
    """What has to run in the same process as this test."""
    file = nodeid.partition("::")[0]
    name = file.rpartition("/")[2]
    if not file.startswith(SANDBOX):
        return file
    # The halves of the alphabet take about as long as each other.
    return f"{SANDBOX}a-h" if name < "test_i" else f"{SANDBOX}i-z"


def rank(nodeid: str) -> int:
    """When the test begins."""
    return next((at for at, folder in enumerate(FIRST) if nodeid.startswith(folder)), len(FIRST))


class Lots(LoadFileScheduling):
    """A process takes a lot at a time."""

    def _split_scope(self, nodeid: str) -> str:
        return lot(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Lots | None:
    """Only where files are to stay together."""
    return Lots(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In the processes that run tests; a run in one process keeps its order."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: rank(item.nodeid))
