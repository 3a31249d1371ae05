"""Chromium for tests of pages: Debian's, driven by Playwright. Whatever a page complains of is kept.

with running_chromium() as browser, visit(browser, url) as visit:
    visit.page.get_by_role("button", name="Sign in").click()
    assert visit.faults == []
"""

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, Response, sync_playwright

from infra.local.app.errors import SetupMissing

OPTIONS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")
SECONDS = 15.0
"""For a page to show what a test waits for, on a busy machine."""

_INSTALL_SECONDS = 600
_VIOLATIONS = """
window.__violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.__violations.push(`${event.violatedDirective}: ${event.blockedURI || event.sample}`));
"""
_OWN_LINE = "Failed to load resource"
"""The browser's own line for each answer of 400 and more; such answers are judged by their codes."""


def find_chromium() -> str:
    """Its path; where it is missing and we are root it is installed. Raises SetupMissing with the reason."""
    with (Path(tempfile.gettempdir()) / "headgate-chromium.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = shutil.which("chromium")
        if found:
            return found
        if os.geteuid() != 0 or shutil.which("apt-get") is None:
            raise SetupMissing("Chromium is not here. Install it: apt-get install chromium")
        for command in (("update",), ("install", "--yes", "--no-install-recommends", "chromium")):
            done = subprocess.run(
                ["apt-get", *command], capture_output=True, text=True, timeout=_INSTALL_SECONDS, check=False
            )
            if done.returncode != 0:
                raise SetupMissing(f"Chromium cannot be installed: apt-get says {done.stderr.strip()[-300:]!r}.")
    found = shutil.which("chromium")
    if not found:
        raise SetupMissing("Debian's package chromium has no program of this name.")
    return found


@contextmanager
def running_chromium() -> Iterator[Browser]:
    """Raises SetupMissing."""
    path = find_chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(OPTIONS))
        try:
            yield browser
        finally:
            browser.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Skips, with the reason, where there is no Chromium and none has to be."""
    try:
        with running_chromium() as running:
            yield running
    except SetupMissing as error:
        if os.environ.get("HEADGATE_REQUIRE_REAL"):
            raise
        pytest.skip(str(error))


@dataclass(kw_only=True)
class Visit:
    """A page, what it has complained of, and what it has asked for."""

    page: Page
    url: str
    faults: list[str] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    responses: list[Response] = field(default_factory=list)

    def all_faults(self) -> list[str]:
        """What the page has written to its console, what its policy has refused, requests to other origins."""
        violations: list[str] = self.page.evaluate("window.__violations ?? []")
        foreign = [request.url for request in self.requests if not _is_of(request.url, self.url)]
        return [*self.faults, *violations, *foreign]


@contextmanager
def visit(browser: Browser, url: str, **options: Any) -> Iterator[Visit]:
    """A new page in a context of its own, without cookies; `options` are those of Playwright's `new_context`."""
    context = browser.new_context(**{"viewport": {"width": 1200, "height": 800}, **options})
    context.set_default_timeout(SECONDS * 1000)
    context.add_init_script(_VIOLATIONS)
    page = context.new_page()
    seen = Visit(page=page, url=url)

    def note(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not message.text.startswith(_OWN_LINE):
            seen.faults.append(message.text)

    page.on("console", note)
    page.on("pageerror", lambda error: seen.faults.append(str(error)))
    # Playwright sets an attribute on what it calls, which a method of a list does not take.
    page.on("request", lambda request: seen.requests.append(request))  # noqa: PLW0108
    page.on("response", lambda response: seen.responses.append(response))  # noqa: PLW0108
    try:
        yield seen
    finally:
        context.close()


def _is_of(url: str, origin: str) -> bool:
    parts, ours = urlsplit(url), urlsplit(origin)
    return parts.scheme == "data" or (parts.scheme, parts.netloc) == (ours.scheme, ours.netloc)
