"""Actions ask first: the dialog shows the server's own dry run, and one request follows after consent."""

import pytest

from tests.console.console import Console, settle
from tests.console.dialogs import consent, dialogs, open_dialog

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize(
    ("kind", "action", "state"),
    [
        ("pipeline", "deploy", "draft"),
        ("pipeline", "restart task", "failed"),
        ("delivery", "restart", "paused"),
        ("destination", "pause", "of one that runs and one that is paused"),
        ("topic", "delete", "of no pipeline"),
    ],
)
def test_a_dialog_says_what_the_dry_run_says_and_what_then_happens(
    console: Console, kind: str, action: str, state: str
) -> None:
    figures = dialogs(console, kinds=[kind], actions=[action], states=[state])
    assert [str(figure) for figure in figures if not figure.holds] == []


def test_nothing_happens_to_what_would_be_lost_until_its_name_is_typed(console: Console) -> None:
    pipeline = console.sandbox.running_pipeline()
    with console.signed_in(route=f"pipelines/{pipeline['id']}") as opened:
        settle(opened)
        dialog = open_dialog(opened, opened.page.locator('[data-operation="delete_pipeline"]').first)
        submit = dialog.element.locator('button[type="submit"]')
        assert submit.get_attribute("aria-disabled") == "true"
        submit.click(force=True)
        assert console.sandbox.admin.get(f"/pipelines/{pipeline['id']}").status_code == 200
        consent(dialog, pipeline["name"])
        assert console.sandbox.admin.get(f"/pipelines/{pipeline['id']}").status_code in (202, 404)
