"""Incidents over HTTP: their fields, filters, moves and audit records."""

import pytest

from tests.support.api_assertions import UNKNOWN_ID, assert_error, is_timestamp, is_uuid, validation_error
from tests.support.apps.sandbox import Json, Sandbox
from tests.support.waiting import eventually

FIELDS = {
    "id", "resource", "cause", "category", "severity", "code", "message", "hint", "status", "pipeline_id",
    "destination_id", "delivery_id", "connector_name", "task_id", "occurrences", "first_seen_at", "last_seen_at",
    "resolved_at", "correlation_id",
}  # fmt: skip


@pytest.fixture
def incident(sandbox: Sandbox) -> Json:
    """The incident of a source whose password is refused by its server."""
    body = sandbox.source_body(credentials={"password": "not the right one"})
    source = sandbox.admin.post_ok("/sources", body)
    assert sandbox.admin.post_ok(f"/sources/{source['id']}/test", status=200)["success"] is False
    return next(
        entry for entry in sandbox.admin.get_ok("/operations/errors?active=true") if source["name"] in entry["message"]
    )


def test_an_incident_has_the_fields_of_the_contract(incident: Json) -> None:
    assert set(incident) == FIELDS
    assert is_uuid(incident["id"])
    assert (incident["category"], incident["severity"], incident["code"]) == ("SOURCE", "WARNING", "SOURCE_AUTH_FAILED")
    assert (incident["status"], incident["occurrences"], incident["resolved_at"]) == ("OPEN", 1, None)
    assert is_timestamp(incident["first_seen_at"])
    assert incident["first_seen_at"] == incident["last_seen_at"]
    assert incident["correlation_id"]
    assert "not the right one" not in str(incident)


def test_a_move_that_is_based_on_another_version_is_412(sandbox: Sandbox, incident: Json) -> None:
    path = f"/operations/errors/{incident['id']}"
    version = sandbox.admin.call("PATCH", f"{path}?status={incident['status']}").headers["ETag"]
    moved = sandbox.admin.call("PATCH", f"{path}?status=ACKNOWLEDGED", headers={"If-Match": version})
    assert (moved.status_code, moved.headers["ETag"] != version) == (200, True)
    stale = sandbox.admin.call("PATCH", f"{path}?status=RESOLVED", headers={"If-Match": version})
    assert_error(stale, 412, "VERSION_MISMATCH")


def test_moves_are_those_of_the_contract_and_each_is_audited(sandbox: Sandbox, incident: Json) -> None:
    ops, path = sandbox.with_role("Ops"), f"/operations/errors/{incident['id']}"
    for status in ("ACKNOWLEDGED", "ACKNOWLEDGED", "OPEN", "RESOLVED"):
        answer = ops.call("PATCH", f"{path}?status={status}")
        assert (answer.status_code, answer.json()["status"]) == (200, status)
    assert_error(ops.call("PATCH", f"{path}?status=ACKNOWLEDGED"), 409, "STATE_CONFLICT")
    assert ops.call("PATCH", f"{path}?status=OPEN").json()["resolved_at"] is None
    facts = [(record["action"], record["before"]["status"]) for record in sandbox.audit_records(incident["id"])]
    assert facts == [
        ("incident.reopen", "RESOLVED"),
        ("incident.resolve", "OPEN"),
        ("incident.reopen", "ACKNOWLEDGED"),
        ("incident.acknowledge", "OPEN"),
    ]


@pytest.mark.parametrize("query", ["", "?status=", "?status=open", "?status=DONE", "?status=OPEN&more=1"])
def test_a_status_that_does_not_exist_is_refused(sandbox: Sandbox, incident: Json, query: str) -> None:
    answer = sandbox.admin.call("PATCH", f"/operations/errors/{incident['id']}{query}")
    details = assert_error(answer, 422, "VALIDATION_FAILED")
    assert [detail["location"][0] for detail in details] == ["query"]


def test_filters_choose_incidents(sandbox: Sandbox, incident: Json) -> None:
    def ids(query: str) -> set[str]:
        return {entry["id"] for entry in sandbox.admin.get_ok(f"/operations/errors?{query}")}

    assert incident["id"] in ids("active=true") & ids("status=OPEN")
    assert incident["id"] not in ids("active=false") | ids("status=RESOLVED") | ids(f"pipeline_id={UNKNOWN_ID}")
    assert len(sandbox.admin.get_ok("/operations/errors?limit=1")) == 1
    validation_error(sandbox.admin.get("/operations/errors?status=BROKEN"), "query", "status")


def test_a_failed_task_is_an_incident_of_its_pipeline(sandbox: Sandbox) -> None:
    pipeline = sandbox.running_pipeline()
    trace = "PSQLException: FATAL: password authentication failed for user planted-name"
    sandbox.doubles.connect_double.fail_task(pipeline["connector_name"], trace, failing_restarts=5)
    sandbox.fire("dispatch")
    found = eventually(
        lambda: sandbox.admin.get_ok(f"/operations/errors?pipeline_id={pipeline['id']}&active=true"), len
    )[0]
    assert (found["code"], found["connector_name"]) == ("SOURCE_AUTH_FAILED", pipeline["connector_name"])
    assert (found["task_id"], found["pipeline_id"], found["delivery_id"]) == (0, pipeline["id"], None)
    assert "planted" not in str(found)
