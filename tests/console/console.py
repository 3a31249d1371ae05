"""A console that is open in a browser, on a sandbox."""

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

from playwright.sync_api import Browser, expect

from infra.local.stack.layout import ROOT
from tests.support.apps.sandbox import Sandbox, running_sandbox
from tests.support.apps.sandbox_stack import ADMIN
from tests.support.chromium import SECONDS, Visit, running_chromium, visit

AXE = ROOT / "infra" / "console" / "node_modules" / "axe-core" / "axe.min.js"


@dataclass(kw_only=True)
class Console:
    """What the checks work with."""

    sandbox: Sandbox
    browser: Browser

    @property
    def url(self) -> str:
        return self.sandbox.url

    @contextmanager
    def signed_in(
        self, *, email: str = ADMIN.email, password: str = ADMIN.password, route: str = "", **options: Any
    ) -> Iterator[Visit]:
        """The console after somebody has signed in; `route` is what follows `#/`."""
        with visit(self.browser, self.url, **options) as opened:
            opened.page.goto(f"{self.url}/console#/{route}")
            sign_in(opened, email, password)
            yield opened

    def go(self, opened: Visit, route: str) -> None:
        """Open another screen of the page, and wait until it shows what it knows."""
        opened.page.goto(f"{self.url}/console#/{route}")
        settle(opened)


def sign_in(opened: Visit, email: str, password: str) -> None:
    page = opened.page
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()
    page.locator("header.top").wait_for()
    settle(opened)


def settle(opened: Visit) -> None:
    """Wait until nothing is being read for the first time."""
    opened.page.locator("main h1").first.wait_for()
    expect(opened.page.locator(".waiting")).to_have_count(0, timeout=SECONDS * 1000)


def pass_seconds(opened: Visit, seconds: int) -> None:
    """Move the clock of the page, which was installed, second by second: answers may come in between."""
    for _ in range(seconds):
        opened.page.clock.run_for(1_000)


@cache
def axe_script() -> str:
    """The source of axe-core, of the console's own locked packages."""
    subprocess.run([str(ROOT / "infra/console/build"), "--packages"], check=True, timeout=600, capture_output=True)
    return AXE.read_text()


def axe_violations(opened: Visit) -> list[str]:
    """The rules that axe finds broken on the page, with the elements."""
    page = opened.page
    page.evaluate(axe_script())
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
    result = page.evaluate("tags => axe.run(document, {runOnly: {type: 'tag', values: tags}})", tags)
    return [
        f"{violation['id']}: {node['target']} {node['failureSummary'][:200]}"
        for violation in result["violations"]
        for node in violation["nodes"]
    ]


@contextmanager
def running_console() -> Iterator[Console]:
    """Raises SetupMissing where there is no Chromium."""
    with ExitStack() as ends:
        browser = ends.enter_context(running_chromium())
        yield Console(sandbox=ends.enter_context(running_sandbox()), browser=browser)
