"""Check 12: a list of many pipelines, with a browser whose processor is slowed four times."""

import statistics
import time
from collections.abc import Sequence
from functools import partial
from urllib.parse import quote_plus

from playwright.sync_api import Page, Response

from tests.console.console import Console, settle
from tests.console.figures import Figure, at_most
from tests.support.apps.sandbox import running_sandbox

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
_PICTURES = """
window.__pictures = [];
new MutationObserver(() => requestAnimationFrame(() => requestAnimationFrame(() => {
  if (document.querySelector(".waiting") === null) window.__pictures.push(performance.now());
}))).observe(document, {childList: true, characterData: true, subtree: true});
"""
_SINCE_REQUEST = """([part, typed]) => new Promise((done) => {
  const fits = (entry) => entry.startTime > typed && entry.name.includes(part);
  const asked = performance.getEntriesByType("resource").find(fits);
  const look = () => {
    const painted = window.__pictures.find((at) => at > asked.responseEnd);
    return painted ? done(painted - asked.startTime) : requestAnimationFrame(look);
  };
  look();
})"""
_PATIENCE = 60_000
FILTERS = (
    *("7", "77", "777", "7777", "deployed 9999", "deployed 12", "deployed 5000", "deployed 1", "none of this name"),
    *("8", "88", "888", "8888", "deployed 9998", "deployed 13", "deployed 5001", "deployed 2", "nor of this one"),
)
"""Each text once: the page shows a list that is in its cache before the server has answered."""


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


def filtered_pipelines(console: Console, *, count: int = 10_000) -> list[Figure]:
    """From the request for a filtered list, which the server filters, until its rows are painted. The double of
    DynamoDB answers: DynamoDB Local reads indexes of thousands of items twenty times as slowly as DynamoDB.
    """
    taken = []
    with running_sandbox() as sandbox:
        sandbox.seed_drafts(count)
        with Console(sandbox=sandbox, browser=console.browser).signed_in(route="pipelines") as opened:
            page = opened.page
            page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWED})
            page.evaluate(_PICTURES)
            field = page.get_by_role("searchbox").first
            for text in FILTERS:
                asked = partial(_asks_for, text)
                typed = page.evaluate("performance.now()")
                with page.expect_response(asked, timeout=_PATIENCE):
                    field.fill(text)
                settle(opened)
                taken.append(float(page.evaluate(_SINCE_REQUEST, [f"q={quote_plus(text)}", typed])))
            assert opened.all_faults() == []
    what = f"12 from the request for {count} pipelines filtered by name to their picture, 95th percentile"
    return [at_most(what, p95(taken), 500, "ms")]


def _asks_for(text: str, response: Response) -> bool:
    return "/api/v1/pipelines?" in response.url and f"q={quote_plus(text)}&" in f"{response.url}&"


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
