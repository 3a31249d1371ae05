"""Preview and deploy of deliveries."""

from typing import Any

import pytest

from infra.local.doubles.connect_plugins import JDBC, JDBC_SINK
from tests.integration.api.resource_fields import DELIVERY, both_states
from tests.support.api_assertions import UNKNOWN_ID, assert_error, is_timestamp, is_uuid, validation_error
from tests.support.apps.sandbox import TARGET, WRITER, WRITER_PASSWORD, Json, Sandbox


def _preview_and_deploy(sandbox: Sandbox, body: Json, destination: Json | None = None) -> list[Any]:
    """The responses of preview and of deploy."""
    path = f"/destinations/{(destination or sandbox.destination)['id']}"
    return [sandbox.admin.post(f"{path}/{verb}", body) for verb in ("preview", "deploy")]


def test_a_preview_shows_config_and_warnings_and_saves_nothing(sandbox: Sandbox) -> None:
    before, body = sandbox.ids("/deliveries"), sandbox.delivery_body(sandbox.pipeline)
    response = sandbox.admin.post(f"/destinations/{sandbox.destination['id']}/preview", body)
    seen = response.json()
    shown = {"connector_name", "config", "topics", "validation", "warnings", "target_ddl", "setup"}
    assert (response.status_code, set(seen)) == (200, shown)
    (target,) = seen["target_ddl"]
    assert target["table_name"] == body["mappings"][0]["table_name"]
    assert target["statement"].startswith("CREATE TABLE")
    assert seen["validation"] == {"error_count": 0, "errors": []}
    assert seen["topics"] == [body["mappings"][0]["topic"]]
    assert all(set(warning) == {"code", "message"} for warning in seen["warnings"])
    assert seen["config"]["connection.password"].startswith("${headgate:")
    assert WRITER_PASSWORD not in response.text
    assert sandbox.ids("/deliveries") <= before


def test_a_deploy_answers_201_with_the_running_delivery(sandbox: Sandbox) -> None:
    destination, body = sandbox.new_destination(), sandbox.delivery_body(sandbox.pipeline)
    response = sandbox.admin.post(f"/destinations/{destination['id']}/deploy", body)
    created = response.json()
    assert (response.status_code, set(created)) == (201, DELIVERY)
    assert response.headers["Location"] == f"/api/v1/deliveries/{created['id']}"
    assert is_uuid(created["id"])
    assert is_timestamp(created["created_at"])
    assert both_states(created) == ("RUNNING", "RUNNING")
    assert (created["destination_id"], created["pipeline_id"]) == (destination["id"], sandbox.pipeline["id"])
    assert (created["mappings"], created["version"], created["open_operation"]) == (body["mappings"], 1, None)
    assert created["configuration"] == {
        "write_mode": "upsert", "delete_enabled": True, "auto_create": True, "auto_evolve": True, "batch_size": 500,
        "tasks_max": 1,
    }  # fmt: skip
    assert set(created["metrics"]) == {"throughput", "lag", "seconds_behind", "notice"}
    shown = sandbox.admin.get_ok(f"/deliveries/{created['id']}")
    assert shown["id"] == created["id"]
    [in_pipeline] = [
        delivery
        for delivery in sandbox.admin.get_ok(f"/pipelines/{created['pipeline_id']}/destinations")
        if delivery["id"] == created["id"]
    ]
    assert set(in_pipeline) == DELIVERY
    assert created["id"] in {
        delivery["id"] for delivery in sandbox.admin.get_ok(f"/pipelines/{created['pipeline_id']}")["destinations"]
    }
    [mapped] = sandbox.admin.get_ok(f"/destinations/{destination['id']}/mappings")
    assert (mapped["delivery_id"], mapped["mappings"]) == (created["id"], body["mappings"])


@pytest.mark.parametrize(
    ("change", "location"),
    [
        ({"name": ""}, ("name",)), ({"pipeline_id": "x"}, ("pipeline_id",)), ({"mappings": []}, ("mappings",)),
        ({"mappings": [{"topic": "t"}]}, ("mappings", 0, "table_name")),
        ({"mappings": [{"topic": "a b", "table_name": "t"}]}, ("mappings", 0, "topic")),
        ({"write_mode": "merge"}, ("write_mode",)), ({"batch_size": 0}, ("batch_size",)),
        ({"tasks_max": 0}, ("tasks_max",)), ({"connect_cluster_id": "x"}, ("connect_cluster_id",)),
    ],
)  # fmt: skip
def test_a_bad_delivery_is_refused(sandbox: Sandbox, change: Json, location: tuple[str | int, ...]) -> None:
    for response in _preview_and_deploy(sandbox, sandbox.delivery_body(sandbox.pipeline, **change)):
        validation_error(response, "body", *location)


def test_a_delivery_that_cannot_work_is_refused_with_its_code(sandbox: Sandbox) -> None:
    first, second = sandbox.pipeline["topics"]
    mapping = sandbox.mapping(first)
    cases: tuple[tuple[Json, int, str], ...] = (
        ({"pipeline_id": UNKNOWN_ID}, 422, "REFERENCE_NOT_FOUND"),
        ({"connect_cluster_id": UNKNOWN_ID}, 422, "REFERENCE_NOT_FOUND"),
        ({"mappings": [sandbox.mapping("somebody.elses.topic")]}, 422, "TOPIC_NOT_IN_PIPELINE"),
        ({"mappings": [sandbox.mapping(first, "nowhere")]}, 422, "TARGET_NOT_READY"),
        ({"mappings": [mapping, sandbox.mapping(second, "lake")]}, 422, "VALIDATION_FAILED"),
        ({"mappings": [mapping, {**mapping, "topic": second}]}, 409, "TARGET_TABLE_CONFLICT"),
    )
    for change, status, code in cases:
        for response in _preview_and_deploy(sandbox, sandbox.delivery_body(sandbox.pipeline, **change)):
            assert_error(response, status, code)
    paths = sandbox.running_pipeline(tables=[{"schema_name": "shop", "table_name": "paths"}])
    for pipeline, code in (
        (sandbox.new_pipeline(), "TOPIC_NOT_FOUND"),
        (sandbox.running_pipeline(converter="json"), "VALIDATION_FAILED"),
        (paths, "TYPE_UNSUPPORTED"),
    ):
        for response in _preview_and_deploy(sandbox, sandbox.delivery_body(pipeline)):
            assert_error(response, 422, code)


def test_with_insert_no_row_is_deleted_whatever_was_chosen(sandbox: Sandbox) -> None:
    delivery = sandbox.new_delivery(write_mode="insert", delete_enabled=True)
    assert delivery["configuration"]["delete_enabled"] is False


def test_a_target_that_is_down_is_unavailable(sandbox: Sandbox) -> None:
    destination = sandbox.new_destination(config=sandbox.config(TARGET, WRITER, port=1))
    for response in _preview_and_deploy(sandbox, sandbox.delivery_body(sandbox.pipeline), destination):
        assert_error(response, 503, "DESTINATION_UNAVAILABLE")
    assert sandbox.admin.get_ok(f"/destinations/{destination['id']}")["deliveries"] == 0


def test_a_table_has_one_writer_even_if_its_database_is_registered_twice(sandbox: Sandbox) -> None:
    delivery = sandbox.new_delivery()
    second = sandbox.new_destination()
    body = sandbox.delivery_body(sandbox.pipeline, mappings=delivery["mappings"])
    for response in _preview_and_deploy(sandbox, body, second):
        assert_error(response, 409, "TARGET_TABLE_CONFLICT")
    assert sandbox.admin.get_ok(f"/destinations/{second['id']}")["deliveries"] == 0
    assert sandbox.admin.delete(f"/deliveries/{delivery['id']}").status_code == 204
    assert [response.status_code for response in _preview_and_deploy(sandbox, body, second)] == [200, 201]


def test_a_missing_plug_in_is_reported_and_leaves_nothing(sandbox: Sandbox) -> None:
    destination = sandbox.new_destination()
    body = sandbox.delivery_body(sandbox.pipeline)
    sandbox.doubles.connect_double.remove_plugin(JDBC_SINK)
    try:
        for response in _preview_and_deploy(sandbox, body, destination):
            assert_error(response, 422, "PLUGIN_MISSING")
    finally:
        sandbox.doubles.connect_double.add_plugin(JDBC)
    assert sandbox.admin.get_ok(f"/destinations/{destination['id']}/mappings") == []
    assert [response.status_code for response in _preview_and_deploy(sandbox, body, destination)] == [200, 201]


def test_a_deploy_that_fails_leaves_no_association_and_no_connector(sandbox: Sandbox) -> None:
    destination, before = sandbox.new_destination(), set(sandbox.doubles.connect_double.names())
    body = sandbox.delivery_body(sandbox.pipeline)
    sandbox.doubles.connect_double.refuse()
    try:
        for response in _preview_and_deploy(sandbox, body, destination):
            assert_error(response, 503, "CONNECT_UNAVAILABLE")
    finally:
        sandbox.doubles.connect_double.accept()
    assert set(sandbox.doubles.connect_double.names()) <= before
    assert sandbox.admin.get_ok(f"/destinations/{destination['id']}")["deliveries"] == 0
    assert _preview_and_deploy(sandbox, body, destination)[1].status_code == 201


def test_kafka_that_is_down_is_unavailable(sandbox: Sandbox) -> None:
    body = sandbox.delivery_body(sandbox.pipeline)
    sandbox.doubles.kafka_double.refuse()
    try:
        response = sandbox.admin.post(f"/destinations/{sandbox.destination['id']}/preview", body)
        assert_error(response, 503, "STREAM_UNAVAILABLE")
    finally:
        sandbox.doubles.kafka_double.accept()
