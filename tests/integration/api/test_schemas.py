"""The versions of the schemas of a source's tables."""

import pytest

from chalicelib.kit.ids import new_id
from tests.support.api_assertions import assert_error, is_timestamp, is_uuid, validation_error
from tests.support.apps.sandbox import Json, Sandbox

VERSION_FIELDS = {
    "id", "source_id", "schema_name", "table_name", "version", "schema_hash", "schema", "diff", "affects",
    "discovered_at",
}  # fmt: skip
SCHEMA_FIELDS = {
    "columns", "primary_key_columns", "replica_identity", "replica_identity_columns", "unique_keys", "foreign_keys",
}  # fmt: skip
COLUMN_FIELDS = {
    "name", "type", "nullable", "has_default", "default", "generated", "invisible", "character_set", "collation",
}  # fmt: skip


def listed(sandbox: Sandbox, **query: str) -> list[Json]:
    response = sandbox.admin.get("/data/schemas", params={"source_id": sandbox.source["id"], **query})
    assert response.status_code == 200, response.text
    versions: list[Json] = response.json()
    return versions


def test_a_version_shows_the_schema_and_what_has_changed(sandbox: Sandbox) -> None:
    (orders,) = listed(sandbox, schema="shop", table="orders")
    assert set(orders) == VERSION_FIELDS
    assert is_uuid(orders["id"])
    assert is_timestamp(orders["discovered_at"])
    assert (orders["source_id"], orders["version"], len(orders["schema_hash"])) == (sandbox.source["id"], 1, 64)
    schema = orders["schema"]
    assert (set(schema), set(schema["columns"][0])) == (SCHEMA_FIELDS, COLUMN_FIELDS)
    assert (schema["primary_key_columns"], schema["replica_identity"]) == (["id"], "DEFAULT")
    assert (schema["unique_keys"], schema["columns"][2]["default"]) == (None, None)
    change = {"change": "TABLE_ADDED", "column": None, "from": None, "to": None, "impact": "NON_BREAKING"}
    assert (orders["diff"], orders["affects"]) == ([change], [])


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, ["paths", "orders", "lines", "customers"]), ({"table": "orders"}, ["orders"]), ({"table": "order"}, []),
        ({"schema": "public"}, []), ({"version": "1", "limit": "2"}, ["paths", "orders"]), ({"version": "2"}, []),
    ],
)  # fmt: skip
def test_versions_are_filtered(sandbox: Sandbox, query: dict[str, str], expected: list[str]) -> None:
    assert [version["table_name"] for version in listed(sandbox, **query)] == expected


def test_another_discovery_of_the_same_tables_adds_no_version(sandbox: Sandbox) -> None:
    source = sandbox.new_source()
    before = sandbox.admin.get_ok(f"/data/schemas?source_id={source['id']}")
    job = sandbox.finished_job(sandbox.admin.post_ok(f"/sources/{source['id']}/discover", status=202))
    assert job["result"]["schema_changes"] == {
        "versions": 0, "breaking": 0, "potentially_breaking": 0, "affected": [],
    }  # fmt: skip
    assert sandbox.admin.get_ok(f"/data/schemas?source_id={source['id']}") == before


def test_a_query_without_a_source_is_refused_and_an_unknown_source_is_not_found(sandbox: Sandbox) -> None:
    validation_error(sandbox.admin.get("/data/schemas"), "query", "source_id")
    for name, value in (("source_id", "x"), ("version", "0"), ("latest", "true")):
        query = {"source_id": sandbox.source["id"], name: value}
        validation_error(sandbox.admin.get("/data/schemas", params=query), "query", name)
    assert_error(sandbox.admin.get(f"/data/schemas?source_id={new_id()}"), 404, "NOT_FOUND")
