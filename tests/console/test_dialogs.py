"""Actions ask first: the dialog shows the server's own dry run, and one request follows after consent."""

import pytest
from playwright.sync_api import Route

from tests.console.console import Console, settle
from tests.console.dialogs import STATES, consent, dialogs, open_dialog

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize(
    ("action", "state"),
    [
        ("deploy", "draft"),
        ("pause", "running"),
        ("resume", "paused"),
        ("restart task", "failed"),
        ("delete", "running"),
    ],
)
def test_a_dialog_says_what_the_dry_run_says_and_what_then_happens(console: Console, action: str, state: str) -> None:
    figures = dialogs(console, actions=[action], states=[state])
    assert [str(figure) for figure in figures if not figure.holds] == []


def test_a_double_click_is_one_operation(console: Console) -> None:
    pipeline = STATES["running"](console.sandbox)
    with console.signed_in(route=f"pipelines/{pipeline['id']}") as opened:
        settle(opened)
        dialog = open_dialog(opened, opened.page.locator('[data-operation="pause_pipeline"]').first)
        began = len(opened.requests)
        dialog.element.locator('button[type="submit"]').dblclick()
        dialog.element.wait_for(state="hidden")
        sent = [request.url for request in opened.requests[began:] if request.method == "POST"]
        assert len(sent) == 1


def test_nothing_happens_to_what_would_be_lost_until_its_name_is_typed(console: Console) -> None:
    pipeline = STATES["running"](console.sandbox)
    with console.signed_in(route=f"pipelines/{pipeline['id']}") as opened:
        settle(opened)
        dialog = open_dialog(opened, opened.page.locator('[data-operation="delete_pipeline"]').first)
        submit = dialog.element.locator('button[type="submit"]')
        assert submit.get_attribute("aria-disabled") == "true"
        submit.click(force=True)
        assert console.sandbox.admin.get(f"/pipelines/{pipeline['id']}").status_code == 200
        consent(dialog, pipeline["name"])
        assert console.sandbox.admin.get(f"/pipelines/{pipeline['id']}").status_code in (202, 404)


def test_a_lost_answer_is_told_and_the_same_request_is_sent_again(console: Console) -> None:
    pipeline = STATES["running"](console.sandbox)
    with console.signed_in(route=f"pipelines/{pipeline['id']}") as opened:
        settle(opened)
        page = opened.page
        dialog = open_dialog(opened, page.locator('[data-operation="pause_pipeline"]').first)

        def lose(route: Route) -> None:
            route.fetch()  # it arrives, and its answer is lost
            route.abort()

        page.route("**/pause", lose)
        dialog.element.locator('button[type="submit"]').click()
        dialog.element.get_by_text("It is not known whether").wait_for()
        page.unroute("**/pause")
        dialog.element.locator('button[type="submit"]').click()
        dialog.element.wait_for(state="hidden")
        keys = {
            request.headers["idempotency-key"]
            for request in opened.requests
            if request.method == "POST" and request.url.endswith("/pause")
        }
        assert len(keys) == 1
        actions = [record["action"] for record in console.sandbox.audit_records(pipeline["id"])]
        assert actions.count("pipeline.pause") == 2  # asked for, and done: one operation
