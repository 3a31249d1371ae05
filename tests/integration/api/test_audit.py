"""The audit trail: one record per fact."""

import json
from typing import Any
from uuid import uuid4

import pytest

from tests.support.api_assertions import UNKNOWN_ID, assert_error, is_timestamp, is_uuid, validation_error
from tests.support.apps.sandbox import ADMIN, Json, Sandbox

FIELDS = {
    "id", "at", "actor", "action", "resource_type", "resource_id", "resource_name", "parent_id", "outcome", "before",
    "after", "correlation_id", "meaningful",
}  # fmt: skip


def _facts(records: list[Json]) -> list[tuple[str, str]]:
    """Action and outcome, oldest first."""
    return [(record["action"], record["outcome"]) for record in reversed(records)]


def test_a_record_has_actor_action_and_resource(sandbox: Sandbox) -> None:
    source = sandbox.admin.post_ok("/sources", sandbox.source_body())
    [record] = sandbox.audit_records(source["id"])
    assert set(record) == FIELDS
    assert is_uuid(record["id"])
    assert is_timestamp(record["at"])
    assert set(record["actor"]) == {"id", "email", "via"}
    assert (record["actor"]["email"], record["actor"]["via"]) == (ADMIN.email, "session")
    assert (record["action"], record["resource_type"], record["outcome"]) == ("source.create", "source", "success")
    assert (record["before"], record["parent_id"], record["meaningful"]) == (None, None, True)


def test_before_and_after_show_what_has_changed_by_the_field_names_of_the_api(sandbox: Sandbox) -> None:
    body = sandbox.source_body()
    source = sandbox.admin.post_ok("/sources", body)
    assert sandbox.admin.put(f"/sources/{source['id']}", {**body, "environment": "new"}).status_code == 200
    updated, created = sandbox.audit_records(source["id"])
    before, after = updated["before"], updated["after"]
    assert (before["environment"], after["environment"]) == (None, "new")
    assert (before["version"], after["version"]) == (1, 2)
    assert is_timestamp(after["updated_at"])
    assert set(before) == set(after) == {"environment", "version", "updated_at", "credentials"}
    whole = created["after"]
    assert (whole["provider"], whole["config"]) == (source["provider"], source["config"])
    assert whole["credentials"] == {"configured": True}
    assert whole["created_at"] == source["created_at"]
    assert not {"revision", "claims", "config_hash", "address"} & set(whole)


def test_every_change_of_a_registered_resource_writes_one_record(sandbox: Sandbox) -> None:
    stream = {"name": sandbox.name("stream"), "bootstrap_servers": sandbox.doubles.kafka}
    for path, body, noun in (
        ("/sources", sandbox.source_body(), "source"),
        ("/destinations", sandbox.destination_body(), "destination"),
        ("/connections", sandbox.connection_body(), "connection"),
        ("/stream/clusters", stream, "stream_cluster"),
    ):
        created = sandbox.admin.post_ok(path, body)
        assert sandbox.admin.put(f"{path}/{created['id']}", body).status_code == 200
        assert sandbox.admin.delete(f"{path}/{created['id']}").status_code == 204
        expected = [(f"{noun}.{verb}", "success") for verb in ("create", "update", "delete")]
        assert _facts(sandbox.audit_records(created["id"])) == expected


def test_one_call_finds_who_changed_what_in_a_time(sandbox: Sandbox) -> None:
    admin, ops = sandbox.admin, sandbox.with_role("Ops")
    source = admin.post_ok("/sources", sandbox.source_body())
    headers = {"X-Correlation-ID": sandbox.name("change")}
    body = sandbox.source_body(name=source["name"])
    assert ops.put(f"/sources/{source['id']}", body, headers=headers).status_code == 200
    changed, created = sandbox.audit_records(source["id"])
    span = {"from": created["at"], "to": "2100-01-01T00:00:00Z", "meaningful": "true"}

    def found(**query: str) -> list[str]:
        records = admin.get("/audit", params={**span, **query}).json()
        return [record["id"] for record in records if record["resource_name"] == source["name"]]

    assert found() == [changed["id"], created["id"]]
    assert found(actor=changed["actor"]["email"].upper()) == [changed["id"]]
    assert found(actor=created["actor"]["id"]) == [created["id"]]
    assert found(action="source.update") == [changed["id"]]
    assert found(correlation_id=headers["X-Correlation-ID"], outcome="success") == [changed["id"]]
    assert found(outcome="denied") == []
    assert found(to=changed["at"]) == ([] if changed["at"] == created["at"] else [created["id"]])
    assert found(resource_id=source["id"], action="source.create") == [created["id"]]


def test_an_audit_list_whose_time_ends_before_it_begins_is_refused(sandbox: Sandbox) -> None:
    query = {"from": "2030-01-01T00:00:00Z", "to": "2029-12-31T23:59:59Z"}
    assert validation_error(sandbox.admin.get("/audit", params=query), "query", "to") == "not_later_than_from"


def test_an_operation_writes_requested_and_success_with_one_correlation_id(sandbox: Sandbox) -> None:
    draft = sandbox.new_pipeline()
    headers = {"X-Correlation-ID": sandbox.name("operation")}
    for verb in ("deploy", "pause", "resume", "restart", "restart-task?task=0"):
        assert sandbox.admin.post(f"/pipelines/{draft['id']}/{verb}", headers=headers).status_code == 200
    assert sandbox.admin.delete(f"/pipelines/{draft['id']}", headers=headers).status_code == 204
    records = sandbox.audit_records(draft["id"])
    verbs = ("deploy", "pause", "resume", "restart", "restart_task", "delete")
    operations = [(f"pipeline.{verb}", outcome) for verb in verbs for outcome in ("requested", "success")]
    assert _facts(records) == [("pipeline.create", "success"), *operations]
    assert {record["correlation_id"] for record in records[:-1]} == {headers["X-Correlation-ID"]}


def test_the_records_of_a_destination_can_include_its_deliveries(sandbox: Sandbox) -> None:
    delivery = sandbox.new_delivery()
    destination = delivery["destination_id"]
    assert sandbox.admin.delete(f"/deliveries/{delivery['id']}").status_code == 204
    alone = _facts(sandbox.audit_records(destination, meaningful="true"))
    related = sandbox.audit_records(destination, include_related="true", meaningful="true")
    assert alone == [("destination.create", "success")]
    assert _facts(related) == [
        *alone,
        *((f"delivery.{verb}", outcome) for verb in ("deploy", "delete") for outcome in ("requested", "success")),
    ]
    assert {record["parent_id"] for record in related[:-1]} == {destination}


def test_meaningful_leaves_out_routine_observations_and_jobs(sandbox: Sandbox) -> None:
    source = sandbox.new_source()
    sandbox.admin.post_ok(f"/sources/{source['id']}/test", status=200)
    everything = {record["action"]: record["meaningful"] for record in sandbox.audit_records(source["id"])}
    assert everything == {"source.create": True, "source.discover": False, "source.test": False}
    for records in (
        sandbox.audit_records(source["id"], meaningful="true"),
        sandbox.admin.get_ok("/audit?meaningful=true"),
    ):
        assert records
        assert all(record["meaningful"] for record in records)
    assert len(sandbox.audit_records(source["id"], meaningful="false")) == 4


def test_a_job_writes_requested_and_its_outcome_with_one_correlation_id(sandbox: Sandbox) -> None:
    source = sandbox.new_source()
    unreachable = sandbox.admin.post_ok("/sources", sandbox.source_body(config=sandbox.config(database_name="nowhere")))
    sandbox.finished_job(sandbox.admin.post_ok(f"/sources/{unreachable['id']}/discover", status=202))
    for examined, outcome in ((source, "success"), (unreachable, "failed")):
        settled, requested = [r for r in sandbox.audit_records(examined["id"]) if r["action"] == "source.discover"]
        assert (requested["outcome"], settled["outcome"]) == ("requested", outcome)
        assert requested["correlation_id"] == settled["correlation_id"]
        assert requested["actor"] == settled["actor"]
        assert requested["actor"]["email"] == ADMIN.email
    assert settled["after"]["error"]["code"] == "SOURCE_UNAVAILABLE"


def test_the_list_is_newest_first_and_has_100_records_by_default(sandbox: Sandbox) -> None:
    viewer = sandbox.with_role("Viewer")
    for _ in range(101):
        assert_error(viewer.delete(f"/sources/{UNKNOWN_ID}"), 403, "FORBIDDEN")
    records = sandbox.admin.get_ok("/audit")
    assert len(records) == 100
    assert [record["at"] for record in records] == sorted((record["at"] for record in records), reverse=True)
    assert len(sandbox.admin.get_ok("/audit?limit=101")) == 101


@pytest.mark.parametrize(
    ("name", "value"),
    [("resource_id", "a b"), ("include_related", "maybe"), ("meaningful", "maybe"), ("limit", "501"), ("limit", "0")],
)
def test_a_bad_filter_is_refused(sandbox: Sandbox, name: str, value: str) -> None:
    validation_error(sandbox.admin.get("/audit", params={name: value}), "query", name)


def test_an_unknown_resource_has_no_records(sandbox: Sandbox) -> None:
    assert sandbox.audit_records(str(uuid4())) == []


def test_a_refused_action_is_in_the_trail_of_its_resource_with_its_actor(sandbox: Sandbox) -> None:
    user_id, email = sandbox.make_user("Viewer")
    viewer, source, delivery = sandbox.signed_in(email), sandbox.new_source()["id"], sandbox.new_delivery()
    destination, pipeline, connect = delivery["destination_id"], sandbox.pipeline["id"], sandbox.connect["id"]
    mappings = f"/destinations/{destination}/deliveries/{delivery['id']}/mappings"
    cases = (
        ("PUT", f"/sources/{source}", "source.update", source),
        ("DELETE", f"/sources/{source}", "source.delete", source),
        ("POST", f"/sources/{source}/discover", "source.discover", source),
        ("POST", f"/pipelines/{pipeline}/restart-task?task=0", "pipeline.restart_task", pipeline),
        ("POST", f"/destinations/{destination}/deploy", "destination.deploy", destination),
        ("POST", f"/deliveries/{delivery['id']}/pause", "delivery.pause", delivery["id"]),
        ("PUT", mappings, "delivery.update_mappings", delivery["id"]),
        ("PUT", f"/connect/clusters/{connect}", "connect_cluster.update", connect),
        ("POST", f"/connect/clusters/{connect}/confirm-deletions", "connect_cluster.confirm_deletions", connect),
        ("POST", f"/connect/clusters/{connect}/confirm-creations", "connect_cluster.confirm_creations", connect),
    )  # fmt: skip
    for method, path, action, resource_id in cases:
        assert_error(viewer.call(method, path, {}), 403, "FORBIDDEN")
        [record, *_] = sandbox.audit_records(resource_id)
        assert (record["action"], record["outcome"]) == (action, "denied")
        assert record["resource_type"] == action.partition(".")[0]
        assert record["actor"] == {"id": user_id, "email": email, "via": "session"}
        assert record["meaningful"]
    [related, *_] = sandbox.audit_records(destination, include_related="true")
    assert (related["action"], related["parent_id"]) == ("delivery.update_mappings", destination)


def test_a_refused_creation_and_a_refused_read_have_no_resource(sandbox: Sandbox) -> None:
    viewer = sandbox.with_role("Viewer")
    for method, path, action in (
        ("POST", "/stream/clusters", "stream_cluster.create"),
        ("POST", "/destinations/test-connection", "destination.test_connection"),
        ("POST", "/connections/test", "connection.test"),
        ("GET", "/audit", "audit.read"),
    ):
        assert_error(viewer.call(method, path, None if method == "GET" else {}), 403, "FORBIDDEN")
        [record] = sandbox.admin.get_ok("/audit?limit=1")
        assert (record["action"], record["resource_id"], record["outcome"]) == (action, None, "denied")


def test_a_rotated_password_is_a_difference_and_is_not_shown(sandbox: Sandbox) -> None:
    body = sandbox.source_body()
    source = sandbox.admin.post_ok("/sources", body)
    for version in (2, 3):
        assert sandbox.admin.put(f"/sources/{source['id']}", body).status_code == 200
        [record, *_] = sandbox.audit_records(source["id"])
        assert record["after"]["credentials"] == {"versions": {"password": version}}
        assert body["credentials"]["password"] not in json.dumps(record)
    assert sandbox.admin.put(f"/sources/{source['id']}", {**body, "credentials": None}).status_code == 200
    [record, *_] = sandbox.audit_records(source["id"])
    assert "credentials" not in record["after"]


def test_other_mappings_of_a_delivery_are_a_difference(sandbox: Sandbox) -> None:
    delivery = sandbox.new_delivery()
    mapping = {name: delivery["mappings"][0][name] for name in ("topic", "schema_name", "table_name")}
    changed = {"mappings": [{**mapping, "table_name": sandbox.name("other").replace("-", "_")}]}
    assert sandbox.admin.put(f"/deliveries/{delivery['id']}/mappings", changed).status_code == 200
    [record, *_] = sandbox.audit_records(delivery["id"])
    assert (record["action"], record["outcome"]) == ("delivery.update_mappings", "success")
    assert record["before"]["mappings"] == [mapping]
    assert record["after"]["mappings"] == changed["mappings"]


def _refused(sandbox: Sandbox, api: Any, method: str, path: str, **more: Any) -> Json:
    """The one record of a refused request, found by its correlation id."""
    correlation = sandbox.name("refused")
    headers = {"X-Correlation-ID": correlation, **more.pop("headers", {})}
    answer = api.call(method, path, {} if method != "GET" else None, headers=headers, **more)
    assert answer.status_code in (401, 403)
    (record,) = [entry for entry in sandbox.admin.get_ok("/audit?limit=50") if entry["correlation_id"] == correlation]
    assert record["outcome"] == "denied"
    return dict(record)


def test_a_refusal_says_why_and_from_which_address(sandbox: Sandbox) -> None:
    source, nobody = sandbox.new_source()["id"], sandbox.unauthenticated()
    path = f"/sources/{source}"
    cases = (
        (sandbox.with_role("Viewer"), {}, "forbidden", "session"),
        (sandbox.admin, {"Origin": "https://elsewhere.example.com"}, "csrf_rejected", "session"),
        (nobody, {"Cookie": f"headgate_session={UNKNOWN_ID}.x"}, "unauthenticated", "anonymous"),
        (nobody, {"Authorization": "Bearer hgt_wrong"}, "unauthenticated", "anonymous"),
    )
    for api, headers, reason, via in cases:
        record = _refused(sandbox, api, "DELETE", path, headers=headers)
        assert (record["action"], record["resource_id"], record["actor"]["via"]) == ("source.delete", source, via)
        assert (record["after"]["reason"], record["after"]["source_address"]) == (reason, "127.0.0.1")
        assert record["meaningful"] == (via == "session")
    assert _refused(sandbox, sandbox.admin, "DELETE", path, headers=cases[1][1])["actor"]["email"] == ADMIN.email


def test_a_wrong_service_credential_leaves_a_record(sandbox: Sandbox) -> None:
    record = _refused(
        sandbox, sandbox.unauthenticated(), "GET", f"//internal/secrets/{UNKNOWN_ID}",
        headers={"Authorization": "Bearer wrong"},
    )  # fmt: skip
    assert (record["action"], record["resource_id"]) == ("secret.read", UNKNOWN_ID)
    assert (record["after"]["reason"], record["actor"]["via"]) == ("forbidden", "anonymous")
    assert record["meaningful"] is False


def test_who_comes_without_any_credential_leaves_no_record(sandbox: Sandbox) -> None:
    nobody, correlation = sandbox.unauthenticated(), sandbox.name("nobody")
    assert_error(nobody.delete("/sources/x", headers={"X-Correlation-ID": correlation}), 401, "UNAUTHENTICATED")
    assert correlation not in json.dumps(sandbox.admin.get_ok("/audit?limit=20"))


def _verified(sandbox: Sandbox, limit: int) -> list[Json]:
    """Every part of a verification."""
    parts: list[Json] = []
    cursor: dict[str, str] = {}
    while True:
        answer = sandbox.admin.get("/audit/verify", params={"limit": str(limit), **cursor})
        assert answer.status_code == 200, answer.text
        parts.append(answer.json())
        if "X-Next-Cursor" not in answer.headers:
            return parts
        cursor = {"cursor": answer.headers["X-Next-Cursor"]}


def test_an_admin_verifies_the_trail_in_parts(sandbox: Sandbox) -> None:
    sandbox.new_source()
    sandbox.fire("dispatch")
    parts = _verified(sandbox, 40)
    assert all(part["verified"] and part["first_problem"] is None for part in parts)
    assert [part["complete"] for part in parts] == [False] * (len(parts) - 1) + [True]
    last = parts[-1]
    assert set(last) == {
        "verified", "complete", "checked", "before_chain", "first_problem", "anchor", "anchored_at",
        "begins_at", "shards",
    }  # fmt: skip
    assert is_timestamp(last["anchored_at"])
    assert sum(part["checked"] for part in parts) >= sum(shard["records"] for shard in parts[0]["shards"]) > 0
    assert {shard["shard"] for shard in last["shards"]} == set("01234567")
    assert sum(part["before_chain"] for part in parts) == 0


@pytest.mark.parametrize(("name", "value"), [("limit", "0"), ("limit", "10001"), ("cursor", "x"), ("after", "0/1")])
def test_a_bad_part_is_refused(sandbox: Sandbox, name: str, value: str) -> None:
    validation_error(sandbox.admin.get("/audit/verify", params={name: value}), "query", name)


def test_an_admin_accepts_restored_tables_by_their_last_anchor_and_nobody_else_does(sandbox: Sandbox) -> None:
    sandbox.new_source()
    sandbox.fire("dispatch")
    anchor = _verified(sandbox, 10_000)[-1]["anchor"]
    path, body = "/audit/accept-restored", {"anchor": anchor, "reason": "an exercise"}
    assert_error(sandbox.with_role("Ops").post(path, json=body), 403, "FORBIDDEN")
    assert_error(sandbox.admin.post(path, json={**body, "anchor": anchor + 1}), 409, "STATE_CONFLICT")
    validation_error(sandbox.admin.post(path, json={"anchor": anchor}), "body", "reason")
    assert sandbox.admin.post(path, json=body).status_code == 204
    [record, *_] = [one for one in sandbox.admin.get_ok("/audit?limit=50") if one["action"] == "audit.accept_restored"]
    assert (record["actor"]["email"], record["outcome"]) == (ADMIN.email, "success")
    assert record["after"]["reason"] == "an exercise"
    sandbox.fire("dispatch")
    last = _verified(sandbox, 10_000)[-1]
    assert is_timestamp(last["begins_at"])
    assert last["anchor"] > anchor


def test_a_verification_that_begins_at_an_anchor_checks_what_was_signed_since(sandbox: Sandbox) -> None:
    sandbox.new_source()
    sandbox.fire("dispatch")
    anchor = _verified(sandbox, 10_000)[-1]["anchor"]
    part = sandbox.admin.get_ok(f"/audit/verify?from_anchor={anchor}")
    assert (part["verified"], part["complete"], part["checked"]) == (True, True, 0)
    validation_error(sandbox.admin.get(f"/audit/verify?from_anchor={anchor + 1}"), "query", "from_anchor")
