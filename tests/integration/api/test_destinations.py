"""Destinations and tests of connections that are not registered."""

import pytest

from tests.support.api_assertions import assert_error, is_uuid
from tests.support.apps.sandbox import Json, Sandbox

FIELDS = {
    "id", "name", "description", "environment", "provider", "connection_id", "config", "credentials", "status",
    "last_error", "last_tested_at", "last_test", "last_health_check_at", "deliveries", "version", "created_at",
    "updated_at", "labels",
}  # fmt: skip


def test_a_new_destination_has_no_delivery_and_no_health(sandbox: Sandbox) -> None:
    created = sandbox.admin.post_ok("/destinations", sandbox.destination_body(config=sandbox.config(port=1)))
    assert set(created) == FIELDS
    assert is_uuid(created["id"])
    assert (created["status"], created["deliveries"], created["version"], created["last_test"]) == (
        "UNKNOWN",
        0,
        1,
        None,
    )
    status = sandbox.admin.get_ok(f"/destinations/{created['id']}/status")
    assert status == {
        "destination_id": created["id"], "desired_state": "DRAFT", "observed_state": "NOT_DEPLOYED", "deliveries": [],
    }  # fmt: skip


def test_a_destination_takes_no_options(sandbox: Sandbox) -> None:
    assert_error(sandbox.admin.post("/destinations", sandbox.destination_body(options={})), 422, "VALIDATION_FAILED")


def _test_body(sandbox: Sandbox, **changes: object) -> Json:
    body = sandbox.destination_body()
    return {"provider": "postgresql", "config": {**body["config"], **changes}, "credentials": body["credentials"]}


def test_an_unsaved_test_stores_nothing(sandbox: Sandbox) -> None:
    before, correlation = sandbox.ids("/destinations"), {"X-Correlation-ID": sandbox.name("unsaved")}
    response = sandbox.admin.post("/destinations/test-connection", _test_body(sandbox), headers=correlation)
    assert response.status_code == 200
    assert set(response.json()) == {"success", "checks", "server_version", "latency_ms"}
    assert response.json()["success"] is True
    # Schedules write records of their own at any time.
    records = [record["correlation_id"] for record in sandbox.admin.get_ok("/audit")]
    assert correlation["X-Correlation-ID"] not in records
    assert sandbox.ids("/destinations") <= before


@pytest.mark.parametrize("change", [{"port": 1}, {"database_name": "nowhere"}, {"username": "nobody"}])
def test_an_unsaved_test_that_fails_is_200(sandbox: Sandbox, change: Json) -> None:
    tested = sandbox.admin.post_ok("/destinations/test-connection", _test_body(sandbox, **change), status=200)
    assert (tested["success"], tested["server_version"]) == (False, None)
    assert "planted" not in str(tested)


@pytest.mark.parametrize("host", ["169.254.169.254", "224.0.0.1", "fe80::1"])
def test_a_forbidden_address_is_reported_as_such(sandbox: Sandbox, host: str) -> None:
    tested = sandbox.admin.post_ok("/destinations/test-connection", _test_body(sandbox, host=host), status=200)
    [failed] = [check for check in tested["checks"] if check["status"] == "failed"]
    assert failed["code"] == "URL_NOT_ALLOWED"


def test_the_address_of_a_destination_with_deliveries_is_locked(sandbox: Sandbox) -> None:
    destination = sandbox.new_destination()
    delivery = sandbox.new_delivery(destination)
    path = f"/destinations/{destination['id']}"
    assert sandbox.admin.get_ok(path)["deliveries"] == 1
    used_by = {"used_by": [{"type": "delivery", "id": delivery["id"], "name": delivery["name"]}]}
    assert assert_error(sandbox.admin.delete(path), 409, "RESOURCE_IN_USE") == used_by
    moved = sandbox.destination_body(name=destination["name"], config=sandbox.config("postgres", "writer"))
    assert assert_error(sandbox.admin.put(path, moved), 409, "RESOURCE_IN_USE") == used_by
    assert sandbox.admin.put(path, sandbox.destination_body(description="same address")).status_code == 200
    assert sandbox.admin.delete(f"/deliveries/{delivery['id']}").status_code == 204
    assert sandbox.admin.get_ok(path)["deliveries"] == 0
    assert sandbox.admin.delete(path).status_code == 204
