"""Sources, their tests, their tables and their readiness."""

from itertools import product
from typing import Any

import pytest

from tests.support.api_assertions import assert_error, is_timestamp, is_uuid, validation_error
from tests.support.apps.sandbox import Json, Sandbox
from tests.support.databases.self_signed import make_certificate

FIELDS = {
    "id", "name", "description", "environment", "provider", "connection_id", "config", "credentials", "options",
    "labels", "status",
    "last_error", "last_tested_at", "last_test", "last_health_check_at", "last_discovery_at", "tables",
    "cdc_ready_tables", "version", "created_at", "updated_at",
}  # fmt: skip
TABLE_FIELDS = {
    "id", "source_id", "schema_name", "table_name", "primary_key_columns", "columns", "estimated_rows",
    "estimated_size_bytes", "replica_identity", "cdc_ready", "cdc_issues",
}  # fmt: skip
CHECK_FIELDS = {
    "key", "name", "status", "severity", "description", "current_value", "expected_value", "recommended_action",
}  # fmt: skip


def test_a_new_source_has_no_health(sandbox: Sandbox) -> None:
    source = sandbox.admin.post_ok("/sources", sandbox.source_body(config=sandbox.config(port=1)))
    assert set(source) == FIELDS
    assert is_uuid(source["id"])
    assert is_timestamp(source["created_at"])
    assert is_timestamp(source["updated_at"])
    assert (source["status"], source["version"], source["options"]) == ("UNKNOWN", 1, {})
    unknown = ("last_error", "last_tested_at", "last_test", "last_health_check_at", "last_discovery_at", "tables")
    assert [source[name] for name in unknown] == [None] * 6


def test_a_missing_field_has_its_default(sandbox: Sandbox) -> None:
    config = {"host": "db.example.com", "database_name": "shop", "username": "cdc"}
    source = sandbox.admin.post_ok("/sources", {"name": sandbox.name("s"), "provider": "postgresql", "config": config})
    assert source["config"] == {**config, "port": 5432, "ssl_mode": "require", "connection_timeout_seconds": 10}
    assert (source["description"], source["environment"]) == (None, None)


@pytest.mark.parametrize("character", [*"?&%#/\\", "\x01", "\n", "\x7f", "\x85"])
def test_a_database_name_that_would_change_a_url_is_refused(sandbox: Sandbox, character: str) -> None:
    config = {"database_name": f"shop{character}host=127.0.0.1"}
    for path, body in (("/sources", sandbox.source_body()), ("/destinations", sandbox.destination_body())):
        refused = sandbox.admin.post(path, {**body, "config": {**body["config"], **config}})
        validation_error(refused, "body", "config", "database_name")


@pytest.mark.parametrize(
    ("mode", "hosts"),
    [
        ("require", ["db.example.com", "10.0.0.7", "[2001:db8::1]"]),
        ("prefer", ["localhost.", "LOCALHOST", "127.0.0.1", "127.9.9.9", "::1", "[::1]"]),
    ],
)
def test_connections_are_encrypted_by_default_except_to_this_machine(
    sandbox: Sandbox, mode: str, hosts: list[str]
) -> None:
    config = {"database_name": "shop", "username": "cdc"}
    body: Json = {"provider": "postgresql"}
    for path, host in product(("/sources", "/destinations"), hosts):
        created = sandbox.admin.post_ok(path, {**body, "name": sandbox.name("s"), "config": {**config, "host": host}})
        assert created["config"]["ssl_mode"] == mode
    config["host"] = hosts[0]
    chosen = {**body, "name": sandbox.name("s"), "config": {**config, "ssl_mode": "disable"}}
    assert sandbox.admin.post_ok("/sources", chosen)["config"]["ssl_mode"] == "disable"


@pytest.mark.parametrize("certificates", [0, 2])
def test_a_ca_certificate_is_exactly_one(sandbox: Sandbox, certificates: int) -> None:
    made = make_certificate()
    text = made.certificate * certificates or made.key
    for path, body in (("/sources", sandbox.source_body()), ("/destinations", sandbox.destination_body())):
        body["credentials"]["ca_certificate"] = text
        validation_error(sandbox.admin.post(path, body), "body", "credentials", "ca_certificate")
        body["credentials"]["ca_certificate"] = f"# ours\n{made.certificate}"
        assert sandbox.admin.post(path, body).status_code == 201
    unsaved = {"provider": "postgresql", "config": sandbox.config(), "credentials": {"ca_certificate": text}}
    refused = sandbox.admin.post("/destinations/test-connection", unsaved)
    validation_error(refused, "body", "credentials", "ca_certificate")


@pytest.mark.parametrize(
    ("change", "location"),
    [
        ({"port": 0}, "port"), ({"port": 65536}, "port"), ({"host": ""}, "host"), ({"host": "a b"}, "host"),
        ({"database_name": ""}, "database_name"), ({"username": None}, "username"), ({"ssl_mode": "maybe"}, "ssl_mode"),
        ({"connection_timeout_seconds": 0}, "connection_timeout_seconds"),
        ({"connection_timeout_seconds": 31}, "connection_timeout_seconds"),
    ],
)  # fmt: skip
def test_a_bad_config_is_refused(sandbox: Sandbox, change: Json, location: str) -> None:
    for path, body in (("/sources", sandbox.source_body()), ("/destinations", sandbox.destination_body())):
        validation_error(
            sandbox.admin.post(path, {**body, "config": {**body["config"], **change}}), "body", "config", location
        )


@pytest.mark.parametrize("name", ["", "  ", "x" * 201, 5, None, "a\nb"])
def test_a_bad_name_is_refused(sandbox: Sandbox, name: Any) -> None:
    validation_error(sandbox.admin.post("/sources", sandbox.source_body(name=name)), "body", "name")


@pytest.mark.parametrize("provider", ["s3", "minio", "oracle", ""])
def test_a_provider_that_this_version_lacks_is_refused(sandbox: Sandbox, provider: str) -> None:
    validation_error(sandbox.admin.post("/sources", sandbox.source_body(provider=provider)), "body", "provider")


def test_a_put_replaces_everything_but_secrets(sandbox: Sandbox) -> None:
    body = sandbox.source_body(description="old", environment="old")
    source = sandbox.admin.post_ok("/sources", body)
    renamed = {"name": sandbox.name("new"), "provider": "postgresql", "config": body["config"]}
    after = sandbox.admin.put(f"/sources/{source['id']}", renamed).json()
    assert (after["name"], after["description"], after["environment"]) == (renamed["name"], None, None)
    assert (after["version"], after["credentials"]["configured"]) == (2, True)
    assert after["created_at"] == source["created_at"]


# tests


def test_a_test_is_stored_with_what_it_is_of(sandbox: Sandbox) -> None:
    for kind, body in (("/sources", sandbox.source_body()), ("/destinations", sandbox.destination_body())):
        path = f"{kind}/{sandbox.admin.post_ok(kind, body)['id']}"
        tested = sandbox.admin.post_ok(f"{path}/test", status=200)
        assert set(tested) == {"success", "checks", "server_version", "latency_ms"}
        assert (tested["success"], tested["server_version"][:2]) == (True, "18")
        assert isinstance(tested["latency_ms"], int)
        after = sandbox.admin.get_ok(path)
        assert (after["status"], after["last_error"], after["version"]) == ("HEALTHY", None, 1)
        assert after["last_test"] == {"success": True, "checks": tested["checks"]}
        assert is_timestamp(after["last_tested_at"])


@pytest.mark.parametrize(
    "change", [{"port": 1}, {"database_name": "nowhere"}, {"username": "nobody"}, {"host": "does-not-exist.invalid"}]
)
def test_a_failed_test_is_200_and_shows_the_failed_check(sandbox: Sandbox, change: Json) -> None:
    source = sandbox.admin.post_ok("/sources", sandbox.source_body(config=sandbox.config(**change)))
    tested = sandbox.admin.post_ok(f"/sources/{source['id']}/test", status=200)
    assert tested["success"] is False
    for check in tested["checks"]:
        assert set(check) == {"name", "status", "code", "message"}
        assert check["status"] in ("success", "failed", "skipped")
        assert (check["code"] is None) == (check["status"] != "failed")
    after = sandbox.admin.get_ok(f"/sources/{source['id']}")
    assert after["status"] == "UNHEALTHY"
    assert set(after["last_error"]) == {"code", "message", "at"}
    assert is_timestamp(after["last_error"]["at"])


# tables


def _tables(sandbox: Sandbox, **filters: str) -> list[str]:
    response = sandbox.admin.get(f"/sources/{sandbox.source['id']}/tables", params=filters)
    assert response.status_code == 200, response.text
    return [table["table_name"] for table in response.json()]


def test_a_table_shows_columns_key_size_and_issues(sandbox: Sandbox) -> None:
    tables = {table["table_name"]: table for table in sandbox.admin.get_ok(f"/sources/{sandbox.source['id']}/tables")}
    orders, lines = tables["orders"], tables["lines"]
    assert set(orders) == TABLE_FIELDS
    assert (orders["schema_name"], orders["primary_key_columns"], orders["cdc_ready"]) == ("shop", ["id"], True)
    assert orders["columns"][2] == {"name": "amount", "type": "numeric(10,2)", "nullable": True, "ordinal": 3}
    assert orders["estimated_rows"] == 500
    assert orders["estimated_size_bytes"] > 100_000
    assert lines["cdc_ready"] is False
    assert {issue["code"] for issue in lines["cdc_issues"]} == {"NO_PRIMARY_KEY", "REPLICA_IDENTITY"}
    assert all(set(issue) == {"code", "severity", "column", "message"} for issue in lines["cdc_issues"])
    (issue,) = tables["paths"]["cdc_issues"]
    assert (issue["code"], issue["severity"], issue["column"]) == ("TYPE_NOT_CAPTURED", "warn", "around")


ALL = ["customers", "lines", "orders", "paths"]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, ALL), ({"search": "ORD"}, ["orders"]), ({"search": "shop.l"}, ["lines"]), ({"search": "%"}, []),
        ({"schema": "shop"}, ALL), ({"schema": "SHOP"}, []), ({"schema": "public"}, []),
        ({"cdc_ready": "false"}, ["lines"]), ({"has_primary_key": "false"}, ["lines"]),
        ({"has_primary_key": "true"}, ["customers", "orders", "paths"]), ({"min_size": "0"}, ALL),
        ({"min_size": "100000"}, ["orders"]), ({"min_size": "100000000"}, []),
        ({"cdc_ready": "true", "search": "o"}, ["customers", "orders", "paths"]),
    ],
)  # fmt: skip
def test_tables_are_filtered(sandbox: Sandbox, filters: dict[str, str], expected: list[str]) -> None:
    assert _tables(sandbox, **filters) == expected


@pytest.mark.parametrize(
    ("name", "value"),
    [("cdc_ready", "maybe"), ("has_primary_key", ""), ("min_size", "-1"), ("min_size", "big"), ("search", "x" * 201)],
)
def test_a_bad_filter_is_refused(sandbox: Sandbox, name: str, value: str) -> None:
    validation_error(sandbox.admin.get(f"/sources/{sandbox.source['id']}/tables", params={name: value}), "query", name)


# readiness


def test_readiness_names_every_check(sandbox: Sandbox) -> None:
    seen = sandbox.admin.get_ok(f"/sources/{sandbox.source['id']}/cdc-readiness")
    assert set(seen) == {"status", "checked_at", "checks"}
    assert seen["status"] in ("READY", "WARNING")
    assert is_timestamp(seen["checked_at"])
    for check in seen["checks"]:
        assert set(check) == CHECK_FIELDS
        assert check["status"] in ("pass", "warn", "unknown")


def test_an_unreachable_source_is_not_ready_and_its_other_checks_are_unknown(sandbox: Sandbox) -> None:
    source = sandbox.admin.post_ok("/sources", sandbox.source_body(config=sandbox.config(port=1)))
    seen = sandbox.admin.get_ok(f"/sources/{source['id']}/cdc-readiness")
    assert seen["status"] == "NOT_READY"
    first, *rest = (check["status"] for check in seen["checks"])
    assert (first, set(rest)) == ("fail", {"unknown"})


def test_readiness_can_be_requested_for_a_pipeline(sandbox: Sandbox) -> None:
    pipeline = sandbox.new_pipeline()
    path = f"/sources/{pipeline['source_id']}/cdc-readiness"
    assert sandbox.admin.get(path, params={"pipeline_id": pipeline["id"]}).json()["status"] in ("READY", "WARNING")
    assert sandbox.admin.delete(f"/pipelines/{pipeline['id']}").status_code == 204
    assert_error(sandbox.admin.get(path, params={"pipeline_id": pipeline["id"]}), 422, "REFERENCE_NOT_FOUND")
    validation_error(sandbox.admin.get(path, params={"pipeline_id": "x"}), "query", "pipeline_id")


def test_a_pipeline_of_another_source_is_refused(sandbox: Sandbox) -> None:
    other = sandbox.admin.post_ok("/sources", sandbox.source_body())
    path = f"/sources/{other['id']}/cdc-readiness"
    assert_error(sandbox.admin.get(path, params={"pipeline_id": sandbox.pipeline["id"]}), 422, "REFERENCE_NOT_FOUND")
