"""The mistakes of newcomers: each answer says what is right, in one sentence, and repeats nothing that was sent."""

import re

import pytest

from tests.support.apps.sandbox import Sandbox
from tests.support.mistakes.operating import OPERATING
from tests.support.mistakes.registering import REGISTERING
from tests.support.mistakes.senders import Mistake, duplicate


@pytest.mark.parametrize("mistake", [*REGISTERING, *OPERATING], ids=lambda mistake: mistake.name)
def test_the_answer_says_what_is_right(sandbox: Sandbox, mistake: Mistake) -> None:
    response = mistake.send(sandbox)
    assert response.status_code == mistake.status, response.text
    error = response.json()["error"]
    faults = error["details"] if isinstance(error["details"], list) else []
    said = [fault for fault in faults if mistake.message in fault["message"]]
    assert mistake.message in error["message"] or said, error
    for name, value in mistake.more.items():
        assert [fault.get(name) for fault in said] == [value], error
    assert not re.search(r"hunter2|DB_USER|\^\[|\\Z", response.text)


def test_a_taken_name_says_who_has_it(sandbox: Sandbox) -> None:
    details = duplicate(sandbox).json()["error"]["details"]
    assert details["resource"] == {"type": "source", "id": sandbox.source["id"], "name": sandbox.source["name"]}


def test_a_role_that_is_missing_is_named_for_programs_too(sandbox: Sandbox) -> None:
    details = sandbox.with_role("Viewer").post("/sources", {}).json()["error"]["details"]
    assert details == {"permission": "write", "roles": ["Admin", "Ops"]}


def test_whatever_is_in_use_says_by_what(sandbox: Sandbox) -> None:
    delivery = sandbox.cached("used", sandbox.new_delivery)
    connection = sandbox.admin.post_ok("/connections", sandbox.connection_body())
    user = sandbox.admin.post_ok("/sources", sandbox.using_body(connection))
    topic = sandbox.pipeline["topics"][0]
    users = {
        f"/sources/{sandbox.source['id']}": sandbox.pipeline,
        f"/destinations/{delivery['destination_id']}": delivery,
        f"/connections/{connection['id']}": user,
        f"/connect/clusters/{sandbox.connect['id']}": sandbox.pipeline,
        f"/stream/clusters/{sandbox.stream['id']}": sandbox.connect,
        f"/pipelines/{sandbox.pipeline['id']}": delivery,
        f"/stream/topics/{topic}?cluster_id={sandbox.stream['id']}": sandbox.pipeline,
    }
    for path, using in users.items():
        error = sandbox.admin.delete(path).json()["error"]
        assert error["code"] == "RESOURCE_IN_USE", (path, error)
        assert using["id"] in [entry["id"] for entry in error["details"]["used_by"]], (path, error)
        assert all(entry["type"] and entry["name"] for entry in error["details"]["used_by"])
