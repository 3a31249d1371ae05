"""Screens where nothing is registered yet: each says what it is for and what comes first."""

from collections.abc import Iterator

import pytest

from tests.console.console import Console, axe_violations
from tests.console.test_screens import widths
from tests.support.apps.sandbox import running_sandbox
from tests.support.chromium import Visit

pytestmark = pytest.mark.thorough

LISTS = (
    *("", "start", "pipelines", "deliveries", "sources", "destinations", "topics", "groups", "connectors", "clusters"),
    *("alerts", "incidents", "channels", "maintenance"),
)


@pytest.fixture(scope="module")
def empty(console: Console) -> Iterator[tuple[Console, Visit]]:
    """A console of an installation in which nothing is registered."""
    with running_sandbox() as sandbox:
        new = Console(sandbox=sandbox, browser=console.browser)
        with new.signed_in() as opened:
            yield new, opened


@pytest.mark.parametrize("route", LISTS)
def test_an_empty_screen_is_accessible_and_says_what_it_is_for(empty: tuple[Console, Visit], route: str) -> None:
    console, opened = empty
    console.go(opened, route)
    assert opened.page.locator("main table").count() == 0
    assert len(opened.page.locator("main").inner_text()) > len(opened.page.locator("main h1").inner_text()) + 20
    assert axe_violations(opened) == []
    assert widths(opened) == []
    assert opened.all_faults() == []
