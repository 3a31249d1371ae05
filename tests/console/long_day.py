"""Check 18: a page that is open for a working day, many changes of the screen, and a new release in between."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import CDPSession, Error

from infra.local.stack.layout import ROOT
from tests.console.console import Console, settle
from tests.console.figures import Figure, at_least, at_most, none_of
from tests.console.screens import SCREENS
from tests.support.chromium import Visit, visit

HOURS = 8
CHANGES = 500
SHOWN = ("now", "pipelines", "pipeline", "deliveries", "source", "alerts")
MAX_GROWTH_MIB, MAX_DETACHED = 5.0, 100.0
_STEP_SECONDS = 10
_PAUSE = 20
_PAUSES = 100
"""How often, and for how many milliseconds, to wait for the answers to a poll."""

_CONSOLE = ROOT / "chalicelib" / "console"


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The heap in MiB, and nodes: all, those that no document has any more."""

    heap: float
    nodes: float


def long_day(console: Console, *, hours: float = HOURS, changes: int = CHANGES) -> list[Figure]:
    """Growth of the heap, and nodes that are left, after hours of polling and after many changes of the screen.

    In the middle of the changes a new release is installed: what is opened afterwards is not broken.
    """
    routes = [SCREENS[name](console.sandbox) for name in SHOWN]
    with console.signed_in() as opened:
        page = opened.page
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable")
        page.clock.install()
        page.reload()
        for route in (*routes, ""):
            console.go(opened, route)
        before = _measured(session)
        opened.requests.clear()
        opened.responses.clear()
        for _ in range(int(hours * 3_600 / _STEP_SECONDS)):
            page.clock.run_for(_STEP_SECONDS * 1_000)
            _wait_for_answers(opened)
        polls, polled = len(opened.requests), _measured(session)
        broken = _change(console, opened, routes, changes // 2)
        with _new_release(console):
            broken += _change(console, opened, routes, changes - changes // 2)
            _forget(console, opened)
            changed = _measured(session)
            broken += _in_new_pages(console, opened, routes)
        faults = opened.all_faults()
    return [
        at_least(f"18 polls in {hours:g} hours", polls, hours * 3_600 / _STEP_SECONDS / 2),
        at_most(
            f"18 growth of the heap in {hours:g} hours of polling", polled.heap - before.heap, MAX_GROWTH_MIB, "MiB"
        ),
        at_most(f"18 growth of the heap after {changes} screens", changed.heap - before.heap, MAX_GROWTH_MIB, "MiB"),
        at_most("18 nodes that nobody shows any more", max(0.0, changed.nodes - before.nodes), MAX_DETACHED),
        none_of(f"18 broken screens of {changes}, half of them after a new release, and of new pages", broken),
        none_of("18 complaints of the browser", faults),
    ]


def _wait_for_answers(opened: Visit) -> None:
    for _ in range(_PAUSES):
        opened.page.wait_for_timeout(_PAUSE)
        if len(opened.responses) >= len(opened.requests):
            return


def _change(console: Console, opened: Visit, routes: list[str], changes: int) -> list[str]:
    """Opens one screen after the other; those that do not show what they should."""
    return [
        problem for change in range(changes) if (problem := _problem(console, opened, routes[change % len(routes)]))
    ]


def _problem(console: Console, opened: Visit, route: str) -> str:
    try:
        console.go(opened, route)
    except (Error, AssertionError) as error:
        return f"{route}: {str(error)[:100]}"
    failed = opened.page.locator("main .failed")
    return f"{route}: {failed.first.inner_text()}" if failed.count() else ""


def _forget(console: Console, opened: Visit) -> None:
    """Back to the screen of the beginning; what others had read is kept for a while only."""
    console.go(opened, "")
    opened.page.clock.run_for(60_000)
    settle(opened)


def _in_new_pages(console: Console, opened: Visit, routes: list[str]) -> list[str]:
    """After a release: the open page says so, and is the new one after a reload; the name of the old script is gone."""
    page = opened.page
    script = page.locator("script[src]").get_attribute("src")
    page.goto(f"{console.url}/console#/account")
    page.get_by_role("button", name="Reload the page").click()
    settle(opened)
    broken = [] if page.locator("script[src]").get_attribute("src") != script else ["the old build after a reload"]
    broken += _change(console, opened, routes, len(routes))
    with visit(console.browser, console.url) as other:
        other.page.goto(f"{console.url}/console")
        other.page.get_by_label("E-mail").wait_for()
        return broken + other.all_faults()


@contextmanager
def _new_release(console: Console) -> Iterator[None]:
    """The same console under other names, until the end."""
    with tempfile.TemporaryDirectory() as folder:
        console.sandbox.serve_console(_renamed(Path(folder) / "console"))
        try:
            yield
        finally:
            console.sandbox.serve_console(_CONSOLE)


def _renamed(folder: Path) -> Path:
    """A copy of the built files in which each asset has another name."""
    shutil.copytree(_CONSOLE, folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    index = (folder / "index.html").read_text()
    files = {}
    for name, entry in manifest["files"].items():
        other = f"next-{name}"
        (folder / name).rename(folder / other)
        files[other] = entry
        index = index.replace(name, other)
    (folder / "index.html").write_text(index)
    (folder / "manifest.json").write_text(json.dumps({**manifest, "files": files}))
    return folder


def _measured(session: CDPSession) -> Measured:
    """After what is not used was collected."""
    session.send("HeapProfiler.collectGarbage")
    metrics = {metric["name"]: metric["value"] for metric in session.send("Performance.getMetrics")["metrics"]}
    return Measured(heap=metrics["JSHeapUsedSize"] / 1024**2, nodes=metrics["Nodes"])
