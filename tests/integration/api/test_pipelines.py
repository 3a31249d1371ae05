"""Pipelines: preview and draft."""

import pytest

from infra.local.doubles.connect_plugins import POSTGRES, POSTGRES_SOURCE
from tests.integration.api.resource_fields import PIPELINE, both_states
from tests.support.api_assertions import UNKNOWN_ID, assert_error, is_uuid, validation_error
from tests.support.apps.sandbox import ROLE_PASSWORD, Json, Sandbox
from tests.support.faults import places

DETAIL = PIPELINE | {"source", "stream_cluster", "connect_cluster", "config", "destinations"}


ORDERS = {"schema_name": "shop", "table_name": "orders"}


def _without_columns(*names: tuple[str, str, str]) -> Json:
    """A change of the input that leaves these columns out."""
    fields = ("schema_name", "table_name", "column_name")
    return {"options": {"exclude_columns": [dict(zip(fields, name, strict=True)) for name in names]}}


# preview and create


def test_a_preview_shows_config_and_topics_and_saves_nothing(sandbox: Sandbox) -> None:
    before, body = sandbox.ids("/pipelines"), sandbox.pipeline_body()
    response = sandbox.admin.post("/pipelines/preview", body)
    assert response.status_code == 200
    assert set(response.json()) == {"connector_name", "config", "topics", "internal_topics", "validation", "warnings"}
    assert response.json()["validation"] == {"error_count": 0, "errors": []}
    assert [warning["code"] for warning in response.json()["warnings"]] == ["TRUNCATE_NOT_DELIVERED"]
    assert response.json()["internal_topics"] == [f"{body['topic_prefix']}.headgate-heartbeat"]
    assert response.json()["topics"] == [f"{body['topic_prefix']}.shop.{table}" for table in ("orders", "customers")]
    assert all(isinstance(value, str) for value in response.json()["config"].values())
    assert ROLE_PASSWORD not in response.text
    assert sandbox.ids("/pipelines") <= before


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
    assert (response.status_code, set(created)) == (201, PIPELINE)
    assert is_uuid(created["id"])
    assert both_states(created) == ("DRAFT", "NOT_DEPLOYED")
    assert (created["tasks"], created["open_operation"], created["last_error"], created["version"]) == (
        [],
        None,
        None,
        1,
    )
    assert (created["snapshot_mode"], created["converter"], created["properties"]) == ("initial", "json_schema", {})
    assert set(created["metrics"]) == {"throughput", "lag", "seconds_behind", "notice"}
    assert (created["metrics"]["throughput"], created["metrics"]["lag"]) == (None, None)
    assert created["options"]["publication_mode"] == "filtered"
    assert created["connector_name"] not in sandbox.doubles.connect_double.names()
    [listed] = [entry for entry in sandbox.admin.get_ok("/pipelines") if entry["id"] == created["id"]]
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
        assert places(details) == [{"location": ["body", "options", "heartbeat_table"], "type": "not_discovered"}]


def test_a_refused_property_says_what_to_do_instead(sandbox: Sandbox) -> None:
    body = sandbox.pipeline_body(properties={"column.exclude.list": "shop.orders.customer", "planted.key": "x"})
    response = sandbox.admin.post("/pipelines/preview", body)
    details = assert_error(response, 422, "VALIDATION_FAILED")
    assert places(details) == [{"location": ["body", "properties"], "type": "property_not_allowed"}] * 2
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


def test_a_slot_that_another_pipeline_reads_is_a_name_that_is_taken(sandbox: Sandbox) -> None:
    """The source shows a reader, and does not know whose it is."""
    first = sandbox.running_pipeline()
    body = sandbox.pipeline_body(options={"slot_name": first["options"]["slot_name"]})
    refused = assert_error(sandbox.admin.post("/pipelines", body), 409, "NAME_CONFLICT")
    assert refused["resource"] == {"type": "pipeline", "id": first["id"], "name": first["name"]}
    plan = sandbox.admin.post_ok("/pipelines?dry_run=true", body, status=200)
    assert [(one["code"], one["resource"]) for one in plan["blocked_by"]] == [("NAME_CONFLICT", refused["resource"])]


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
    assert (both_states(after), after["last_error"]["code"]) == (("DRAFT", "NOT_DEPLOYED"), "PLUGIN_MISSING")
    assert after["open_operation"] is None
    assert both_states(sandbox.admin.post_ok(f"/pipelines/{draft['id']}/deploy", status=200)) == ("RUNNING", "RUNNING")


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
        assert (both_states(status), status["connector"], status["tasks"]) == (("RUNNING", "UNKNOWN"), None, [])
        assert status["reasons"]
    finally:
        sandbox.doubles.connect_double.accept()
    assert both_states(sandbox.admin.post_ok(f"/pipelines/{draft['id']}/deploy", status=200)) == ("RUNNING", "RUNNING")
