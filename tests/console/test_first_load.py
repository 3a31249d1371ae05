"""What a browser gets before it knows who is there."""

import pytest

from tests.console.console import Console
from tests.support.chromium import visit

LIMIT = 120 * 1024


def test_the_page_is_small_and_asks_for_three_things_before_data(console: Console) -> None:
    with visit(console.browser, console.url) as opened:
        opened.page.goto(f"{console.url}/console")
        opened.page.get_by_label("E-mail").wait_for()
        before_data = [request for request in opened.requests if "/api/" not in request.url]
        assert len(before_data) == 3
        sizes = [response.request.sizes() for response in opened.responses if "/api/" not in response.url]
        assert sum(size["responseBodySize"] for size in sizes) <= LIMIT
        assert opened.all_faults() == []


@pytest.mark.parametrize("prefix", ["/", "/console/"])
def test_a_browser_is_led_to_the_console(console: Console, prefix: str) -> None:
    with visit(console.browser, console.url) as opened:
        opened.page.goto(console.url + prefix)
        opened.page.get_by_label("E-mail").wait_for()
        assert opened.page.url == f"{console.url}/console"


def test_a_wrong_password_is_told_and_what_was_typed_stays(console: Console) -> None:
    with visit(console.browser, console.url) as opened:
        page = opened.page
        page.goto(f"{console.url}/console")
        page.get_by_label("E-mail").fill("nobody@example.com")
        page.get_by_label("Password").fill("not the password")
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("alert").wait_for()
        assert page.get_by_label("E-mail").input_value() == "nobody@example.com"
        assert opened.all_faults() == []
