"""A page that stays open: it keeps showing what it knows, forgets what nobody looks at, and outlives a release."""

import pytest

from tests.console.console import Console, settle
from tests.console.long_day import long_day

pytestmark = pytest.mark.thorough


def test_nothing_is_left_behind_and_a_new_release_breaks_no_screen(console: Console) -> None:
    figures = long_day(console, hours=0.05, changes=12)
    assert [str(figure) for figure in figures if not figure.holds] == []


def test_a_screen_that_was_left_twice_keeps_its_data_when_it_is_opened_again(console: Console) -> None:
    with console.signed_in(route="clusters") as opened:
        page = opened.page
        page.clock.install()
        page.reload()
        settle(opened)
        for seconds, route in ((5, "alerts"), (10, "clusters"), (20, "alerts"), (20, "clusters")):
            console.go(opened, route)
            page.get_by_role("heading", name=route.capitalize(), exact=True).wait_for()
            page.clock.run_for(seconds * 1_000)
        page.clock.run_for(5_000)
        page.get_by_role("heading", name="Kafka clusters").wait_for()
        settle(opened)
        assert opened.all_faults() == []
