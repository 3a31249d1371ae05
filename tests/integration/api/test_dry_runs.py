"""`?dry_run=true` over HTTP: what a call would do, and what is in its way."""

import pytest

from tests.support.api_assertions import assert_error, validation_error
from tests.support.apps.sandbox import Json, Sandbox
from tests.support.waiting import eventually

MASK = "********"
DRY = {"dry_run": "true"}


def plan_of(sandbox: Sandbox, method: str, path: str, body: Json | None = None, **more: object) -> Json:
    response = sandbox.admin.call(method, path, body, params=DRY, **more)
    assert response.status_code == 200, response.text
    plan: Json = response.json()
    assert set(plan) == {"changes", "consequences", "blocked_by"}
    return plan


def changes(plan: Json) -> dict[str, tuple[object, object]]:
    return {one["path"]: (one["from"], one["to"]) for one in plan["changes"]}


def codes(plan: Json) -> list[str]:
    return [one["code"] for one in plan["consequences"]]


def test_a_source_is_planned_with_its_secret_as_a_mask_and_is_not_made(sandbox: Sandbox) -> None:
    body = sandbox.source_body(credentials={"password": "planted-password"})
    response = sandbox.admin.post("/sources", body, params=DRY)
    assert (response.status_code, "planted" in response.text) == (200, False)
    plan = response.json()
    assert (plan["consequences"], plan["blocked_by"]) == ([], [])
    planned = changes(plan)
    assert planned["name"] == (None, body["name"])
    assert planned["config.host"] == (None, "127.0.0.1")
    assert planned["credentials"] == (None, MASK)
    assert not [one for one in sandbox.listed("/sources") if one["name"] == body["name"]]
    assert "Location" not in response.headers


def test_a_taken_name_is_in_the_way_and_names_who_has_it(sandbox: Sandbox) -> None:
    taken = sandbox.source
    plan = plan_of(sandbox, "POST", "/sources", sandbox.source_body(name=taken["name"].upper()))
    [blocked] = plan["blocked_by"]
    refused = sandbox.admin.post("/sources", sandbox.source_body(name=taken["name"].upper())).json()["error"]
    assert (blocked["code"], blocked["message"]) == (refused["code"], refused["message"])
    assert blocked["resource"] == {"type": "source", "id": taken["id"], "name": taken["name"]}


def test_wrong_input_is_refused_as_always(sandbox: Sandbox) -> None:
    body = sandbox.source_body() | {"config": sandbox.config(port=0)}
    validation_error(sandbox.admin.post("/sources", body, params=DRY), "body", "config", "port")
    validation_error(sandbox.admin.post("/sources", sandbox.source_body(), params={"dry_run": "x"}), "query", "dry_run")
    validation_error(sandbox.admin.get("/sources", params=DRY), "query", "dry_run")
    missing = sandbox.admin.delete("/sources/8d1c11e7-d0de-4e45-befa-fd46514489d3", params=DRY)
    assert_error(missing, 404, "NOT_FOUND")


def test_a_version_that_is_not_the_stored_one_is_refused_as_always(sandbox: Sandbox) -> None:
    source = sandbox.admin.post_ok("/sources", body := sandbox.source_body())
    stale = sandbox.admin.put(f"/sources/{source['id']}", body, params=DRY, headers={"If-Match": '"7"'})
    assert_error(stale, 412, "VERSION_MISMATCH")


def test_what_uses_a_resource_is_in_the_way_of_its_deletion(sandbox: Sandbox) -> None:
    pipeline = sandbox.pipeline
    plan = plan_of(sandbox, "DELETE", f"/sources/{pipeline['source_id']}")
    assert {one["code"] for one in plan["blocked_by"]} == {"RESOURCE_IN_USE"}
    assert pipeline["id"] in {one["resource"]["id"] for one in plan["blocked_by"]}
    assert codes(plan) == ["CREDENTIALS_ARE_DELETED", "INCIDENTS_END"]
    assert sandbox.admin.get(f"/sources/{pipeline['source_id']}").status_code == 200


def test_a_new_password_is_planned_with_the_connectors_that_would_keep_the_former_one(sandbox: Sandbox) -> None:
    source = sandbox.new_source()
    pipeline = sandbox.running_pipeline(source_id=source["id"])
    body = sandbox.source_body(name=source["name"], credentials={"password": "planted-next"})
    plan = plan_of(sandbox, "PUT", f"/sources/{source['id']}", body)
    assert changes(plan) == {"credentials.password": (MASK, MASK)}
    [outdated] = plan["consequences"]
    assert (outdated["code"], outdated["severity"]) == ("CONNECTORS_OUTDATED", "warn")
    assert outdated["facts"]["resources"] == [{"type": "pipeline", "id": pipeline["id"]}]
    assert pipeline["name"] in outdated["message"]
    sandbox.admin.put(f"/sources/{source['id']}", body)
    [record] = [one for one in sandbox.audit_records(source["id"]) if one["action"] == "source.update"]
    assert [one["code"] for one in record["after"]["consequences"]] == ["CONNECTORS_OUTDATED"]


def test_a_moved_source_loses_what_was_discovered(sandbox: Sandbox) -> None:
    source = sandbox.new_source()
    body = sandbox.source_body(name=source["name"], config=sandbox.config(host="localhost"))
    plan = plan_of(sandbox, "PUT", f"/sources/{source['id']}", body)
    assert changes(plan)["config.host"] == ("127.0.0.1", "localhost")
    assert codes(plan) == ["TABLES_ARE_FORGOTTEN"]


def test_an_idempotency_key_of_a_dry_run_is_not_kept(sandbox: Sandbox) -> None:
    body, key = sandbox.source_body(), {"Idempotency-Key": sandbox.name("key")}
    plan_of(sandbox, "POST", "/sources", body, headers=key)
    plan_of(sandbox, "POST", "/sources", sandbox.source_body(), headers=key)
    assert sandbox.admin.post("/sources", body, headers=key).status_code == 201


def test_who_may_not_make_a_call_may_not_try_it_and_that_is_audited(sandbox: Sandbox) -> None:
    source = sandbox.source["id"]
    refused = sandbox.with_role("Viewer").delete(f"/sources/{source}", params=DRY)
    assert_error(refused, 403, "FORBIDDEN")
    assert sandbox.audit_records(source)[0]["outcome"] == "denied"


def message_of(plan: Json, code: str) -> str:
    return next(str(one["message"]) for one in plan["consequences"] if one["code"] == code)


def test_a_deploy_says_what_it_makes_and_what_its_snapshot_reads(sandbox: Sandbox) -> None:
    draft = sandbox.new_pipeline()
    plan = plan_of(sandbox, "POST", f"/pipelines/{draft['id']}/deploy")
    assert changes(plan) == {"desired_state": ("DRAFT", "RUNNING")}
    assert {"CONNECTOR_IS_CREATED", "MADE_IN_SOURCE", "TOPICS_ARE_MADE", "SNAPSHOT_READS_TABLES"} <= set(codes(plan))
    assert draft["connector_name"] in message_of(plan, "CONNECTOR_IS_CREATED")
    [snapshot] = [one for one in plan["consequences"] if one["code"] == "SNAPSHOT_READS_TABLES"]
    assert snapshot["facts"]["tables"] == len(draft["tables"])
    assert sandbox.admin.get_ok(f"/pipelines/{draft['id']}")["desired_state"] == "DRAFT"
    assert draft["connector_name"] not in sandbox.doubles.connect_double.names()


def test_a_deploy_counts_the_topics_of_tables_as_the_preview_does_and_names_the_others(sandbox: Sandbox) -> None:
    draft = sandbox.new_pipeline()
    plan = plan_of(sandbox, "POST", f"/pipelines/{draft['id']}/deploy")
    [topics] = [one for one in plan["consequences"] if one["code"] == "TOPICS_ARE_MADE"]
    heartbeat = f"{draft['topic_prefix']}.headgate-heartbeat"
    assert topics["facts"] == {"topics": len(draft["topics"]), "internal_topics": [heartbeat]}
    assert topics["message"].startswith(
        f"It writes to {len(draft['topics'])} topics of tables. Beside these it writes to {heartbeat}."
    )


def test_a_delivery_that_is_not_made_yet_has_no_name_of_a_connector(sandbox: Sandbox) -> None:
    destination, body = sandbox.new_destination(), sandbox.delivery_body(sandbox.pipeline)
    response = sandbox.admin.post(f"/destinations/{destination['id']}/deploy", body, params=DRY)
    assert "headgate-sink" not in response.text
    assert message_of(response.json(), "CONNECTOR_IS_CREATED").startswith("A new connector is created")


def test_a_deletion_says_what_is_lost_and_which_statement_drops_what_stays(sandbox: Sandbox) -> None:
    pipeline = sandbox.running_pipeline()
    kept = plan_of(sandbox, "DELETE", f"/pipelines/{pipeline['id']}")
    severities = {one["code"]: one["severity"] for one in kept["consequences"]}
    assert severities["POSITION_IS_LOST"] == "loses"
    [slot] = [one for one in kept["consequences"] if one["code"] == "STAYS_IN_SOURCE"]
    assert pipeline["options"]["slot_name"] in slot["facts"]["statement"]
    response = sandbox.admin.delete(f"/pipelines/{pipeline['id']}", params={**DRY, "drop_slot": "true"})
    assert "RELEASED_IN_SOURCE" in codes(response.json())


def test_a_delivery_is_planned_with_the_tables_that_it_writes(sandbox: Sandbox) -> None:
    destination, body = sandbox.new_destination(), sandbox.delivery_body(sandbox.pipeline)
    plan = plan_of(sandbox, "POST", f"/destinations/{destination['id']}/deploy", body)
    assert plan["blocked_by"] == []
    assert changes(plan)["name"] == (None, body["name"])
    assert {"CONNECTOR_IS_CREATED", "READS_FROM_BEGINNING", "TABLES_ARE_MADE"} <= set(codes(plan))
    assert sandbox.admin.get_ok(f"/destinations/{destination['id']}/mappings") == []


def test_a_pause_of_a_destination_is_planned_for_each_of_its_deliveries(sandbox: Sandbox) -> None:
    destination = sandbox.new_destination()
    first, second = (sandbox.new_delivery(destination) for _ in range(2))
    sandbox.admin.post_ok(f"/deliveries/{first['id']}/pause", status=200)
    eventually(
        lambda: sandbox.admin.get_ok(f"/deliveries/{first['id']}"), lambda seen: seen["observed_state"] == "PAUSED"
    )
    plan = plan_of(sandbox, "POST", f"/destinations/{destination['id']}/pause")
    assert changes(plan) == {f"deliveries.{second['id']}.desired_state": ("RUNNING", "PAUSED")}
    said = {(one["facts"]["resource"]["id"], one["code"]) for one in plan["consequences"]}
    assert said == {
        (first["id"], "NOTHING_CHANGES"),
        (second["id"], "DELIVERY_PAUSES"),
        (second["id"], "RECORDS_WAIT"),
    }


@pytest.mark.parametrize("verb", ["deploy", "resume"])
def test_what_is_so_already_changes_nothing(sandbox: Sandbox, verb: str) -> None:
    pipeline = sandbox.running_pipeline()
    plan = plan_of(sandbox, "POST", f"/pipelines/{pipeline['id']}/{verb}")
    assert (plan["changes"], codes(plan), plan["blocked_by"]) == ([], ["NOTHING_CHANGES"], [])


def test_other_mappings_keep_the_offsets(sandbox: Sandbox) -> None:
    delivery = sandbox.new_delivery()
    body = {"mappings": [sandbox.mapping(delivery["mappings"][0]["topic"])]}
    plan = plan_of(sandbox, "PUT", f"/deliveries/{delivery['id']}/mappings", body)
    assert list(changes(plan)) == ["mappings"]
    assert {"CONFIG_IS_WRITTEN", "OFFSETS_ARE_KEPT"} <= set(codes(plan))
    assert sandbox.admin.get_ok(f"/deliveries/{delivery['id']}")["mappings"] == delivery["mappings"]
