"""Checks 11 and 18: what an open page asks for while nobody touches it."""

from collections.abc import Sequence

from playwright.sync_api import Response

from tests.console.console import Console, pass_seconds
from tests.console.figures import Figure, at_least, at_most

QUIET_MINUTES = 10
AWAY_MINUTES = 5
_HIDE = """
Object.defineProperty(document, "hidden", {configurable: true, get: () => true});
document.dispatchEvent(new Event("visibilitychange"));
"""


def quiet_page(console: Console, *, minutes: int = QUIET_MINUTES, away: int = AWAY_MINUTES) -> list[Figure]:
    """Requests, share of 304 and bytes of the first screen in quiet minutes; of a hidden page; without the API.

    The time of the page is moved in steps, so that its answers come between them.
    """
    console.sandbox.pipeline  # noqa: B018 - there is something to show
    with console.signed_in() as opened:
        page = opened.page
        page.clock.install()
        page.reload()
        page.locator("main h1").wait_for()
        page.wait_for_timeout(1_000)
        opened.responses.clear()
        pass_seconds(opened, minutes * 60)
        page.wait_for_timeout(500)
        polls = [response for response in opened.responses if "/api/" in response.url]
        figures = _of_quiet(polls, minutes)
        page.evaluate(_HIDE)
        pass_seconds(opened, 1)
        page.wait_for_timeout(500)
        opened.requests.clear()
        pass_seconds(opened, 60)
        figures.append(at_most("11 requests of a hidden page in a minute", len(opened.requests), 0))
    return [*figures, _without_api(console, away)]


def _of_quiet(polls: Sequence[Response], minutes: int) -> list[Figure]:
    same = sum(response.status == 304 for response in polls)
    size = sum(response.request.sizes()["responseBodySize"] for response in polls if response.status != 304) / 1024
    of_all = minutes / QUIET_MINUTES
    return [
        at_most(f"11 requests in {minutes} quiet minutes", len(polls), 126 * of_all),
        at_least("11 share of answers that say that nothing has changed", 100 * same / max(1, len(polls)), 90, "%"),
        at_most("11 bytes of the bodies", size, 400 * of_all, "KiB"),
    ]


def _without_api(console: Console, minutes: int) -> Figure:
    with console.signed_in() as opened:
        page = opened.page
        page.clock.install()
        page.reload()
        page.locator("main h1").wait_for()
        page.wait_for_timeout(500)
        page.route("**/api/**", lambda route: route.abort())
        opened.requests.clear()
        pass_seconds(opened, minutes * 60)
        page.get_by_text("This is what was known").first.wait_for()
        return at_most(f"11 requests in {minutes} minutes without an API", len(opened.requests), 4 * minutes)
