"""Pipelines: preview, draft, deploy, control, status, deletion."""

from typing import Any

import pytest

from infra.local.doubles.connect_faults import FaultEffect
from infra.local.doubles.connect_plugins import POSTGRES, POSTGRES_SOURCE
from tests.support.api_assertions import UNKNOWN_ID, assert_error, is_timestamp, is_uuid, validation_error
from tests.support.sandbox import ROLE_PASSWORD, Json, Sandbox
from tests.support.waiting import eventually

FIELDS = {
    "id", "name", "source_id", "stream_cluster_id", "connect_cluster_id", "topic_prefix", "tables", "snapshot_mode",
    "converter", "options", "properties", "connector_name", "desired_state", "observed_state", "observed_at", "reasons",
    "tasks", "topics", "open_operation", "last_error", "metrics", "version", "created_at", "updated_at",
}  # fmt: skip
DETAIL = FIELDS | {"source", "stream_cluster", "connect_cluster", "config", "destinations"}
STATUS = {"pipeline_id", "desired_state", "observed_state", "observed_at", "connector", "tasks", "reasons"}


ORDERS = {"schema_name": "shop", "table_name": "orders"}


def _without_columns(*names: tuple[str, str, str]) -> Json:
    """A change of the input that leaves these columns out."""
    fields = ("schema_name", "table_name", "column_name")
    return {"options": {"exclude_columns": [dict(zip(fields, name, strict=True)) for name in names]}}


def _states(pipeline: Json) -> tuple[str, str]:
    return pipeline["desired_state"], pipeline["observed_state"]


# preview and create


def test_a_preview_shows_config_and_topics_and_saves_nothing(sandbox: Sandbox) -> None:
    before, body = sandbox.admin.get_ok("/pipelines"), sandbox.pipeline_body()
    response = sandbox.admin.post("/pipelines/preview", body)
    assert response.status_code == 200
    assert set(response.json()) == {"connector_name", "config", "topics", "internal_topics", "validation", "warnings"}
    assert response.json()["validation"] == {"error_count": 0, "errors": []}
    assert [warning["code"] for warning in response.json()["warnings"]] == ["TRUNCATE_NOT_DELIVERED"]
    assert response.json()["internal_topics"] == [f"{body['topic_prefix']}.headgate-heartbeat"]
    assert response.json()["topics"] == [f"{body['topic_prefix']}.shop.{table}" for table in ("orders", "customers")]
    assert all(isinstance(value, str) for value in response.json()["config"].values())
    assert ROLE_PASSWORD not in response.text
    assert sandbox.admin.get_ok("/pipelines") == before


def test_a_preview_of_a_config_that_connect_refuses_shows_the_errors(sandbox: Sandbox) -> None:
    source = sandbox.new_source()
    body = sandbox.source_body(name=source["name"], credentials={"password": "planted-wrong"})
    assert sandbox.admin.put(f"/sources/{source['id']}", body).status_code == 200
    response = sandbox.admin.post("/pipelines/preview", sandbox.pipeline_body(source_id=source["id"]))
    assert response.status_code == 200, response.text
    validation = response.json()["validation"]
    assert validation["error_count"] == len(validation["errors"]) == 1
    assert set(validation["errors"][0]) == {"field", "messages"}
    assert "planted" not in response.text
    details = assert_error(
        sandbox.admin.post("/pipelines", sandbox.pipeline_body(source_id=source["id"])), 422, "SOURCE_NOT_READY"
    )
    assert [check["status"] for check in details["checks"]] == ["fail"]


def test_a_new_pipeline_is_a_draft_and_nothing_is_deployed(sandbox: Sandbox) -> None:
    response = sandbox.admin.post("/pipelines", sandbox.pipeline_body())
    created = response.json()
    assert (response.status_code, set(created)) == (201, FIELDS)
    assert is_uuid(created["id"])
    assert _states(created) == ("DRAFT", "NOT_DEPLOYED")
    assert (created["tasks"], created["open_operation"], created["last_error"], created["version"]) == (
        [],
        None,
        None,
        1,
    )
    assert (created["snapshot_mode"], created["converter"], created["properties"]) == ("initial", "json_schema", {})
    assert set(created["metrics"]) == {"throughput", "lag", "notice"}
    assert (created["metrics"]["throughput"], created["metrics"]["lag"]) == (None, None)
    assert created["options"]["publication_mode"] == "filtered"
    assert created["connector_name"] not in sandbox.doubles.connect_double.names()
    [listed] = [one for one in sandbox.admin.get_ok("/pipelines") if one["id"] == created["id"]]
    assert listed == created


def test_the_detail_includes_source_clusters_and_deliveries(sandbox: Sandbox) -> None:
    created = sandbox.new_pipeline()
    detail = sandbox.admin.get_ok(f"/pipelines/{created['id']}")
    assert set(detail) == DETAIL
    assert detail["source"] == sandbox.admin.get_ok(f"/sources/{created['source_id']}")
    assert detail["stream_cluster"]["id"] == created["stream_cluster_id"]
    assert detail["connect_cluster"]["id"] == created["connect_cluster_id"]
    assert detail["destinations"] == []
    assert detail["config"]["database.password"].startswith("${headgate:")
    assert ROLE_PASSWORD not in str(detail)


@pytest.mark.parametrize(
    ("change", "location"),
    [
        ({"name": ""}, ("name",)), ({"source_id": "x"}, ("source_id",)), ({"topic_prefix": ""}, ("topic_prefix",)),
        ({"topic_prefix": "a b"}, ("topic_prefix",)), ({"tables": []}, ("tables",)),
        ({"tables": [{"schema_name": "s", "table_name": "t"}] * 501}, ("tables",)),
        ({"tables": [{"schema_name": "s"}]}, ("tables", 0, "table_name")), ({"snapshot_mode": "x"}, ("snapshot_mode",)),
        ({"converter": "avro"}, ("converter",)), ({"options": {"max_batch_size": 0}}, ("options", "max_batch_size")),
        ({"options": {"slot_name": "UPPER"}}, ("options", "slot_name")),
        ({"options": {"publication_name": "1p"}}, ("options", "publication_name")),
        ({"options": {"publication_name": "user"}}, ("options", "publication_name")),
        ({"options": {"on_conversion_error": "skip"}}, ("options", "on_conversion_error")),
        ({"options": {"max_message_bytes": 1024}}, ("options", "max_message_bytes")),
        ({"options": {"max_message_bytes": 65 * 1024**2}}, ("options", "max_message_bytes")),
        (_without_columns(("shop", "orders", "customer"), ("shop", "orders", "id")), ("options", "exclude_columns", 1)),
        (_without_columns(("shop", "orders", "Customer")), ("options", "exclude_columns", 0)),
        (_without_columns(("shop", "lines", "article")), ("options", "exclude_columns", 0)),
        ({"options": {"heartbeat_table": ORDERS}}, ("options", "heartbeat_table")),
        (
            {"options": {"heartbeat_table": ORDERS, "heartbeat_interval_ms": 0}},
            ("options", "heartbeat_interval_ms"),
        ),
        ({"options": {"publication_mode": "x"}}, ("options", "publication_mode")),
        ({"properties": {"database.hostname": "x"}}, ("properties",)),
        ({"properties": {"transforms": "x"}}, ("properties",)),
        ({"properties": {"query.fetch.size": "many"}}, ("properties",)), ({"properties": []}, ("properties",)),
    ],
)  # fmt: skip
def test_a_bad_pipeline_is_refused(sandbox: Sandbox, change: Json, location: tuple[str | int, ...]) -> None:
    for path in ("/pipelines", "/pipelines/preview"):
        validation_error(sandbox.admin.post(path, sandbox.pipeline_body(**change)), "body", *location)


def test_options_and_allowed_properties_reach_the_config(sandbox: Sandbox) -> None:
    options = {"heartbeat_interval_ms": 7000, "max_batch_size": 100, "max_queue_size": 300, "poll_interval_ms": 50}
    body = sandbox.pipeline_body(
        options={**options, "tombstones_on_delete": False, "slot_name": "own_slot", "publication_name": "own_pub"},
        properties={"query.fetch.size": "77"},
        snapshot_mode="no_data",
    )
    config = sandbox.admin.post_ok("/pipelines/preview", body, status=200)["config"]
    expected = {
        "heartbeat.interval.ms": "7000", "max.batch.size": "100", "max.queue.size": "300", "poll.interval.ms": "50",
        "tombstones.on.delete": "false", "slot.name": "own_slot", "publication.name": "own_pub",
        "query.fetch.size": "77", "snapshot.mode": "no_data",
    }  # fmt: skip
    assert {key: config[key] for key in expected} == expected


def test_columns_that_are_left_out_and_larger_messages_are_shown_as_chosen(sandbox: Sandbox) -> None:
    excluded = _without_columns(("shop", "orders", "customer"), ("shop", "orders", "customer"))["options"]
    body = sandbox.pipeline_body(options={**excluded, "max_message_bytes": 8 * 1024**2, "on_conversion_error": "null"})
    preview = sandbox.admin.post_ok("/pipelines/preview", body, status=200)
    assert preview["config"]["column.exclude.list"] == r"(?-i:shop\.orders\.customer)"
    assert [warning["code"] for warning in preview["warnings"]] == [
        "TRUNCATE_NOT_DELIVERED",
        "LARGE_MESSAGES",
        "VALUES_MAY_BE_NULL",
    ]
    options = sandbox.admin.post_ok("/pipelines", body)["options"]
    assert options["exclude_columns"] == [{**ORDERS, "column_name": "customer"}]
    assert (options["max_message_bytes"], options["on_conversion_error"]) == (8 * 1024**2, "null")


def test_a_heartbeat_table_that_was_not_discovered_is_named(sandbox: Sandbox) -> None:
    body = sandbox.pipeline_body(options={"heartbeat_table": {"schema_name": "shop", "table_name": "beat"}})
    for path in ("/pipelines", "/pipelines/preview"):
        details = assert_error(sandbox.admin.post(path, body), 422, "TABLE_NOT_DISCOVERED")
        assert details == [{"location": ["body", "options", "heartbeat_table"], "type": "not_discovered"}]


def test_a_refused_property_says_what_to_do_instead(sandbox: Sandbox) -> None:
    body = sandbox.pipeline_body(properties={"column.exclude.list": "shop.orders.customer", "planted.key": "x"})
    response = sandbox.admin.post("/pipelines/preview", body)
    details = assert_error(response, 422, "VALIDATION_FAILED")
    assert details == [{"location": ["body", "properties"], "type": "property_not_allowed"}] * 2
    assert "column.exclude.list: Name the columns in options.exclude_columns" in response.json()["error"]["message"]
    assert "planted" not in response.text


@pytest.mark.parametrize("field", ["source_id", "stream_cluster_id", "connect_cluster_id"])
def test_unknown_references_are_refused(sandbox: Sandbox, field: str) -> None:
    for path in ("/pipelines", "/pipelines/preview"):
        assert_error(sandbox.admin.post(path, sandbox.pipeline_body(**{field: UNKNOWN_ID})), 422, "REFERENCE_NOT_FOUND")


def test_a_table_that_was_not_discovered_is_refused(sandbox: Sandbox) -> None:
    body = sandbox.pipeline_body(tables=[{"schema_name": "shop", "table_name": "Orders"}])
    for path in ("/pipelines", "/pipelines/preview"):
        assert_error(sandbox.admin.post(path, body), 422, "TABLE_NOT_DISCOVERED")
    bare = sandbox.admin.post_ok("/sources", sandbox.source_body())
    assert_error(
        sandbox.admin.post("/pipelines", sandbox.pipeline_body(source_id=bare["id"])), 422, "TABLE_NOT_DISCOVERED"
    )


def test_a_source_that_is_not_ready_is_refused_with_the_checks_that_fail(sandbox: Sandbox) -> None:
    body = sandbox.pipeline_body(options={"publication_mode": "existing", "publication_name": "not_there"})
    response = sandbox.admin.post("/pipelines", body)
    details = assert_error(response, 422, "SOURCE_NOT_READY")
    assert [check["status"] for check in details["checks"]] == ["fail"]
    assert {"key", "name", "status", "severity", "recommended_action"} <= set(details["checks"][0])


def test_names_slots_and_publications_of_other_pipelines_are_refused(sandbox: Sandbox) -> None:
    first = sandbox.new_pipeline()
    assert_error(
        sandbox.admin.post("/pipelines", sandbox.pipeline_body(name=first["name"].upper())), 409, "NAME_CONFLICT"
    )
    for field in ("slot_name", "publication_name"):
        body = sandbox.pipeline_body(options={field: first["options"][field]})
        assert_error(sandbox.admin.post("/pipelines", body), 409, "NAME_CONFLICT")


def test_a_missing_plug_in_is_reported(sandbox: Sandbox) -> None:
    draft = sandbox.new_pipeline()
    sandbox.doubles.connect_double.remove_plugin(POSTGRES_SOURCE)
    try:
        for path in ("/pipelines", "/pipelines/preview"):
            assert_error(sandbox.admin.post(path, sandbox.pipeline_body()), 422, "PLUGIN_MISSING")
        assert_error(sandbox.admin.post(f"/pipelines/{draft['id']}/deploy"), 422, "PLUGIN_MISSING")
    finally:
        sandbox.doubles.connect_double.add_plugin(POSTGRES)
    after = sandbox.admin.get_ok(f"/pipelines/{draft['id']}")
    assert (_states(after), after["last_error"]["code"]) == (("DRAFT", "NOT_DEPLOYED"), "PLUGIN_MISSING")
    assert after["open_operation"] is None
    assert _states(sandbox.admin.post_ok(f"/pipelines/{draft['id']}/deploy", status=200)) == ("RUNNING", "RUNNING")


def test_connect_that_is_down_is_reported_and_the_draft_can_be_deployed_later(sandbox: Sandbox) -> None:
    draft, running = sandbox.new_pipeline(), sandbox.running_pipeline()
    sandbox.doubles.connect_double.refuse()
    try:
        assert_error(sandbox.admin.post("/pipelines/preview", sandbox.pipeline_body()), 503, "CONNECT_UNAVAILABLE")
        assert_error(sandbox.admin.post("/pipelines", sandbox.pipeline_body()), 503, "CONNECT_UNAVAILABLE")
        assert_error(sandbox.admin.post(f"/pipelines/{draft['id']}/deploy"), 503, "CONNECT_UNAVAILABLE")
        assert_error(
            sandbox.admin.get(f"/connect/clusters/{sandbox.connect['id']}/plugins"), 503, "CONNECT_UNAVAILABLE"
        )
        status = sandbox.admin.get_ok(f"/pipelines/{running['id']}/status")
        assert (_states(status), status["connector"], status["tasks"]) == (("RUNNING", "UNKNOWN"), None, [])
        assert status["reasons"]
    finally:
        sandbox.doubles.connect_double.accept()
    assert _states(sandbox.admin.post_ok(f"/pipelines/{draft['id']}/deploy", status=200)) == ("RUNNING", "RUNNING")


def test_a_starting_worker_that_answers_html_is_unavailable(sandbox: Sandbox) -> None:
    fault = sandbox.doubles.connect_double.plant(FaultEffect.NOT_READY, times=100)
    try:
        path = f"/connect/clusters/{sandbox.connect['id']}/plugins"
        assert_error(sandbox.admin.get(path), 503, "CONNECT_UNAVAILABLE")
    finally:
        fault.release()


# deploy and control


def test_a_deploy_returns_the_running_pipeline_and_a_second_one_changes_nothing(sandbox: Sandbox) -> None:
    draft = sandbox.new_pipeline()
    first = sandbox.admin.post(f"/pipelines/{draft['id']}/deploy")
    assert (first.status_code, set(first.json())) == (200, FIELDS)
    assert _states(first.json()) == ("RUNNING", "RUNNING")
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
        assert (response.status_code, set(response.json())) == (200, FIELDS), response.text
        assert _states(response.json()) == (states, states)
    assert _states(sandbox.admin.post_ok(f"{path}/restart-task?task=0", status=200)) == ("RUNNING", "RUNNING")


@pytest.mark.parametrize("verb", ["pause", "resume", "restart", "restart-task?task=0"])
def test_a_draft_cannot_be_controlled(sandbox: Sandbox, verb: str) -> None:
    draft = sandbox.cached("idle draft", sandbox.new_pipeline)
    assert_error(sandbox.admin.post(f"/pipelines/{draft['id']}/{verb}"), 409, "STATE_CONFLICT")


@pytest.mark.parametrize("query", ["", "?task=", "?task=-1", "?task=x", "?task=1.5", "?task=0&task=1"])
def test_a_task_is_a_number_from_0(sandbox: Sandbox, query: str) -> None:
    for kind, resource in (("pipelines", sandbox.pipeline["id"]), ("deliveries", UNKNOWN_ID)):
        validation_error(sandbox.admin.post(f"/{kind}/{resource}/restart-task{query}"), "query", "task")


@pytest.mark.parametrize("task", [1, 99, 100_001, 2**40])
def test_an_unknown_task_is_404_and_changes_nothing(sandbox: Sandbox, task: int) -> None:
    path, before = f"/pipelines/{sandbox.pipeline['id']}", sandbox.admin.get_ok(f"/pipelines/{sandbox.pipeline['id']}")
    assert_error(sandbox.admin.post(f"{path}/restart-task?task={task}"), 404, "NOT_FOUND")
    after = sandbox.admin.get_ok(path)
    unchanged = ("open_operation", "last_error", "version")
    assert {name: after[name] for name in unchanged} == {name: before[name] for name in unchanged}


def test_the_status_follows_connector_and_tasks_and_withholds_traces(sandbox: Sandbox) -> None:
    pipeline = sandbox.running_pipeline()
    path = f"/pipelines/{pipeline['id']}/status"
    status = sandbox.admin.get_ok(path)
    assert set(status) == STATUS
    assert set(status["connector"]) == {"state", "worker_id"}
    assert is_timestamp(status["observed_at"])
    assert (status["pipeline_id"], _states(status), status["reasons"]) == (pipeline["id"], ("RUNNING", "RUNNING"), [])
    trace = "PSQLException: FATAL: password authentication failed for user planted-name\n at planted.Frame(X.java:1)"
    sandbox.doubles.connect_double.fail_task(pipeline["connector_name"], trace)
    failed = eventually(lambda: sandbox.admin.get_ok(path), lambda seen: seen["observed_state"] != "RUNNING")
    assert _states(failed) == ("RUNNING", "DEGRADED")
    assert set(failed["tasks"][0]["hint"]) == {"event_type", "message"}
    assert failed["tasks"][0]["hint"]["event_type"] == "SOURCE_AUTH_FAILED"
    assert "planted" not in str(failed)
    sandbox.admin.post_ok(f"/pipelines/{pipeline['id']}/restart-task?task=0", status=200)
    eventually(lambda: sandbox.admin.get_ok(path), lambda seen: seen["observed_state"] == "RUNNING")


def test_a_pipeline_reports_a_changed_source_and_uses_it_after_the_next_deploy(
    sandbox: Sandbox,
) -> None:
    source = sandbox.new_source()
    pipeline = sandbox.running_pipeline(source_id=source["id"])
    path, config_of = f"/pipelines/{pipeline['id']}", sandbox.doubles.connect_double.config_of
    changed = sandbox.source_body(name=source["name"], config={**sandbox.config(), "ssl_mode": "disable"})
    assert sandbox.admin.put(f"/sources/{source['id']}", changed).status_code == 200
    for shown in (path, f"{path}/status"):
        assert "Its source was changed" in str(sandbox.admin.get_ok(shown)["reasons"])
    assert config_of(pipeline["connector_name"])["database.sslmode"] != "disable"
    sandbox.admin.post_ok(f"{path}/pause", status=200)
    again = sandbox.admin.post_ok(f"{path}/deploy", status=200)
    assert (again["desired_state"], config_of(pipeline["connector_name"])["database.sslmode"]) == ("PAUSED", "disable")
    assert "Its source was changed" not in str(sandbox.admin.get_ok(path)["reasons"])


def test_a_draft_is_not_deployed(sandbox: Sandbox) -> None:
    draft = sandbox.new_pipeline()
    status = sandbox.admin.get_ok(f"/pipelines/{draft['id']}/status")
    assert (_states(status), status["connector"], status["tasks"]) == (("DRAFT", "NOT_DEPLOYED"), None, [])


def test_a_tick_refreshes_the_observed_state_of_lists(sandbox: Sandbox) -> None:
    pipeline = sandbox.running_pipeline()
    sandbox.doubles.connect_double.fail_task(
        pipeline["connector_name"], "java.lang.RuntimeException: x", failing_restarts=5
    )
    assert sandbox.fire("dispatch")["ticks"] > 0
    seen = eventually(
        lambda: next(one for one in sandbox.admin.get_ok("/pipelines") if one["id"] == pipeline["id"]),
        lambda one: one["observed_state"] in ("DEGRADED", "FAILED"),
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


def test_a_foreign_connector_of_the_same_name_is_left_alone(sandbox: Sandbox) -> None:
    draft = sandbox.new_pipeline()
    sandbox.doubles.connect_double.preload([draft["connector_name"]])
    assert_error(sandbox.admin.post(f"/pipelines/{draft['id']}/deploy"), 409, "CONNECTOR_NAME_CONFLICT")
    assert "headgate.owner" not in sandbox.doubles.connect_double.config_of(draft["connector_name"])
    sandbox.doubles.connect_double.drop(draft["connector_name"])


# deletion


def test_a_deleted_pipeline_leaves_no_connector_and_its_audit_names_slot_and_publication(sandbox: Sandbox) -> None:
    pipeline = sandbox.running_pipeline()
    response = sandbox.admin.delete(f"/pipelines/{pipeline['id']}")
    assert (response.status_code, response.content) == (204, b"")
    assert_error(sandbox.admin.get(f"/pipelines/{pipeline['id']}"), 404, "NOT_FOUND")
    assert pipeline["connector_name"] not in sandbox.doubles.connect_double.names()
    last: dict[str, Any] = sandbox.audit_records(pipeline["id"])[0]
    assert (last["action"], last["outcome"]) == ("pipeline.delete", "success")
    for name in ("slot_name", "publication_name"):
        assert pipeline["options"][name] in str(last["after"])
    sandbox.admin.post_ok("/pipelines", sandbox.pipeline_body(name=pipeline["name"]))


def test_a_pipeline_with_deliveries_is_not_deleted(sandbox: Sandbox) -> None:
    sandbox.new_delivery()
    response = sandbox.admin.delete(f"/pipelines/{sandbox.pipeline['id']}")
    assert response.status_code == 409
    assert_error(response, 409, "RESOURCE_IN_USE")
