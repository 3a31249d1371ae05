"""`view=row` and `sort` over HTTP, and the weak tags by which a client polls them."""

from collections.abc import Mapping
from datetime import datetime

import pytest

from tests.integration.api.registered_kinds import create
from tests.support.api_assertions import validation_error
from tests.support.apps.sandbox import Sandbox
from tests.support.waiting import eventually

KINDS = ("/pipelines", "/deliveries")
FIELDS = {
    *("id", "name", "desired_state", "observed_state", "observed_at", "reason", "tasks", "tables", "lag"),
    *("seconds_to_loss", "labels"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_says_what_the_whole_entry_says(sandbox: Sandbox, kind: str) -> None:
    team = sandbox.name("team")
    created = create(sandbox, kind, {"team": team})
    [row] = sandbox.admin.get_ok(f"{kind}?view=row&label=team:{team}")
    [whole] = sandbox.admin.get_ok(f"{kind}?label=team:{team}")
    assert (set(row), row["id"], row["labels"]) == (FIELDS, created["id"], {"team": team})
    same = ("name", "desired_state", "observed_state")
    assert {name: row[name] for name in same} == {name: whole[name] for name in same}
    assert row["tasks"]["total"] == len(whole["tasks"])
    assert row["reason"] == next(iter(whole["reasons"]), None)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("view", ["", "&view=row", "&view=definition"])
def test_every_view_is_sorted_by_name_page_after_page(sandbox: Sandbox, kind: str, view: str) -> None:
    team = sandbox.name("team")
    names = [create(sandbox, kind, {"team": team})["name"] for _ in range(3)]
    path = f"{kind}?sort=name&limit=2&label=team:{team}{view}"
    first = sandbox.admin.get(path)
    second = sandbox.admin.get(path, params={"cursor": first.headers["X-Next-Cursor"]})
    assert [entry["name"] for entry in (*first.json(), *second.json())] == sorted(names)
    assert "X-Next-Cursor" not in second.headers


def test_a_cursor_of_another_order_is_refused(sandbox: Sandbox) -> None:
    for _ in range(2):
        sandbox.new_pipeline()
    cursor = sandbox.admin.get("/pipelines?view=row&sort=name&limit=1").headers["X-Next-Cursor"]
    refused = sandbox.admin.get("/pipelines?view=row&sort=attention&limit=1", params={"cursor": cursor})
    assert refused.status_code in (400, 422)


def test_other_lists_have_no_rows_and_an_unknown_order_is_refused(sandbox: Sandbox) -> None:
    for path, name in (("/sources?view=row", "view"), ("/pipelines?view=rows", "view"), ("/pipelines?sort=id", "sort")):
        validation_error(sandbox.admin.get(path), "query", name)


def test_a_list_is_304_until_a_state_changes(sandbox: Sandbox) -> None:
    team = sandbox.name("team")
    pipeline = sandbox.running_pipeline(labels={"team": team})
    path = f"/pipelines?view=row&sort=attention&label=team:{team}"

    def seen_at() -> str:
        return str(sandbox.admin.get_ok(path)[0]["observed_at"])

    sandbox.fire("dispatch")
    whole, before = sandbox.admin.get(path), seen_at()
    tag = {"If-None-Match": whole.headers["ETag"]}
    sandbox.fire("dispatch")
    eventually(lambda: seen_at() > before, seconds=30)
    again = sandbox.admin.get(path, headers=tag)
    assert (again.status_code, again.content, again.headers["Cache-Control"]) == (304, b"", "no-store")
    assert datetime.fromisoformat(again.headers["X-Observed-At"]) > datetime.fromisoformat(before)
    sandbox.admin.post_ok(f"/pipelines/{pipeline['id']}/pause", status=200)
    changed = sandbox.admin.get(path, headers=tag)
    assert (changed.status_code, changed.json()[0]["desired_state"]) == (200, "PAUSED")
    assert changed.headers["ETag"] != whole.headers["ETag"]


POLLED: Mapping[str, str] = {
    "overview": "/monitoring/overview",
    "alerts": "/alerts",
    "summary of alerts": "/alerts/summary",
    "incidents": "/operations/errors",
    "audit": "/audit?limit=1",
    "sources": "/sources",
}


@pytest.mark.parametrize("path", POLLED.values(), ids=POLLED)
def test_what_is_polled_has_a_weak_tag(sandbox: Sandbox, path: str) -> None:
    response = sandbox.admin.get(path)
    assert response.status_code == 200, response.text
    assert response.headers["ETag"].startswith('W/"')


def test_the_status_of_a_pipeline_a_delivery_and_a_destination_is_304_while_nothing_changes(sandbox: Sandbox) -> None:
    delivery = sandbox.new_delivery()
    for path in (
        f"/pipelines/{delivery['pipeline_id']}/status",
        f"/deliveries/{delivery['id']}/status",
        f"/destinations/{delivery['destination_id']}/status",
    ):
        eventually(lambda path=path: _is_same_twice(sandbox, path), seconds=30)


def test_a_resource_with_a_version_keeps_its_strong_tag(sandbox: Sandbox) -> None:
    path = f"/sources/{sandbox.new_source()['id']}"
    tag = sandbox.admin.get(path).headers["ETag"]
    assert not tag.startswith("W/")
    assert sandbox.admin.get(path, headers={"If-None-Match": tag}).status_code == 200


def _is_same_twice(sandbox: Sandbox, path: str) -> bool:
    tag = sandbox.admin.get(path).headers["ETag"]
    return sandbox.admin.get(path, headers={"If-None-Match": tag}).status_code == 304
