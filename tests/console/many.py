"""Check 12: a list of many pipelines, with a processor that is slowed four times."""

import statistics
import time
from collections.abc import Sequence

from playwright.sync_api import Page

from tests.console.console import Console, settle
from tests.console.figures import Figure, at_most

SLOWED = 4
_OBSERVE = """
window.__longest = 0; window.__shift = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.__longest = Math.max(window.__longest, entry.duration);
}).observe({type: "longtask", buffered: true});
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.__shift += entry.value;
}).observe({type: "layout-shift", buffered: true});
"""
_UNTIL_PAINTED = """() => new Promise((done) => {
  const began = performance.now();
  requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - began)));
})"""


def many_pipelines(console: Console, *, count: int = 1_000) -> list[Figure]:
    """From the data to a list that can be used; letters typed into its filter; long tasks; shifts of the layout."""
    console.sandbox.seed_drafts(count)
    with console.signed_in() as opened:
        page = opened.page
        page.context.add_init_script(_OBSERVE)
        page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWED})
        page.goto("about:blank")
        with page.expect_response(lambda response: "/api/v1/pipelines" in response.url):
            page.goto(f"{console.url}/console#/pipelines")
        began = time.monotonic()
        page.locator("tbody tr").nth(20).wait_for()
        usable = time.monotonic() - began
        settle(opened)
        taken = keystrokes(page, "deployed 77")
        figures = [
            at_most(f"12 from the data to a list of {count} that can be used", usable, 1.0, "s"),
            at_most("12 from a letter in the filter to its picture, 95th percentile", p95(taken), 100, "ms"),
            at_most("12 longest task", float(page.evaluate("window.__longest")), 200, "ms"),
            at_most("12 shift of the layout", float(page.evaluate("window.__shift")), 0.02),
        ]
        assert opened.all_faults() == []
        return figures


def keystrokes(page: Page, text: str) -> list[float]:
    """Milliseconds from each letter until the page has been painted again."""
    field = page.get_by_role("searchbox").first
    taken = []
    for letter in text:
        field.press_sequentially(letter)
        taken.append(float(page.evaluate(_UNTIL_PAINTED)))
        page.wait_for_timeout(50)
    return taken


def p95(numbers: Sequence[float]) -> float:
    """The 95th percentile."""
    return statistics.quantiles(numbers, n=20)[-1]
