"""New credentials in one call, on a real PostgreSQL and the doubles of Connect and the brokers."""

from typing import Any

import pytest

from tests.support.api_assertions import UNKNOWN_ID, assert_error, validation_error
from tests.support.apps.sandbox import Json, Sandbox

WRONG, NEXT = "planted-wrong", "planted-next"


@pytest.fixture
def role(sandbox: Sandbox) -> str:
    """A role with a database of its own."""
    return sandbox.new_role("rotated", "planted-first")


def own(sandbox: Sandbox, role: str) -> Json:
    return {"config": sandbox.config(role, role), "credentials": {"password": "planted-first"}}


def rotate(sandbox: Sandbox, path: str, password: str = NEXT, **more: Any) -> Any:
    return sandbox.admin.post(f"{path}/credentials", {"credentials": {"password": password}}, **more)


def deployed(sandbox: Sandbox, source: Json) -> Json:
    sandbox.finished_job(sandbox.admin.post_ok(f"/sources/{source['id']}/discover", status=202))
    tables = [{"schema_name": "public", "table_name": "notes"}]
    pipeline = sandbox.new_pipeline(source_id=source["id"], tables=tables)
    return sandbox.admin.post_ok(f"/pipelines/{pipeline['id']}/deploy", status=200)


def secrets_line(sandbox: Sandbox, owner: Json) -> str:
    """The line of a connector's config that changes with its secrets."""
    return sandbox.doubles.connect_double.config_of(owner["connector_name"])["headgate.secrets"]


def test_a_new_password_of_a_source_reaches_its_connector_in_one_call(sandbox: Sandbox, role: str) -> None:
    source = sandbox.admin.post_ok("/sources", sandbox.source_body(**own(sandbox, role)))
    pipeline = deployed(sandbox, source)
    before = secrets_line(sandbox, pipeline)
    sandbox.change_password(role, NEXT)
    answer = rotate(sandbox, f"/sources/{source['id']}")
    assert answer.status_code == 200, answer.text
    assert answer.json()["test"]["success"] is True
    named = {"type": "pipeline", "id": pipeline["id"], "name": pipeline["name"]}
    assert answer.json()["connectors"] == [{"resource": named, "result": "updated", "error": None}]
    assert secrets_line(sandbox, pipeline) != before
    assert sandbox.admin.post_ok(f"/sources/{source['id']}/test", status=200)["success"] is True
    assert NEXT not in answer.text


def test_a_new_password_of_a_connection_reaches_all_that_use_it(sandbox: Sandbox, role: str) -> None:
    connection = sandbox.admin.post_ok("/connections", sandbox.connection_body(**own(sandbox, role)))
    source = sandbox.admin.post_ok("/sources", sandbox.using_body(connection))
    pipeline = deployed(sandbox, source)
    delivery = sandbox.new_delivery(sandbox.admin.post_ok("/destinations", sandbox.using_body(connection)))
    sandbox.change_password(role, NEXT)
    path = f"/connections/{connection['id']}"
    connectors = rotate(sandbox, path).json()["connectors"]
    assert {(one["resource"]["id"], one["result"]) for one in connectors} == {
        (pipeline["id"], "updated"),
        (delivery["id"], "updated"),
    }
    shown = sandbox.admin.get_ok(f"/deliveries/{delivery['id']}")
    assert (shown["desired_state"], shown["mappings"]) == ("RUNNING", delivery["mappings"])


def test_a_paused_pipeline_stays_paused(sandbox: Sandbox, role: str) -> None:
    source = sandbox.admin.post_ok("/sources", sandbox.source_body(**own(sandbox, role)))
    pipeline = deployed(sandbox, source)
    sandbox.admin.post_ok(f"/pipelines/{pipeline['id']}/pause", status=200)
    sandbox.change_password(role, NEXT)
    (connector,) = rotate(sandbox, f"/sources/{source['id']}").json()["connectors"]
    assert connector["result"] == "updated"
    assert sandbox.admin.get_ok(f"/pipelines/{pipeline['id']}")["desired_state"] == "PAUSED"


def test_credentials_that_do_not_work_are_not_stored(sandbox: Sandbox, role: str) -> None:
    source = sandbox.admin.post_ok("/sources", sandbox.source_body(**own(sandbox, role)))
    refused = assert_error(rotate(sandbox, f"/sources/{source['id']}", WRONG), 422, "SOURCE_NOT_READY")
    assert "failed" in [check["status"] for check in refused["checks"]]
    assert WRONG not in str(refused)
    assert sandbox.admin.get_ok(f"/sources/{source['id']}")["version"] == source["version"]
    assert sandbox.admin.post_ok(f"/sources/{source['id']}/test", status=200)["success"] is True


def test_with_force_they_are_stored_and_the_connector_that_cannot_take_them_is_named(
    sandbox: Sandbox, role: str
) -> None:
    source = sandbox.admin.post_ok("/sources", sandbox.source_body(**own(sandbox, role)))
    deployed(sandbox, source)
    answer = sandbox.admin.post(f"/sources/{source['id']}/credentials?force=true", {"credentials": {"password": WRONG}})
    assert answer.status_code == 200, answer.text
    assert answer.json()["test"]["success"] is False
    (connector,) = answer.json()["connectors"]
    assert (connector["result"], connector["error"]["code"]) == ("failed", "SOURCE_NOT_READY")


def test_a_destination_is_refused_by_its_own_code(sandbox: Sandbox, role: str) -> None:
    destination = sandbox.admin.post_ok("/destinations", sandbox.destination_body(**own(sandbox, role)))
    assert_error(rotate(sandbox, f"/destinations/{destination['id']}", WRONG), 422, "TARGET_NOT_READY")


def test_the_password_of_a_kafka_cluster_with_a_sign_in_is_replaced(sandbox: Sandbox) -> None:
    body = {
        "name": sandbox.name("broker"),
        "bootstrap_servers": sandbox.doubles.kafka,
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "SCRAM-SHA-512",
        "username": "headgate",
        "credentials": {"password": "planted-first"},
    }
    cluster = sandbox.admin.post_ok("/stream/clusters", body)
    answer = rotate(sandbox, f"/stream/clusters/{cluster['id']}", params={"force": "true"})
    assert answer.status_code == 200, answer.text
    assert NEXT not in answer.text


def test_clusters_are_asked_with_the_new_credentials(sandbox: Sandbox) -> None:
    for path in (f"/stream/clusters/{sandbox.stream['id']}", f"/connect/clusters/{sandbox.connect['id']}"):
        answer = rotate(sandbox, path)
        assert answer.status_code == 200, answer.text
        assert (answer.json()["test"]["success"], answer.json()["connectors"]) == (True, [])
        assert sandbox.admin.get_ok(path)["credentials"]["configured"] is True


@pytest.mark.parametrize(
    ("credentials", "location", "kind"),
    [
        ({}, ["body", "credentials"], "missing"),
        ({"password": " "}, ["body", "credentials"], "missing"),
        ({"access_key_id": "planted"}, ["body", "credentials", "access_key_id"], "not_with_provider"),
        ({"token": "planted"}, ["body", "credentials", "token"], "extra_forbidden"),
    ],
)
def test_secrets_that_a_destination_does_not_take_are_refused_by_name(
    sandbox: Sandbox, credentials: Json, location: list[str], kind: str
) -> None:
    path = f"/destinations/{sandbox.destination['id']}/credentials"
    assert validation_error(sandbox.admin.post(path, {"credentials": credentials}), *location) == kind


def test_what_uses_a_connection_is_rotated_there(sandbox: Sandbox) -> None:
    source = sandbox.admin.post_ok("/sources", sandbox.using_body(sandbox.connection))
    refused = rotate(sandbox, f"/sources/{source['id']}")
    assert_error(refused, 409, "STATE_CONFLICT")
    assert f"/connections/{sandbox.connection['id']}/credentials" in refused.json()["error"]["message"]


def test_what_does_not_exist_is_not_found(sandbox: Sandbox) -> None:
    assert_error(rotate(sandbox, f"/connections/{UNKNOWN_ID}"), 404, "NOT_FOUND")
