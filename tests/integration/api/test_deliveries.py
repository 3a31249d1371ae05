"""Deliveries, by their own paths and by those of their destination."""

from typing import Any

import pytest

from infra.local.doubles.connect_faults import FaultEffect
from infra.local.doubles.connect_plugins import JDBC, JDBC_SINK
from tests.support.api_assertions import UNKNOWN_ID, assert_error, is_timestamp, is_uuid, validation_error
from tests.support.sandbox import TARGET, WRITER, WRITER_PASSWORD, Json, Sandbox
from tests.support.waiting import eventually

FIELDS = {
    "id", "destination_id", "pipeline_id", "name", "connector_name", "connect_cluster_id", "mappings", "configuration",
    "topics", "desired_state", "observed_state", "observed_at", "reasons", "tasks", "open_operation", "last_error",
    "metrics", "notice", "version", "created_at", "updated_at",
}  # fmt: skip
STATUS = {
    "id", "delivery_id", "name", "connector_name", "desired_state", "observed_state", "observed_at", "connector",
    "tasks",
    "reasons",
}  # fmt: skip


def _states(delivery: Json) -> tuple[str, str]:
    return delivery["desired_state"], delivery["observed_state"]


def _both(sandbox: Sandbox, body: Json, destination: Json | None = None) -> list[Any]:
    """The responses of preview and of deploy."""
    path = f"/destinations/{(destination or sandbox.destination)['id']}"
    return [sandbox.admin.post(f"{path}/{verb}", body) for verb in ("preview", "deploy")]


# preview and deploy


def test_a_preview_shows_config_and_warnings_and_saves_nothing(sandbox: Sandbox) -> None:
    before, body = sandbox.admin.get_ok("/deliveries"), sandbox.delivery_body(sandbox.pipeline)
    response = sandbox.admin.post(f"/destinations/{sandbox.destination['id']}/preview", body)
    seen = response.json()
    assert (response.status_code, set(seen)) == (200, {"connector_name", "config", "topics", "validation", "warnings"})
    assert seen["validation"] == {"error_count": 0, "errors": []}
    assert seen["topics"] == [body["mappings"][0]["topic"]]
    assert all(set(warning) == {"code", "message"} for warning in seen["warnings"])
    assert seen["config"]["connection.password"].startswith("${headgate:")
    assert WRITER_PASSWORD not in response.text
    assert sandbox.admin.get_ok("/deliveries") == before


def test_a_deploy_answers_201_with_the_running_delivery(sandbox: Sandbox) -> None:
    destination, body = sandbox.new_destination(), sandbox.delivery_body(sandbox.pipeline)
    response = sandbox.admin.post(f"/destinations/{destination['id']}/deploy", body)
    created = response.json()
    assert (response.status_code, set(created)) == (201, FIELDS)
    assert response.headers["Location"] == f"/api/v1/deliveries/{created['id']}"
    assert is_uuid(created["id"])
    assert is_timestamp(created["created_at"])
    assert _states(created) == ("RUNNING", "RUNNING")
    assert (created["destination_id"], created["pipeline_id"]) == (destination["id"], sandbox.pipeline["id"])
    assert (created["mappings"], created["version"], created["open_operation"]) == (body["mappings"], 1, None)
    assert created["configuration"] == {
        "write_mode": "upsert", "delete_enabled": True, "auto_create": True, "auto_evolve": True, "batch_size": 500,
        "tasks_max": 1,
    }  # fmt: skip
    assert set(created["metrics"]) == {"throughput", "lag", "notice"}
    shown = sandbox.admin.get_ok(f"/deliveries/{created['id']}")
    assert shown["id"] == created["id"]
    [in_pipeline] = [
        one
        for one in sandbox.admin.get_ok(f"/pipelines/{created['pipeline_id']}/destinations")
        if one["id"] == created["id"]
    ]
    assert set(in_pipeline) == FIELDS
    assert created["id"] in {
        one["id"] for one in sandbox.admin.get_ok(f"/pipelines/{created['pipeline_id']}")["destinations"]
    }
    [mapped] = sandbox.admin.get_ok(f"/destinations/{destination['id']}/mappings")
    assert (mapped["delivery_id"], mapped["mappings"]) == (created["id"], body["mappings"])


def test_the_target_schema_is_public_when_none_is_named(sandbox: Sandbox) -> None:
    mapping = sandbox.mapping(sandbox.pipeline["topics"][0])
    del mapping["schema_name"]
    response, _ = _both(sandbox, sandbox.delivery_body(sandbox.pipeline, mappings=[mapping]))
    # The writer may create no tables there: the refusal names the schema.
    assert_error(response, 422, "TARGET_NOT_READY")
    assert "public" in response.text


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
    for response in _both(sandbox, sandbox.delivery_body(sandbox.pipeline, **change)):
        validation_error(response, "body", *location)


def test_unknown_references_are_refused(sandbox: Sandbox) -> None:
    for change in ({"pipeline_id": UNKNOWN_ID}, {"connect_cluster_id": UNKNOWN_ID}):
        for response in _both(sandbox, sandbox.delivery_body(sandbox.pipeline, **change)):
            assert_error(response, 422, "REFERENCE_NOT_FOUND")


def test_a_topic_of_another_pipeline_is_refused(sandbox: Sandbox) -> None:
    body = sandbox.delivery_body(sandbox.pipeline, mappings=[sandbox.mapping("somebody.elses.topic")])
    for response in _both(sandbox, body):
        assert_error(response, 422, "TOPIC_NOT_IN_PIPELINE")


def test_a_topic_that_does_not_exist_yet_is_not_found(sandbox: Sandbox) -> None:
    draft = sandbox.new_pipeline()
    for response in _both(sandbox, sandbox.delivery_body(draft)):
        assert_error(response, 422, "TOPIC_NOT_FOUND")


def test_a_table_without_a_key_is_not_upserted(sandbox: Sandbox) -> None:
    with sandbox.postgresql.connect("market") as connection:
        connection.execute("ALTER TABLE shop.lines REPLICA IDENTITY FULL")
    try:
        source = sandbox.new_source()
    finally:
        with sandbox.postgresql.connect("market") as connection:
            connection.execute("ALTER TABLE shop.lines REPLICA IDENTITY DEFAULT")
    with sandbox.postgresql.connect("market") as connection:
        connection.execute("ALTER TABLE shop.lines REPLICA IDENTITY FULL")
        try:
            tables = [{"schema_name": "shop", "table_name": "lines"}]
            pipeline = sandbox.running_pipeline(source_id=source["id"], tables=tables)
        finally:
            connection.execute("ALTER TABLE shop.lines REPLICA IDENTITY DEFAULT")
    for response in _both(sandbox, sandbox.delivery_body(pipeline)):
        assert_error(response, 422, "KEY_REQUIRED")
    body = sandbox.delivery_body(pipeline, write_mode="insert", delete_enabled=True)
    preview, deployed = _both(sandbox, body)
    assert preview.status_code == 200, preview.text
    assert {"INSERT_REPEATS", "DELETES_NOT_DELIVERED"} <= {warning["code"] for warning in preview.json()["warnings"]}
    assert deployed.json()["configuration"]["delete_enabled"] is False
    assert sandbox.admin.delete(f"/deliveries/{deployed.json()['id']}").status_code == 204


def test_a_column_that_stops_the_sink_is_refused(sandbox: Sandbox) -> None:
    pipeline = sandbox.running_pipeline(tables=[{"schema_name": "shop", "table_name": "paths"}])
    for response in _both(sandbox, sandbox.delivery_body(pipeline)):
        assert_error(response, 422, "TYPE_UNSUPPORTED")


def test_a_column_that_stops_only_deliveries_is_captured_and_its_delivery_is_refused(sandbox: Sandbox) -> None:
    with sandbox.postgresql.connect("market") as connection:
        connection.execute("CREATE TABLE shop.sums (id bigint PRIMARY KEY, parts numeric[])")
        connection.execute("ALTER TABLE shop.sums OWNER TO capturer")
        try:
            source = sandbox.new_source()
            (table,) = sandbox.admin.get_ok(f"/sources/{source['id']}/tables?search=shop.sums")
            assert table["cdc_ready"] is True
            found = [(issue["code"], issue["severity"], issue["column"]) for issue in table["cdc_issues"]]
            assert found == [("TYPE_STOPS_TASK", "warn", "parts")]
            tables = [{"schema_name": "shop", "table_name": name} for name in ("orders", "sums")]
            pipeline = sandbox.running_pipeline(source_id=source["id"], tables=tables)
        finally:
            connection.execute("DROP TABLE shop.sums")
    mappings = [sandbox.mapping(topic, "mart") for topic in pipeline["topics"]]
    for response in _both(sandbox, sandbox.delivery_body(pipeline, mappings=mappings)):
        assert_error(response, 422, "TYPE_UNSUPPORTED")
        assert response.json()["error"]["details"] == {"mappings": [1]}


def test_a_missing_target_schema_is_not_ready(sandbox: Sandbox) -> None:
    mapping = sandbox.mapping(sandbox.pipeline["topics"][0], "nowhere")
    for response in _both(sandbox, sandbox.delivery_body(sandbox.pipeline, mappings=[mapping])):
        assert_error(response, 422, "TARGET_NOT_READY")


def test_a_target_that_is_down_is_unavailable(sandbox: Sandbox) -> None:
    destination = sandbox.new_destination(config=sandbox.config(TARGET, WRITER, port=1))
    for response in _both(sandbox, sandbox.delivery_body(sandbox.pipeline), destination):
        assert_error(response, 503, "DESTINATION_UNAVAILABLE")
    assert sandbox.admin.get_ok(f"/destinations/{destination['id']}")["deliveries"] == 0


def test_all_mappings_share_one_target_schema(sandbox: Sandbox) -> None:
    topics = sandbox.pipeline["topics"]
    mappings = [sandbox.mapping(topics[0], "mart"), sandbox.mapping(topics[1], "lake")]
    for response in _both(sandbox, sandbox.delivery_body(sandbox.pipeline, mappings=mappings)):
        validation_error(response, "body", "mappings")


def test_a_pipeline_of_bare_json_cannot_be_delivered_to_a_database(sandbox: Sandbox) -> None:
    pipeline = sandbox.running_pipeline(converter="json")
    for response in _both(sandbox, sandbox.delivery_body(pipeline)):
        validation_error(response, "body", "pipeline_id")


def test_a_table_has_one_writer_wherever_its_database_is_registered(sandbox: Sandbox) -> None:
    delivery = sandbox.new_delivery()
    twin = sandbox.new_destination()
    body = sandbox.delivery_body(sandbox.pipeline, mappings=delivery["mappings"])
    for response in _both(sandbox, body, twin):
        assert_error(response, 409, "TARGET_TABLE_CONFLICT")
    assert sandbox.admin.get_ok(f"/destinations/{twin['id']}")["deliveries"] == 0
    assert sandbox.admin.delete(f"/deliveries/{delivery['id']}").status_code == 204
    assert [response.status_code for response in _both(sandbox, body, twin)] == [200, 201]


def test_two_topics_are_not_written_to_one_table(sandbox: Sandbox) -> None:
    first, second = (sandbox.mapping(topic) for topic in sandbox.pipeline["topics"])
    body = sandbox.delivery_body(sandbox.pipeline, mappings=[first, {**second, "table_name": first["table_name"]}])
    for response in _both(sandbox, body):
        assert_error(response, 409, "TARGET_TABLE_CONFLICT")


def test_names_of_deliveries_are_unique(sandbox: Sandbox) -> None:
    delivery = sandbox.new_delivery()
    body = sandbox.delivery_body(sandbox.pipeline, name=delivery["name"].upper())
    assert_error(sandbox.admin.post(f"/destinations/{sandbox.destination['id']}/deploy", body), 409, "NAME_CONFLICT")


def test_a_missing_plug_in_is_reported_and_leaves_nothing(sandbox: Sandbox) -> None:
    destination = sandbox.new_destination()
    body = sandbox.delivery_body(sandbox.pipeline)
    sandbox.doubles.connect_double.remove_plugin(JDBC_SINK)
    try:
        for response in _both(sandbox, body, destination):
            assert_error(response, 422, "PLUGIN_MISSING")
    finally:
        sandbox.doubles.connect_double.add_plugin(JDBC)
    assert sandbox.admin.get_ok(f"/destinations/{destination['id']}/mappings") == []
    assert [response.status_code for response in _both(sandbox, body, destination)] == [200, 201]


def test_a_deploy_that_fails_leaves_no_association_and_no_connector(sandbox: Sandbox) -> None:
    destination, before = sandbox.new_destination(), sandbox.doubles.connect_double.names()
    body = sandbox.delivery_body(sandbox.pipeline)
    sandbox.doubles.connect_double.refuse()
    try:
        for response in _both(sandbox, body, destination):
            assert_error(response, 503, "CONNECT_UNAVAILABLE")
    finally:
        sandbox.doubles.connect_double.accept()
    assert sandbox.doubles.connect_double.names() == before
    assert sandbox.admin.get_ok(f"/destinations/{destination['id']}")["deliveries"] == 0
    assert _both(sandbox, body, destination)[1].status_code == 201


def test_kafka_that_is_down_is_unavailable(sandbox: Sandbox) -> None:
    body = sandbox.delivery_body(sandbox.pipeline)
    sandbox.doubles.kafka_double.refuse()
    try:
        response = sandbox.admin.post(f"/destinations/{sandbox.destination['id']}/preview", body)
        assert_error(response, 503, "STREAM_UNAVAILABLE")
    finally:
        sandbox.doubles.kafka_double.accept()


# control and status


def test_a_delivery_is_controlled_by_its_own_paths(sandbox: Sandbox) -> None:
    path = f"/deliveries/{sandbox.new_delivery()['id']}"
    for verb, states in (("pause", "PAUSED"), ("resume", "RUNNING"), ("restart", "RUNNING")):
        response = sandbox.admin.post(f"{path}/{verb}")
        assert (response.status_code, set(response.json())) == (200, FIELDS), response.text
        assert _states(response.json()) == (states, states)
    assert sandbox.admin.post(f"{path}/restart-task?task=0").status_code == 200
    assert_error(sandbox.admin.post(f"{path}/restart-task?task=7"), 404, "NOT_FOUND")
    status = sandbox.admin.get_ok(f"{path}/status")
    assert set(status) == STATUS
    assert _states(status) == ("RUNNING", "RUNNING")


def test_a_delivery_is_controlled_by_the_paths_of_its_destination(sandbox: Sandbox) -> None:
    delivery = sandbox.new_delivery()
    path = f"/destinations/{delivery['destination_id']}"
    for verb, states in (("pause", "PAUSED"), ("resume", "RUNNING"), ("restart", "RUNNING")):
        for query in ("", f"?delivery_id={delivery['id']}"):
            response = sandbox.admin.post(f"{path}/{verb}{query}")
            assert response.status_code == 200, response.text
            one = {"id": delivery["id"], "desired_state": states, "observed_state": states, "error": None}
            assert response.json() == {"deliveries": [one]}
    task = f"{path}/deliveries/{delivery['id']}/tasks"
    assert sandbox.admin.post(f"{task}/0/restart").status_code == 200
    for unknown in ("7", "x", "-1", "01", "999999999999"):
        assert_error(sandbox.admin.post(f"{task}/{unknown}/restart"), 404, "NOT_FOUND")


def test_a_delivery_of_another_destination_is_not_found_there(sandbox: Sandbox) -> None:
    delivery, other = sandbox.new_delivery(), sandbox.destination["id"]
    path = f"/destinations/{other}/deliveries/{delivery['id']}"
    assert_error(sandbox.admin.delete(path), 404, "NOT_FOUND")
    assert_error(sandbox.admin.put(f"{path}/mappings", {"mappings": delivery["mappings"]}), 404, "NOT_FOUND")
    assert_error(sandbox.admin.post(f"{path}/tasks/0/restart"), 404, "NOT_FOUND")
    assert_error(sandbox.admin.post(f"/destinations/{other}/pause?delivery_id={delivery['id']}"), 404, "NOT_FOUND")
    validation_error(sandbox.admin.post(f"/destinations/{other}/pause?delivery_id=x"), "query", "delivery_id")


def test_one_failing_sink_does_not_stop_the_others(sandbox: Sandbox) -> None:
    destination = sandbox.new_destination()
    first, second = (sandbox.new_delivery(destination) for _ in range(2))
    sandbox.doubles.connect_double.drop(second["connector_name"])
    response = sandbox.admin.post(f"/destinations/{destination['id']}/pause")
    assert response.status_code == 200, response.text
    by_id = {one["id"]: one for one in response.json()["deliveries"]}
    assert (by_id[first["id"]]["desired_state"], by_id[first["id"]]["error"]) == ("PAUSED", None)
    failed = by_id[second["id"]]
    assert failed["desired_state"] == "RUNNING"
    assert set(failed["error"]) == {"code", "message"}
    assert failed["error"]["code"] == "STATE_CONFLICT"
    status = sandbox.admin.get_ok(f"/destinations/{destination['id']}/status")
    assert set(status) == {"destination_id", "desired_state", "observed_state", "deliveries"}
    seen = {one["id"]: one["observed_state"] for one in status["deliveries"]}
    assert seen == {first["id"]: "PAUSED", second["id"]: "NOT_DEPLOYED"}


def test_a_sink_without_an_observation_is_reported_as_unknown(sandbox: Sandbox) -> None:
    delivery = sandbox.new_delivery()
    fault = sandbox.doubles.connect_double.plant(
        FaultEffect.LOSE_REPLY, "PUT", f"{delivery['connector_name']}/pause", times=100
    )
    try:
        response = sandbox.admin.post(f"/destinations/{delivery['destination_id']}/pause")
    finally:
        fault.release()
    [one] = response.json()["deliveries"]
    assert (one["desired_state"], one["error"]["code"]) == ("RUNNING", "OPERATION_IN_PROGRESS")


def test_a_failed_sink_is_not_shown_as_running(sandbox: Sandbox) -> None:
    delivery = sandbox.new_delivery()
    sandbox.doubles.connect_double.fail_task(delivery["connector_name"], "java.lang.RuntimeException: planted-text")
    status = eventually(
        lambda: sandbox.admin.get_ok(f"/destinations/{delivery['destination_id']}/status"),
        lambda seen: seen["observed_state"] != "RUNNING",
    )
    assert status["observed_state"] == status["deliveries"][0]["observed_state"] == "DEGRADED"
    assert "planted" not in str(status)


def test_a_destination_without_deliveries_has_nothing_to_control(sandbox: Sandbox) -> None:
    assert sandbox.admin.post(f"/destinations/{sandbox.new_destination()['id']}/pause").json() == {"deliveries": []}


# mappings and removal


def test_new_mappings_say_that_offsets_are_kept(sandbox: Sandbox) -> None:
    delivery = sandbox.new_delivery()
    topics = sandbox.pipeline["topics"]
    for path in (
        f"/deliveries/{delivery['id']}/mappings",
        f"/destinations/{delivery['destination_id']}/deliveries/{delivery['id']}/mappings",
    ):
        body = {"mappings": [sandbox.mapping(topic) for topic in topics]}
        response = sandbox.admin.put(path, body)
        assert (response.status_code, set(response.json())) == (200, FIELDS), response.text
        assert (response.json()["mappings"], response.json()["topics"]) == (body["mappings"], topics)
        assert "ffsets are kept" in response.json()["notice"]
        assert "nothing is backfilled" in response.json()["notice"]
        config = sandbox.doubles.connect_double.config_of(delivery["connector_name"])
        assert config["topics"] == ",".join(topics)
    again = sandbox.admin.put(f"/deliveries/{delivery['id']}/mappings", body)
    assert again.json()["version"] == response.json()["version"]


def test_a_changed_destination_is_reported_and_reaches_the_sink_with_its_mappings(sandbox: Sandbox) -> None:
    destination = sandbox.new_destination()
    delivery = sandbox.new_delivery(destination)
    path, config_of = f"/deliveries/{delivery['id']}", sandbox.doubles.connect_double.config_of
    before = config_of(delivery["connector_name"])["connection.url"]
    config = {**destination["config"], "ssl_mode": "disable"}
    changed = sandbox.destination_body(name=destination["name"], config=config)
    assert sandbox.admin.put(f"/destinations/{destination['id']}", changed).status_code == 200
    assert "Its destination was changed" in str(sandbox.admin.get_ok(f"{path}/status")["reasons"])
    assert sandbox.admin.put(f"{path}/mappings", {"mappings": delivery["mappings"]}).status_code == 200
    assert config_of(delivery["connector_name"])["connection.url"] != before
    assert "Its destination was changed" not in str(sandbox.admin.get_ok(f"{path}/status")["reasons"])


def test_new_mappings_repeat_the_whole_validation(sandbox: Sandbox) -> None:
    delivery, other = sandbox.new_delivery(), sandbox.new_delivery()
    path, topic = f"/deliveries/{delivery['id']}/mappings", sandbox.pipeline["topics"][0]
    cases = (
        ([sandbox.mapping("not.in.it")], 422, "TOPIC_NOT_IN_PIPELINE"),
        ([{**sandbox.mapping(topic), "table_name": other["mappings"][0]["table_name"]}], 409, "TARGET_TABLE_CONFLICT"),
        ([sandbox.mapping(topic), sandbox.mapping(sandbox.pipeline["topics"][1], "other")], 422, "VALIDATION_FAILED"),
        ([], 422, "VALIDATION_FAILED"),
    )
    for mappings, status, code in cases:
        assert_error(sandbox.admin.put(path, {"mappings": mappings}), status, code)
    after = sandbox.admin.get_ok(f"/deliveries/{delivery['id']}")
    assert (after["mappings"], after["open_operation"]) == (delivery["mappings"], None)
    sandbox.doubles.connect_double.remove_plugin(JDBC_SINK)
    try:
        assert_error(sandbox.admin.put(path, {"mappings": delivery["mappings"]}), 422, "PLUGIN_MISSING")
    finally:
        sandbox.doubles.connect_double.add_plugin(JDBC)


def test_tables_that_are_no_longer_written_are_free(sandbox: Sandbox) -> None:
    delivery = sandbox.new_delivery()
    moved = {"mappings": [sandbox.mapping(sandbox.pipeline["topics"][0])]}
    assert sandbox.admin.put(f"/deliveries/{delivery['id']}/mappings", moved).status_code == 200
    sandbox.new_delivery(mappings=delivery["mappings"])


@pytest.mark.parametrize("path", ["/deliveries/{delivery}", "/destinations/{destination}/deliveries/{delivery}"])
def test_a_removed_delivery_leaves_the_data_and_no_connector(sandbox: Sandbox, path: str) -> None:
    delivery = sandbox.new_delivery()
    table = delivery["mappings"][0]["table_name"]
    with sandbox.postgresql.connect(TARGET) as connection:
        connection.execute(f"CREATE TABLE mart.{table} AS SELECT 1 AS id".encode())
        path = path.format(destination=delivery["destination_id"], delivery=delivery["id"])
        response = sandbox.admin.delete(path)
        assert (response.status_code, response.content) == (204, b"")
        assert connection.execute(f"SELECT count(*) FROM mart.{table}".encode()).fetchone() == (1,)
    assert_error(sandbox.admin.get(f"/deliveries/{delivery['id']}"), 404, "NOT_FOUND")
    assert delivery["connector_name"] not in sandbox.doubles.connect_double.names()
    assert sandbox.admin.get_ok(f"/destinations/{delivery['destination_id']}/mappings") == []
