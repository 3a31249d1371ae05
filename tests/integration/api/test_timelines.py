"""Timelines over HTTP: their fields, who sees people, pages, and mistakes."""

import pytest

from tests.support.api_assertions import UNKNOWN_ID, assert_error, is_timestamp, validation_error
from tests.support.apps.sandbox import Json, Sandbox

FIELDS = {"at", "kind", "title", "outcome", "steps", "actor"}


@pytest.fixture(scope="module")
def paused(sandbox: Sandbox) -> Json:
    """A pipeline that was made, deployed and paused."""
    pipeline = sandbox.running_pipeline()
    assert sandbox.admin.post(f"/pipelines/{pipeline['id']}/pause").status_code in (200, 202)
    return pipeline


def test_an_operation_has_the_fields_of_the_contract(sandbox: Sandbox, paused: Json) -> None:
    entries = sandbox.admin.get_ok(f"/pipelines/{paused['id']}/timeline")
    assert all(set(entry) == FIELDS for entry in entries)
    pause = next(entry for entry in entries if entry["title"] == "Pause was asked for")
    assert (pause["kind"], pause["outcome"]) == ("operation", "success")
    assert [step["outcome"] for step in pause["steps"]] == ["requested", "success"]
    assert all(set(step) == {"at", "outcome"} and is_timestamp(step["at"]) for step in pause["steps"])
    assert is_timestamp(pause["at"])
    assert set(pause["actor"]) == {"id", "email", "via"}


@pytest.mark.parametrize("role", ["Viewer", "Ops"])
def test_others_than_admins_see_what_was_done_and_not_by_whom(sandbox: Sandbox, paused: Json, role: str) -> None:
    entries = sandbox.with_role(role).get_ok(f"/pipelines/{paused['id']}/timeline")
    assert "Pause was asked for" in [entry["title"] for entry in entries]
    assert [entry["actor"] for entry in entries] == [None] * len(entries)


def test_small_pages_show_what_a_large_one_shows(sandbox: Sandbox, paused: Json) -> None:
    path = f"/pipelines/{paused['id']}/timeline"
    until = sandbox.admin.get_ok(path)[0]["at"]
    shown, cursor = list[Json](), ""
    while True:
        response = sandbox.admin.get(f"{path}?limit=1{cursor}")
        shown += response.json()
        if "X-Next-Cursor" not in response.headers:
            break
        cursor = f"&cursor={response.headers['X-Next-Cursor']}"
    known = [entry for entry in sandbox.admin.get_ok(path) if entry["at"] <= until]
    assert [entry for entry in shown if entry["at"] <= until] == known


def test_a_delivery_has_a_timeline_of_its_own(sandbox: Sandbox) -> None:
    delivery = sandbox.new_delivery()
    titles = [entry["title"] for entry in sandbox.admin.get_ok(f"/deliveries/{delivery['id']}/timeline")]
    assert titles[-1] == "Deployment was asked for"


@pytest.mark.parametrize("kind", ["pipelines", "deliveries"])
def test_mistakes_are_answered_as_everywhere(sandbox: Sandbox, kind: str) -> None:
    assert_error(sandbox.admin.get(f"/{kind}/{UNKNOWN_ID}/timeline"), 404, "NOT_FOUND")
    validation_error(sandbox.admin.get(f"/{kind}/{UNKNOWN_ID}/timeline?limit=501"), "query", "limit")
    validation_error(sandbox.admin.get(f"/{kind}/{UNKNOWN_ID}/timeline?order=up"), "query", "order")
