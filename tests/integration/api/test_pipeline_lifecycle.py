"""Pipelines: deploy, control, status, deletion."""

import pytest

from infra.local.doubles.connect_faults import FaultEffect
from tests.integration.api.resource_fields import PIPELINE, both_states
from tests.support.api_assertions import UNKNOWN_ID, assert_error, is_timestamp, validation_error
from tests.support.apps.sandbox import Json, Sandbox
from tests.support.waiting import eventually

STATUS = {
    "pipeline_id", "desired_state", "observed_state", "observed_at", "connector", "tasks", "reasons", "notices",
    "progress", "log",
}  # fmt: skip


# deploy and control


def test_a_deploy_returns_the_running_pipeline_and_a_second_one_changes_nothing(sandbox: Sandbox) -> None:
    draft = sandbox.new_pipeline()
    first = sandbox.admin.post(f"/pipelines/{draft['id']}/deploy")
    assert (first.status_code, set(first.json())) == (200, PIPELINE)
    assert both_states(first.json()) == ("RUNNING", "RUNNING")
    [task] = first.json()["tasks"]
    assert set(task) == {"id", "state", "worker_id", "hint"}
    assert (task["id"], task["state"], task["hint"]) == (0, "RUNNING", None)
    before = sandbox.audit_records(draft["id"])
    again = sandbox.admin.post(f"/pipelines/{draft['id']}/deploy")
    assert (again.status_code, again.json()["version"]) == (200, first.json()["version"])
    assert sandbox.audit_records(draft["id"]) == before
    assert sandbox.doubles.connect_double.starts(draft["connector_name"]) == 1


def test_a_pipeline_is_paused_resumed_and_restarted(sandbox: Sandbox) -> None:
    path = f"/pipelines/{sandbox.running_pipeline()['id']}"
    for verb, states in (("pause", "PAUSED"), ("resume", "RUNNING"), ("restart", "RUNNING")):
        response = sandbox.admin.post(f"{path}/{verb}")
        assert (response.status_code, set(response.json())) == (200, PIPELINE), response.text
        assert both_states(response.json()) == (states, states)
    assert both_states(sandbox.admin.post_ok(f"{path}/restart-task?task=0", status=200)) == ("RUNNING", "RUNNING")


@pytest.mark.parametrize("query", ["", "?task=", "?task=-1", "?task=x", "?task=1.5", "?task=0&task=1"])
def test_a_task_is_a_number_from_0(sandbox: Sandbox, query: str) -> None:
    for kind, resource in (("pipelines", sandbox.pipeline["id"]), ("deliveries", UNKNOWN_ID)):
        validation_error(sandbox.admin.post(f"/{kind}/{resource}/restart-task{query}"), "query", "task")


def test_the_status_follows_connector_and_tasks_and_withholds_traces(sandbox: Sandbox) -> None:
    pipeline = sandbox.running_pipeline()
    path = f"/pipelines/{pipeline['id']}/status"
    status = sandbox.admin.get_ok(path)
    assert set(status) == STATUS
    assert set(status["connector"]) == {"state", "worker_id"}
    assert is_timestamp(status["observed_at"])
    assert (status["pipeline_id"], both_states(status)) == (pipeline["id"], ("RUNNING", "RUNNING"))
    assert (status["reasons"], len(status["notices"])) == ([], 0 if status["progress"] else 1)
    trace = "PSQLException: FATAL: password authentication failed for user planted-name\n at planted.Frame(X.java:1)"
    sandbox.doubles.connect_double.fail_task(pipeline["connector_name"], trace)
    failed = eventually(lambda: sandbox.admin.get_ok(path), lambda seen: seen["observed_state"] != "RUNNING")
    assert both_states(failed) == ("RUNNING", "FAILED")
    assert set(failed["tasks"][0]["hint"]) == {"event_type", "message", "cause"}
    assert failed["tasks"][0]["hint"]["event_type"] == "SOURCE_AUTH_FAILED"
    assert "planted" not in str(failed)
    sandbox.admin.post_ok(f"/pipelines/{pipeline['id']}/restart-task?task=0", status=200)
    eventually(lambda: sandbox.admin.get_ok(path), lambda seen: seen["observed_state"] == "RUNNING")


def test_a_tick_refreshes_the_observed_state_of_lists(sandbox: Sandbox) -> None:
    pipeline = sandbox.running_pipeline()
    sandbox.doubles.connect_double.fail_task(
        pipeline["connector_name"], "java.lang.RuntimeException: x", failing_restarts=5
    )
    assert sandbox.fire("dispatch")["ticks"] > 0
    seen = eventually(
        lambda: next(entry for entry in sandbox.admin.get_ok("/pipelines") if entry["id"] == pipeline["id"]),
        lambda entry: entry["observed_state"] in ("DEGRADED", "FAILED"),
    )
    assert seen["desired_state"] == "RUNNING"
    assert seen["tasks"][0]["state"] == "FAILED"


def test_an_outcome_that_is_unknown_is_202_and_blocks_others_until_it_is_settled(sandbox: Sandbox) -> None:
    draft = sandbox.new_pipeline()
    path = f"/pipelines/{draft['id']}"
    double = sandbox.doubles.connect_double
    faults = [
        double.plant(FaultEffect.LOSE_REPLY, "POST", "/connectors$"),
        double.plant(FaultEffect.NOT_READY, "GET", f"{draft['connector_name']}/config", times=100, skip=1),
    ]
    try:
        response = sandbox.admin.post(f"{path}/deploy")
        assert response.status_code == 202, response.text
        operation = response.json()["open_operation"]
        assert set(operation) == {"id", "kind", "step", "started_at"}
        assert operation["kind"] == "deploy"
        for method, more in (("POST", "/deploy"), ("POST", "/pause"), ("POST", "/restart"), ("DELETE", "")):
            assert_error(sandbox.admin.call(method, path + more), 409, "OPERATION_IN_PROGRESS")
    finally:
        for fault in faults:
            fault.release()
    sandbox.fire("dispatch")
    settled = eventually(lambda: sandbox.admin.get_ok(path), lambda seen: seen["open_operation"] is None)
    assert (settled["desired_state"], settled["last_error"]) == ("RUNNING", None)


# deletion


def test_a_deleted_pipeline_leaves_no_connector_and_its_audit_names_slot_and_publication(sandbox: Sandbox) -> None:
    pipeline = sandbox.running_pipeline()
    response = sandbox.admin.delete(f"/pipelines/{pipeline['id']}")
    assert (response.status_code, response.content) == (204, b"")
    assert_error(sandbox.admin.get(f"/pipelines/{pipeline['id']}"), 404, "NOT_FOUND")
    assert pipeline["connector_name"] not in sandbox.doubles.connect_double.names()
    last: Json = sandbox.audit_records(pipeline["id"])[0]
    assert (last["action"], last["outcome"]) == ("pipeline.delete", "success")
    for name in ("slot_name", "publication_name"):
        assert pipeline["options"][name] in str(last["after"])
    sandbox.admin.post_ok("/pipelines", sandbox.pipeline_body(name=pipeline["name"]))


def test_a_pipeline_with_deliveries_is_not_deleted(sandbox: Sandbox) -> None:
    delivery = sandbox.new_delivery()
    response = sandbox.admin.delete(f"/pipelines/{sandbox.pipeline['id']}")
    used_by = assert_error(response, 409, "RESOURCE_IN_USE")["used_by"]
    assert {"type": "delivery", "id": delivery["id"], "name": delivery["name"]} in used_by
