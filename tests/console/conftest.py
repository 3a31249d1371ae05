"""The fixtures of the tests of the console."""

import os
from collections.abc import Iterator

import pytest

from infra.local.app.errors import SetupMissing
from tests.console.console import Console
from tests.support.apps.sandbox import Sandbox, sandbox
from tests.support.chromium import running_chromium

__all__ = ["sandbox"]


@pytest.fixture(scope="session")
def console(sandbox: Sandbox) -> Iterator[Console]:
    """A sandbox and a browser. Skips, with the reason, where there is no Chromium and none has to be."""
    try:
        with running_chromium() as browser:
            yield Console(sandbox=sandbox, browser=browser)
    except SetupMissing as error:
        if os.environ.get("HEADGATE_REQUIRE_REAL"):
            raise
        pytest.skip(str(error))
