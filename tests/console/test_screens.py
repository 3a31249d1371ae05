"""What holds for every screen: axe finds nothing, nothing is too wide for a phone, nothing breaks without the API."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.console.console import Console, axe_violations
from tests.console.screens import SCREENS
from tests.support.api_assertions import UNKNOWN_ID
from tests.support.chromium import Visit

NARROW = 320
_LOOKS = 10


@pytest.fixture(scope="module", params=["light", "dark"])
def opened(request: pytest.FixtureRequest, console: Console) -> Iterator[Visit]:
    """A console in which somebody is signed in, in each color scheme."""
    with console.signed_in(color_scheme=request.param) as opened:
        yield opened


@pytest.mark.parametrize("screen", SCREENS)
def test_a_full_screen_is_accessible_and_fits_a_phone(console: Console, opened: Visit, screen: str) -> None:
    console.go(opened, SCREENS[screen](console.sandbox))
    assert axe_violations(opened) == []
    assert widths(opened) == []
    assert opened.all_faults() == []


@pytest.mark.parametrize("screen", SCREENS)
def test_a_screen_whose_data_cannot_be_read_says_so(console: Console, opened: Visit, screen: str) -> None:
    page = opened.page
    page.goto("about:blank")
    try:
        page.route("**/api/v1/**", lambda route: route.fallback() if "/session" in route.request.url else route.abort())
        page.goto(f"{console.url}/console#/{SCREENS[screen](console.sandbox)}")
        page.get_by_text("Headgate does not answer").first.wait_for()
        assert axe_violations(opened) == []
        assert widths(opened) == []
    finally:
        page.unroute_all()


@pytest.mark.parametrize("screen", ["pipelines", "deliveries", "sources", "topics", "alerts", "incidents", "changes"])
def test_the_filters_leave_room_for_the_first_row_on_a_phone(console: Console, screen: str) -> None:
    with console.signed_in(viewport={"width": 360, "height": 740}) as opened:
        console.go(opened, SCREENS[screen](console.sandbox))
        last = opened.page.locator("main search").bounding_box()
        assert last is not None
        assert last["y"] + last["height"] < 740 * 0.65


def test_a_time_says_in_which_zone_it_is(console: Console) -> None:
    with console.signed_in(timezone_id="Asia/Tokyo", locale="en-GB") as opened:
        console.go(opened, SCREENS["changes"](console.sandbox))
        expect(opened.page.locator("tbody time").first).to_have_text(re.compile(r"GMT\+9$"))


def test_the_form_of_a_maintenance_says_in_which_zone_its_times_are(console: Console) -> None:
    with console.signed_in(timezone_id="Asia/Tokyo") as opened:
        console.go(opened, "maintenance/new")
        expect(opened.page.get_by_label("From")).to_have_accessible_description(re.compile("Asia/Tokyo"))


@pytest.mark.parametrize("kind", ["pipelines", "sources", "alerts"])
def test_what_is_gone_leads_to_the_list(console: Console, kind: str) -> None:
    with console.signed_in() as opened:
        page = opened.page
        page.goto(f"{console.url}/console#/{kind}/{UNKNOWN_ID}")
        page.get_by_role("link", name="Show the list").click()
        expect(page).to_have_url(re.compile(rf"#/{kind}$"))
        expect(page.get_by_role("link", name="Show the list")).to_have_count(0)


def widths(opened: Visit) -> list[str]:
    """Elements that are wider than a narrow page, at that width."""
    page = opened.page
    before = page.viewport_size
    page.set_viewport_size({"width": NARROW, "height": 800})
    try:
        for _ in range(_LOOKS):  # plots follow a moment later
            if not (found := _too_wide(page)):
                break
            page.wait_for_timeout(200)
        return found
    finally:
        if before:
            page.set_viewport_size(before)


def _too_wide(page: Page) -> list[str]:
    found: list[str] = page.evaluate(
        """width => document.documentElement.scrollWidth <= width ? [] :
          [...document.querySelectorAll("body *")]
            .filter((each) => each.getBoundingClientRect().right > width + 1)
            .map((each) => `${each.tagName}.${each.className}`).slice(0, 10)""",
        NARROW,
    )
    return found
