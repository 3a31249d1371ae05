"""Connections, and sources and destinations that use one."""

import pytest

from tests.integration.api.connection_users import KINDS, as_user, body_of, new_connection, new_user, put
from tests.support.api_assertions import UNKNOWN_ID, assert_error, is_uuid, validation_error
from tests.support.apps.sandbox import Json, Sandbox
from tests.support.databases.self_signed import make_certificate
from tests.support.faults import places

FIELDS = {
    "id", "name", "description", "category", "provider", "capabilities", "config", "credentials", "status",
    "last_error", "last_tested_at", "last_test", "used_by", "version", "created_at", "updated_at",
    "labels",
}  # fmt: skip


# connections


def test_a_new_connection_has_no_health_and_no_users(sandbox: Sandbox) -> None:
    created = new_connection(sandbox, config=sandbox.config(port=1))
    assert set(created) == FIELDS
    assert is_uuid(created["id"])
    assert (created["status"], created["version"], created["used_by"]) == ("UNKNOWN", 1, [])
    assert (created["last_error"], created["last_test"], created["last_tested_at"]) == (None, None, None)
    assert (created["category"], created["capabilities"]) == ("DATABASE", ["SOURCE", "DESTINATION"])
    assert sandbox.admin.get_ok(f"/connections/{created['id']}") == created


@pytest.mark.parametrize(
    ("capabilities", "stored"),
    [
        (["DESTINATION"], ["DESTINATION"]),
        (["DESTINATION", "SOURCE"], ["SOURCE", "DESTINATION"]),
        (["SOURCE", "SOURCE"], ["SOURCE"]),
        (None, ["SOURCE", "DESTINATION"]),
    ],
)
def test_the_capabilities_can_be_chosen(sandbox: Sandbox, capabilities: list[str] | None, stored: list[str]) -> None:
    assert new_connection(sandbox, capabilities=capabilities)["capabilities"] == stored


@pytest.mark.parametrize(
    ("change", "location"),
    [
        ({"capabilities": []}, ["capabilities"]),
        ({"capabilities": ["READ"]}, ["capabilities", 0]),
        ({"provider": "oracle"}, ["provider"]),
        ({"provider": None}, ["provider"]),
        ({"config": None}, ["config"]),
        ({"environment": "test"}, ["environment"]),
        ({"connection_id": UNKNOWN_ID}, ["connection_id"]),
        ({"name": " "}, ["name"]),
    ],
)
def test_a_bad_connection_is_refused(sandbox: Sandbox, change: Json, location: list[str | int]) -> None:
    validation_error(sandbox.admin.post("/connections", sandbox.connection_body(**change)), "body", *location)


def test_a_put_replaces_everything_but_secrets(sandbox: Sandbox) -> None:
    connection = new_connection(sandbox, description="old", capabilities=["SOURCE"])
    body = {key: connection[key] for key in ("provider", "config")} | {"name": sandbox.name("new")}
    after = put(sandbox, f"/connections/{connection['id']}", body).json()
    assert set(after) == FIELDS | {"outdated_connectors"}
    assert (after["name"], after["description"], after["version"]) == (body["name"], None, 2)
    assert (after["capabilities"], after["credentials"]["configured"]) == (["SOURCE", "DESTINATION"], True)
    assert after["outdated_connectors"] == []


def test_a_name_belongs_to_one_connection(sandbox: Sandbox) -> None:
    first, second = new_connection(sandbox), new_connection(sandbox)
    taken = {"name": first["name"].upper()}
    assert_error(sandbox.admin.post("/connections", sandbox.connection_body(**taken)), 409, "NAME_CONFLICT")
    refused = put(sandbox, f"/connections/{second['id']}", body_of(sandbox, second, **taken))
    assert_error(refused, 409, "NAME_CONFLICT")


def test_connections_are_filtered_by_what_they_can_do(sandbox: Sandbox) -> None:
    only_target = new_connection(sandbox, capabilities=["DESTINATION"])
    both = new_connection(sandbox)
    for capability, found in (("SOURCE", {both["id"]}), ("DESTINATION", {both["id"], only_target["id"]})):
        listed = set()
        params = {"capability": capability, "limit": "1"}
        while True:
            response = sandbox.admin.get("/connections", params=params)
            assert len(response.json()) <= 1
            listed |= {entry["id"] for entry in response.json()}
            assert all(capability in entry["capabilities"] for entry in response.json())
            if not (cursor := response.headers.get("X-Next-Cursor")):
                break
            params["cursor"] = cursor
        assert listed & {both["id"], only_target["id"]} == found
    validation_error(sandbox.admin.get("/connections", params={"capability": "READ"}), "query", "capability")


# tests


def test_a_test_is_stored_and_ends_with_another_secret(sandbox: Sandbox) -> None:
    connection = new_connection(sandbox)
    path = f"/connections/{connection['id']}"
    tested = sandbox.admin.post_ok(f"{path}/test", status=200)
    assert (tested["success"], tested["server_version"][:2]) == (True, "18")
    after = sandbox.admin.get_ok(path)
    assert (after["status"], after["version"]) == ("HEALTHY", 1)
    assert after["last_test"] == {"success": True, "checks": tested["checks"]}
    changed = put(sandbox, path, body_of(sandbox, connection, credentials={"password": "planted-wrong"})).json()
    assert (changed["status"], changed["last_test"]) == ("UNKNOWN", None)
    assert sandbox.admin.post_ok(f"{path}/test", status=200)["success"] is False
    failed = sandbox.admin.get_ok(path)
    assert (failed["status"], failed["last_error"]["code"]) == ("UNHEALTHY", "AUTHENTICATION_FAILED")


@pytest.mark.parametrize("path", ["/connections/test", "/destinations/test-connection"])
def test_an_unsaved_test_stores_nothing(sandbox: Sandbox, path: str) -> None:
    connection, correlation = new_connection(sandbox), {"X-Correlation-ID": sandbox.name("unsaved")}
    body = {key: value for key, value in sandbox.connection_body().items() if key != "name"}
    for sent in (
        body,
        {"connection_id": connection["id"]},
        {"connection_id": connection["id"], "provider": "postgresql"},
    ):
        response = sandbox.admin.post(path, sent, headers=correlation)
        assert (response.status_code, response.json()["success"]) == (200, True)
    assert sandbox.admin.get_ok(f"/connections/{connection['id']}") == connection
    records = [record["correlation_id"] for record in sandbox.admin.get_ok("/audit")]
    assert correlation["X-Correlation-ID"] not in records
    failed = sandbox.admin.post_ok(path, {**body, "config": sandbox.config(port=1)}, status=200)
    assert failed["success"] is False


# using one


@pytest.mark.parametrize("kind", KINDS)
def test_what_uses_a_connection_shows_its_address_and_works(sandbox: Sandbox, kind: str) -> None:
    connection = new_connection(sandbox)
    created = sandbox.admin.post_ok(f"/{kind}", sandbox.using_body(connection, description="d", environment="test"))
    assert (created["connection_id"], created["provider"]) == (connection["id"], "postgresql")
    assert (created["config"], created["credentials"]) == (connection["config"], connection["credentials"])
    assert (created["description"], created["environment"]) == ("d", "test")
    assert sandbox.admin.post_ok(f"/{kind}/{created['id']}/test", status=200)["success"] is True
    assert sandbox.admin.get_ok(f"/connections/{connection['id']}")["used_by"] == [as_user(kind, created)]
    listed = {entry["id"]: entry["used_by"] for entry in sandbox.listed("/connections")}
    assert listed[connection["id"]] == [as_user(kind, created)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_system_has_an_address_of_its_own_or_that_of_a_connection(sandbox: Sandbox, kind: str) -> None:
    connection, path = new_connection(sandbox), f"/{kind}"
    own = sandbox.source_body()
    config, credentials = {"config": own["config"]}, {"credentials": own["credentials"]}
    for fields, location, error in (
        (config, ["config"], "not_with_connection"),
        (credentials, ["credentials"], "not_with_connection"),
        ({"credentials": {}}, ["credentials"], "not_with_connection"),
    ):
        refused = sandbox.admin.post(path, sandbox.using_body(connection, **fields))
        assert validation_error(refused, "body", *location) == error
    for missing in ("config", "provider"):
        body = {key: value for key, value in own.items() if key != missing}
        assert validation_error(sandbox.admin.post(path, body), "body", missing) == "missing"
        assert validation_error(sandbox.admin.post(path, {**body, "connection_id": None}), "body", missing) == "missing"
    nothing = assert_error(sandbox.admin.post(path, {"name": sandbox.name("x")}), 422, "VALIDATION_FAILED")
    assert places(nothing) == [{"location": ["body", field], "type": "missing"} for field in ("provider", "config")]
    malformed = sandbox.admin.post(path, {"name": sandbox.name("x"), "connection_id": "x"})
    validation_error(malformed, "body", "connection_id")


@pytest.mark.parametrize("path", ["/sources", "/destinations", "/connections/test", "/destinations/test-connection"])
def test_an_unknown_connection_is_refused_at_its_field(sandbox: Sandbox, path: str) -> None:
    body: Json = {"connection_id": UNKNOWN_ID} | ({} if "test" in path else {"name": sandbox.name("x")})
    details = assert_error(sandbox.admin.post(path, body), 422, "REFERENCE_NOT_FOUND")
    assert places(details) == [{"location": ["body", "connection_id"], "type": "not_found"}]


@pytest.mark.parametrize(("kind", "capability"), [("sources", "DESTINATION"), ("destinations", "SOURCE")])
def test_a_connection_without_the_capability_is_refused(sandbox: Sandbox, kind: str, capability: str) -> None:
    connection = new_connection(sandbox, capabilities=[capability])
    own = sandbox.admin.post_ok(f"/{kind}", sandbox.source_body())
    created = sandbox.admin.post(f"/{kind}", sandbox.using_body(connection))
    for refused in (created, put(sandbox, f"/{kind}/{own['id']}", sandbox.using_body(connection))):
        assert validation_error(refused, "body", "connection_id") == "capability_missing"
    assert sandbox.admin.get_ok(f"/connections/{connection['id']}")["used_by"] == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_system_may_begin_to_use_a_connection_and_another_one_and_stop(sandbox: Sandbox, kind: str) -> None:
    first, second = (
        new_connection(sandbox),
        new_connection(sandbox, config=sandbox.config(connection_timeout_seconds=9)),
    )
    body = sandbox.source_body()
    system = sandbox.admin.post_ok(f"/{kind}", body)
    path = f"/{kind}/{system['id']}"
    for connection, former in ((first, None), (second, first)):
        now = put(sandbox, path, sandbox.using_body(connection)).json()
        assert (now["connection_id"], now["config"]) == (connection["id"], connection["config"])
        assert sandbox.admin.get_ok(f"/connections/{connection['id']}")["used_by"] == [as_user(kind, now)]
        if former:
            assert sandbox.admin.get_ok(f"/connections/{former['id']}")["used_by"] == []
        assert sandbox.admin.post_ok(f"{path}/test", status=200)["success"] is True
    own = put(sandbox, path, body).json()
    assert (own["connection_id"], own["config"]) == (None, system["config"])
    assert sandbox.admin.post_ok(f"{path}/test", status=200)["success"] is True
    assert sandbox.admin.get_ok(f"/connections/{second['id']}")["used_by"] == []
    assert sandbox.admin.delete(path).status_code == 204


def test_a_secret_of_a_connection_stays_with_it(sandbox: Sandbox) -> None:
    certificate = {"ca_certificate": make_certificate().certificate}
    body = sandbox.connection_body()
    body["credentials"] |= certificate
    connection = sandbox.admin.post_ok("/connections", body)
    source = new_user(sandbox, connection)
    path = f"/sources/{source['id']}"
    for config in (connection["config"], {**connection["config"], "host": "localhost"}):
        own = {"name": source["name"], "provider": "postgresql", "config": config}
        for credentials, missing in (({}, ["ca_certificate", "password"]), (certificate, ["password"])):
            details = assert_error(put(sandbox, path, {**own, "credentials": credentials}), 422, "VALIDATION_FAILED")
            assert places(details) == [
                {"location": ["body", "credentials", name], "type": "required_for_new_target"} for name in missing
            ]
    assert sandbox.admin.get_ok(path) == source
    assert put(sandbox, path, {**own, "credentials": body["credentials"]}).status_code == 200
