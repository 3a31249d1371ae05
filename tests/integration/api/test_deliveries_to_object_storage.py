"""Destinations and deliveries to object storage, with doubles of Kafka, Kafka Connect and a store."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.integration.api.resource_fields import both_states
from tests.support.api_assertions import assert_error, validation_error
from tests.support.apps.sandbox import Json, Sandbox
from tests.support.faults import places
from tests.support.object_store.scripted_store import ScriptedStore, scripted_store

KEY = {"access_key_id": "AKIAEXAMPLE", "secret_access_key": "not-to-be-shown"}


@pytest.fixture(scope="module")
def store() -> Iterator[ScriptedStore]:
    with scripted_store() as running:
        yield running


def register(sandbox: Sandbox, store: ScriptedStore, **config: Any) -> Json:
    body = {"bucket": "lake", "prefix": sandbox.name("prefix"), "endpoint_url": store.url, **config}
    return sandbox.new_destination(provider="minio", config=body, credentials=KEY)


def body_of(sandbox: Sandbox, **changes: Any) -> Json:
    options: Json = {"mappings": [{"topic": sandbox.pipeline["topics"][0]}], **changes}
    return {"pipeline_id": sandbox.pipeline["id"], "name": sandbox.name("files"), **options}


def post(sandbox: Sandbox, destination: Json, verb: str, body: Json) -> Any:
    return sandbox.admin.post(f"/destinations/{destination['id']}/{verb}", body)


def test_a_destination_shows_its_address_and_no_key(sandbox: Sandbox, store: ScriptedStore) -> None:
    body = {"bucket": "lake", "prefix": "/a/b/", "endpoint_url": f"{store.url}/"}
    created = sandbox.new_destination(provider="minio", config=body, credentials=KEY)
    assert created["config"] == {
        "bucket": "lake",
        "region": "us-east-1",
        "prefix": "a/b",
        "endpoint_url": store.url,
        "path_style": True,
    }
    assert created["credentials"] == {"configured": True, "mask": "********"}
    assert KEY["secret_access_key"] not in str(sandbox.admin.get_ok(f"/destinations/{created['id']}"))


def test_amazon_s3_needs_no_key(sandbox: Sandbox) -> None:
    config = {"bucket": "lake", "region": "eu-central-1"}
    created = sandbox.new_destination(provider="s3", config=config, credentials=None)
    assert created["credentials"] == {"configured": False, "mask": None}
    assert (created["config"]["endpoint_url"], created["config"]["path_style"]) == (None, False)


def test_a_destination_and_a_delivery_to_files_are_made_again_from_their_definitions(
    sandbox: Sandbox, store: ScriptedStore
) -> None:
    destination = register(sandbox, store)
    options = {"compression": "none", "max_records_per_file": 7}
    delivery = sandbox.admin.post_ok(f"/destinations/{destination['id']}/deploy", body_of(sandbox, **options))
    paths = f"/destinations/{destination['id']}", f"/deliveries/{delivery['id']}"
    definitions = [sandbox.admin.get_ok(f"{path}?view=definition") for path in paths]
    assert definitions[1] == {**definitions[1], **options}
    assert "plugin" not in definitions[1]
    for path in reversed(paths):
        assert sandbox.admin.delete(path).status_code == 204

    destination = sandbox.admin.post_ok("/destinations", {**definitions[0], "credentials": KEY})
    delivery = post(sandbox, destination, "deploy", definitions[1]).json()
    paths = f"/destinations/{destination['id']}", f"/deliveries/{delivery['id']}"
    assert [sandbox.admin.get_ok(f"{path}?view=definition") for path in paths] == definitions


@pytest.mark.parametrize(
    ("change", "location"),
    [
        ({"config": {"bucket": "lake"}}, ["config", "endpoint_url"]),
        ({"provider": "s3", "config": {"bucket": "lake"}}, ["config", "region"]),
        (
            {"provider": "s3", "config": {"bucket": "lake", "region": "x", "endpoint_url": "http://127.0.0.1"}},
            ["config", "endpoint_url"],
        ),
        ({"config": {"bucket": "Lake", "endpoint_url": "http://127.0.0.1"}}, ["config", "bucket"]),
        ({"config": {"bucket": "lake", "endpoint_url": "http://u:p@127.0.0.1"}}, ["config", "endpoint_url"]),
        ({"config": {"bucket": "lake", "endpoint_url": "http://127.0.0.1/path"}}, ["config", "endpoint_url"]),
        ({"config": {"bucket": "lake", "endpoint_url": "http://127.0.0.1", "prefix": "a//b"}}, ["config", "prefix"]),
        ({"config": {"bucket": "lake", "endpoint_url": "http://127.0.0.1", "host": "x"}}, ["config", "host"]),
        ({"credentials": None}, ["credentials", "access_key_id"]),
        ({"credentials": {"access_key_id": "x"}}, ["credentials", "secret_access_key"]),
    ],
)
def test_a_bad_address_is_refused_at_its_place(sandbox: Sandbox, change: Json, location: list[str]) -> None:
    body = {
        "name": sandbox.name("lake"),
        "provider": "minio",
        "config": {"bucket": "lake", "endpoint_url": "http://127.0.0.1"},
        "credentials": KEY,
        **change,
    }
    for path in ("/destinations", "/connections"):
        validation_error(sandbox.admin.post(path, body), "body", *location)
    del body["name"]
    validation_error(sandbox.admin.post("/destinations/test-connection", body), "body", *location)


def test_a_connection_to_a_store_is_for_destinations_only(sandbox: Sandbox, store: ScriptedStore) -> None:
    body = {
        "name": sandbox.name("lake"),
        "provider": "minio",
        "config": {"bucket": "lake", "endpoint_url": store.url},
        "credentials": KEY,
    }
    connection = sandbox.admin.post_ok("/connections", body)
    assert (connection["category"], connection["capabilities"]) == ("OBJECT_STORAGE", ["DESTINATION"])
    used = sandbox.admin.post_ok("/destinations", sandbox.using_body(connection))
    assert used["config"] == connection["config"]
    validation_error(sandbox.admin.post("/sources", sandbox.using_body(connection)), "body", "connection_id")
    refused = sandbox.admin.post("/connections", {**body, "name": sandbox.name("x"), "capabilities": ["SOURCE"]})
    validation_error(refused, "body", "capabilities")


def test_a_key_never_follows_to_another_place(sandbox: Sandbox, store: ScriptedStore) -> None:
    destination = register(sandbox, store)
    path = f"/destinations/{destination['id']}"
    for change in ({"bucket": "other"}, {"region": "eu-west-1"}, {"endpoint_url": "http://127.0.0.1:1"}):
        body = {"name": destination["name"], "provider": "minio", "config": {**destination["config"], **change}}
        kind = validation_error(sandbox.admin.put(path, body), "body", "credentials", "access_key_id")
        assert kind == "required_for_new_target"
    moved = {"name": destination["name"], "provider": "minio", "config": {**destination["config"], "prefix": "z"}}
    assert sandbox.admin.put(path, moved).status_code == 200


def test_a_test_says_what_it_has_done(sandbox: Sandbox, store: ScriptedStore) -> None:
    destination = register(sandbox, store)
    tested = sandbox.admin.post_ok(f"/destinations/{destination['id']}/test", status=200)
    assert tested["success"]
    assert [check["name"] for check in tested["checks"]] == [
        "connect",
        "bucket",
        "put_object",
        "multipart_upload",
        "delete_object",
    ]
    assert store.objects == {}
    assert store.uploads == set()


def test_a_delivery_is_previewed_deployed_and_keeps_its_plugin(sandbox: Sandbox, store: ScriptedStore) -> None:
    destination = register(sandbox, store)
    preview = post(sandbox, destination, "preview", body_of(sandbox, compression="none"))
    assert preview.status_code == 200, preview.text
    assert KEY["secret_access_key"] not in preview.text
    shown = preview.json()
    assert shown["config"]["camel.component.aws2-s3.secretKey"].startswith("${headgate:")
    assert {"DEVELOPMENT_ONLY", "TESTED_FROM_HEADGATE", "HEALTH_BY_LAG"} <= {one["code"] for one in shown["warnings"]}
    assert [one["name"] for one in shown["setup"]] == ["iam_policy", "lifecycle_configuration"]
    assert shown["target_ddl"] == []
    deployed = post(sandbox, destination, "deploy", body_of(sandbox, compression="none"))
    assert deployed.status_code == 201, deployed.text
    delivery = deployed.json()
    assert delivery["mappings"] == [{"topic": sandbox.pipeline["topics"][0]}]
    assert delivery["configuration"] == {
        "format": "jsonl",
        "shape": "envelope",
        "compression": "none",
        "file_name_template": "{{topic}}/{{partition:padding=true}}-{{start_offset:padding=true}}",
        "max_records_per_file": None,
        "tasks_max": 1,
    }
    expected = {"class": "org.apache.camel.kafkaconnector.CamelSinkConnector", "version": "0.11.0"}
    assert delivery["plugin"] == expected
    assert sandbox.admin.get_ok(f"/deliveries/{delivery['id']}")["plugin"] == expected
    assert sandbox.admin.delete(f"/deliveries/{delivery['id']}").status_code == 204


def test_a_delivery_to_files_is_controlled_as_one_to_tables_is(sandbox: Sandbox, store: ScriptedStore) -> None:
    destination = register(sandbox, store)
    delivery = post(sandbox, destination, "deploy", body_of(sandbox)).json()
    path = f"/deliveries/{delivery['id']}"
    for verb, state in (("pause", "PAUSED"), ("resume", "RUNNING"), ("restart", "RUNNING")):
        assert both_states(sandbox.admin.post_ok(f"{path}/{verb}", status=200)) == (state, state)
    other = [{"topic": sandbox.pipeline["topics"][1]}]
    changed = sandbox.admin.put(f"{path}/mappings", {"mappings": other}).json()
    assert (changed["mappings"], changed["plugin"]) == (other, delivery["plugin"])
    again = {name: destination[name] for name in ("name", "provider", "config")}
    rotated = {**again, "credentials": {**KEY, "secret_access_key": "a newer secret"}}
    assert sandbox.admin.put(f"/destinations/{destination['id']}", rotated).status_code == 200
    assert any("credentials of its destination are newer" in one for one in sandbox.admin.get_ok(path)["reasons"])
    assert sandbox.admin.put(f"{path}/mappings", {"mappings": other}).status_code == 200
    assert sandbox.admin.get_ok(path)["reasons"] == []
    assert sandbox.admin.delete(path).status_code == 204


@pytest.mark.parametrize("field", ["write_mode", "delete_enabled", "auto_create", "auto_evolve", "batch_size"])
def test_options_of_databases_are_refused(sandbox: Sandbox, store: ScriptedStore, field: str) -> None:
    values = {"write_mode": "insert", "batch_size": 10}
    body = body_of(sandbox, **{field: values.get(field, True)})
    validation_error(post(sandbox, register(sandbox, store), "preview", body), "body", field)


@pytest.mark.parametrize(
    ("options", "location"),
    [
        ({"format": "csv"}, ["format"]),
        ({"file_name_template": "{{topic}}"}, ["file_name_template"]),
        ({"file_name_template": "x-{{topic}}/{{partition}}-{{start_offset}}"}, ["file_name_template"]),
        ({"shape": "row"}, ["shape"]),
        ({"max_records_per_file": -1}, ["max_records_per_file"]),
    ],
)
def test_bad_options_are_refused_at_their_place(
    sandbox: Sandbox, store: ScriptedStore, options: Json, location: list[str]
) -> None:
    response = post(sandbox, register(sandbox, store), "preview", body_of(sandbox, **options))
    validation_error(response, "body", *location)


def test_rows_need_records_with_their_schema(sandbox: Sandbox, store: ScriptedStore) -> None:
    bare = sandbox.running_pipeline(converter="json")
    body = {**body_of(sandbox, shape="row"), "pipeline_id": bare["id"], "mappings": [{"topic": bare["topics"][0]}]}
    response = post(sandbox, register(sandbox, store), "preview", body)
    details = assert_error(response, 422, "VALIDATION_FAILED")
    assert places(details) == [{"location": ["body", "shape"], "type": "converter_without_schema"}]


def test_a_mapping_to_files_names_no_table(sandbox: Sandbox, store: ScriptedStore) -> None:
    body = body_of(sandbox, mappings=[{"topic": sandbox.pipeline["topics"][0], "table_name": "orders"}])
    response = post(sandbox, register(sandbox, store), "preview", body)
    validation_error(response, "body", "mappings", 0, "table_name")


def test_options_of_files_are_refused_for_a_database(sandbox: Sandbox) -> None:
    body = sandbox.delivery_body(sandbox.pipeline, shape="row")
    validation_error(post(sandbox, sandbox.destination, "preview", body), "body", "shape")


def test_no_two_deliveries_write_a_topic_below_one_prefix(sandbox: Sandbox, store: ScriptedStore) -> None:
    destination = register(sandbox, store)
    assert post(sandbox, destination, "deploy", body_of(sandbox)).status_code == 201
    twin = register(sandbox, store, prefix=destination["config"]["prefix"])
    for other in (destination, twin):
        for verb in ("preview", "deploy"):
            assert_error(post(sandbox, other, verb, body_of(sandbox)), 409, "TARGET_TABLE_CONFLICT")
    elsewhere = register(sandbox, store)
    assert post(sandbox, elsewhere, "deploy", body_of(sandbox)).status_code == 201


def test_a_bucket_that_refuses_is_not_ready(sandbox: Sandbox, store: ScriptedStore) -> None:
    destination = register(sandbox, store)
    with store.refusing("POST", 403, "AccessDenied"):
        response = post(sandbox, destination, "deploy", body_of(sandbox))
    details = assert_error(response, 422, "TARGET_NOT_READY")
    assert details["checks"][0]["code"] == "MULTIPART_DENIED"


def test_readable_values_go_to_files_only(sandbox: Sandbox, store: ScriptedStore) -> None:
    readable = sandbox.running_pipeline(representation="readable")
    assert (readable["representation"], readable["options"]["representation"]) == ("readable", "readable")
    assert readable["options"]["heartbeat_interval_ms"] is None
    detail = sandbox.admin.get_ok(f"/pipelines/{readable['id']}")
    assert detail["config"]["decimal.handling.mode"] == "string"
    assert detail["config"]["time.precision.mode"] == "isostring"
    to_database = sandbox.delivery_body(readable)
    validation_error(post(sandbox, sandbox.destination, "preview", to_database), "body", "pipeline_id")
    to_files = {**body_of(sandbox), "pipeline_id": readable["id"], "mappings": [{"topic": readable["topics"][0]}]}
    assert post(sandbox, register(sandbox, store), "preview", to_files).status_code == 200
