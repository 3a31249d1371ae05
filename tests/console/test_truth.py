"""What was seen too long ago is not shown as if it were so now."""

import pytest

from tests.console.console import Console, pass_seconds, settle
from tests.support.waiting import eventually

pytestmark = pytest.mark.thorough


def test_a_page_without_answers_says_that_it_knows_nothing_any_more(console: Console) -> None:
    pipeline, path = console.sandbox.pipeline, f"/pipelines/{console.sandbox.pipeline['id']}"
    eventually(lambda: console.sandbox.admin.get_ok(path)["observed_state"], lambda state: state == "RUNNING")
    with console.signed_in(route=f"pipelines?q={pipeline['name']}") as opened:
        page = opened.page
        page.clock.install()
        page.reload()
        settle(opened)
        state = page.locator("tbody tr .state").first
        state.get_by_text("Running", exact=True).wait_for()
        page.route("**/api/**", lambda route: route.abort())
        pass_seconds(opened, 45)
        state.get_by_text("Unknown", exact=True).wait_for()
        state.get_by_text("last known: Running").wait_for()
        page.get_by_text("This is what was known").wait_for()


def test_a_failed_task_is_seen_without_a_reload(console: Console) -> None:
    pipeline = console.sandbox.running_pipeline()
    with console.signed_in(route=f"pipelines/{pipeline['id']}") as opened:
        opened.page.locator(".state").get_by_text("Running", exact=True).first.wait_for()
        console.sandbox.doubles.connect_double.fail_task(pipeline["connector_name"], "java.lang.Error: broken")
        opened.page.locator(".state").get_by_text("Failed", exact=True).first.wait_for(timeout=40_000)
        assert "java.lang" not in opened.page.content()
        assert opened.all_faults() == []
