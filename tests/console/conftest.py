"""The fixtures of the tests of the console."""

import pytest
from playwright.sync_api import Browser

from tests.console.console import Console
from tests.support.apps.sandbox import Sandbox, sandbox
from tests.support.chromium import browser

__all__ = ["browser", "sandbox"]


@pytest.fixture(scope="session")
def console(sandbox: Sandbox, browser: Browser) -> Console:
    """A sandbox and a browser."""
    return Console(sandbox=sandbox, browser=browser)
