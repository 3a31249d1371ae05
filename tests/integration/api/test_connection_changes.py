"""A change of a connection reaches the sources and destinations that use it, and their connectors are named."""

from concurrent.futures import ThreadPoolExecutor

from tests.integration.api.connection_users import KINDS, as_user, body_of, new_connection, new_user, put
from tests.support.api_assertions import assert_error, validation_error
from tests.support.apps.sandbox import Sandbox


def test_a_change_reaches_all_that_use_it_with_one_record_each(sandbox: Sandbox) -> None:
    connection = new_connection(sandbox)
    systems = [(kind, new_user(sandbox, connection, kind)) for kind in (*KINDS, "sources")]
    headers = {"X-Correlation-ID": sandbox.name("change")}
    changed = {**connection["config"], "connection_timeout_seconds": 7}
    body = body_of(sandbox, connection, config=changed, credentials={"password": "planted-new-one"})
    after = put(sandbox, f"/connections/{connection['id']}", body, headers=headers)
    assert (after.status_code, after.headers["ETag"]) == (200, '"2"')
    assert after.json()["used_by"] == [as_user(kind, system) for kind, system in systems]
    for kind, system in systems:
        now = sandbox.admin.get_ok(f"/{kind}/{system['id']}")
        assert (now["config"], now["version"], now["status"]) == (changed, 2, "UNKNOWN")
        assert sandbox.admin.post_ok(f"/{kind}/{system['id']}/test", status=200)["success"] is False
        [_, record, *_] = sandbox.audit_records(system["id"])
        assert (record["action"], record["correlation_id"]) == (
            f"{kind.removesuffix('s')}.update",
            headers["X-Correlation-ID"],
        )
        assert record["after"]["credentials"] == {"versions": {"password": 2}}
        assert "planted-new-one" not in str(record)
    [record, *_] = sandbox.audit_records(connection["id"])
    assert (record["action"], record["correlation_id"]) == ("connection.update", headers["X-Correlation-ID"])
    assert "planted-new-one" not in str(record)


def test_a_stored_password_is_not_sent_to_another_place_through_a_connection(sandbox: Sandbox) -> None:
    connection = new_connection(sandbox)
    source = new_user(sandbox, connection)
    body = body_of(sandbox, connection, config={**connection["config"], "host": "localhost"})
    refused = put(sandbox, f"/connections/{connection['id']}", body)
    assert validation_error(refused, "body", "credentials", "password") == "required_for_new_target"
    assert sandbox.admin.get_ok(f"/sources/{source['id']}") == source


def test_a_stale_version_is_412_and_nothing_happens(sandbox: Sandbox) -> None:
    connection = new_connection(sandbox)
    source = new_user(sandbox, connection)
    body = body_of(sandbox, connection, credentials={"password": "planted-new-one"})
    path, stale = f"/connections/{connection['id']}", {"If-Match": '"7"'}
    assert_error(put(sandbox, path, body, headers=stale), 412, "VERSION_MISMATCH")
    assert_error(sandbox.admin.delete(path, headers=stale), 412, "VERSION_MISMATCH")
    assert sandbox.admin.get_ok(f"/sources/{source['id']}") == source
    assert put(sandbox, path, body, headers={"If-Match": '"1"'}).status_code == 200


def test_what_is_used_is_neither_deleted_nor_loses_what_is_needed(sandbox: Sandbox) -> None:
    connection = new_connection(sandbox)
    source, destination = new_user(sandbox, connection), new_user(sandbox, connection, "destinations")
    path = f"/connections/{connection['id']}"
    details = assert_error(sandbox.admin.delete(path), 409, "RESOURCE_IN_USE")
    assert details == {"used_by": [as_user("sources", source), as_user("destinations", destination)]}
    refused = put(sandbox, path, body_of(sandbox, connection, capabilities=["SOURCE"]))
    assert assert_error(refused, 409, "RESOURCE_IN_USE") == {"used_by": [as_user("destinations", destination)]}
    assert sandbox.admin.delete(f"/destinations/{destination['id']}").status_code == 204
    assert put(sandbox, path, body_of(sandbox, connection, capabilities=["SOURCE"])).status_code == 200
    assert sandbox.admin.delete(f"/sources/{source['id']}").status_code == 204
    assert sandbox.admin.delete(path).status_code == 204
    assert_error(sandbox.admin.get(path), 404, "NOT_FOUND")
    assert_error(sandbox.admin.delete(path), 404, "NOT_FOUND")


def test_a_connection_to_which_deliveries_write_keeps_its_place(sandbox: Sandbox) -> None:
    writer = sandbox.destination_body()
    connection = new_connection(sandbox, config=writer["config"], credentials=writer["credentials"])
    destination = new_user(sandbox, connection, "destinations")
    delivery = sandbox.new_delivery(destination)
    path = f"/connections/{connection['id']}"
    moved = body_of(
        sandbox, connection, config={**writer["config"], "host": "localhost"}, credentials=writer["credentials"]
    )
    details = assert_error(put(sandbox, path, moved), 409, "RESOURCE_IN_USE")
    assert details == {"used_by": [{"type": "delivery", "id": delivery["id"], "name": delivery["name"]}]}
    assert sandbox.admin.delete(f"/deliveries/{delivery['id']}").status_code == 204
    assert put(sandbox, path, moved).status_code == 200
    assert sandbox.admin.get_ok(f"/destinations/{destination['id']}")["config"]["host"] == "localhost"


def test_a_connection_has_a_bounded_number_of_users(sandbox: Sandbox) -> None:
    connection = new_connection(sandbox)
    for _ in range(25):
        new_user(sandbox, connection)
    refused = sandbox.admin.post("/destinations", sandbox.using_body(connection))
    assert assert_error(refused, 409, "STATE_CONFLICT") == {}
    assert "25" in refused.json()["error"]["message"]
    body = body_of(sandbox, connection, credentials={"password": "planted-new-one"})
    changed = put(sandbox, f"/connections/{connection['id']}", body)
    assert (changed.status_code, len(changed.json()["used_by"])) == (200, 25)


def test_many_who_begin_to_use_a_connection_while_it_changes_all_have_its_last_secret(sandbox: Sandbox) -> None:
    connection = new_connection(sandbox)
    path, bodies = f"/connections/{connection['id']}", [sandbox.using_body(connection) for _ in range(8)]
    changes = [body_of(sandbox, connection, credentials={"password": f"planted-{number}"}) for number in range(3)]
    acts = [lambda body=body: sandbox.admin.post("/sources", body) for body in bodies]
    acts[3:3] = [lambda body=body: sandbox.admin.put(path, body) for body in changes]
    with ThreadPoolExecutor(len(acts)) as callers:
        answers = list(callers.map(lambda act: act(), acts))
    assert {answer.status_code for answer in answers} <= {200, 201, 503}
    for answer in answers:
        if answer.status_code == 503:
            assert_error(answer, 503, "TRY_AGAIN")
    registered = [answer.json()["id"] for answer in answers if answer.status_code == 201]
    assert sorted(user["id"] for user in sandbox.admin.get_ok(path)["used_by"]) == sorted(registered)
    created = sandbox.admin.get_ok(f"/sources/{registered[0]}")
    working = {"password": sandbox.source_body()["credentials"]["password"]}
    assert put(sandbox, path, body_of(sandbox, connection, credentials=working)).status_code == 200
    for source_id in registered:
        assert sandbox.admin.post_ok(f"/sources/{source_id}/test", status=200)["success"] is True
    assert created["connection_id"] == connection["id"]


# connectors


def test_a_rotated_password_of_a_connection_reaches_sources_and_sinks_and_names_their_connectors(
    sandbox: Sandbox,
) -> None:
    """Two sources and two destinations on a real PostgreSQL, whose role gets another password, by one PUT."""
    role = sandbox.new_role("shared", "planted-first")
    config, tables = sandbox.config(role, role), [{"schema_name": "public", "table_name": "notes"}]
    connection = new_connection(sandbox, config=config, credentials={"password": "planted-first"})
    sources = [new_user(sandbox, connection) for _ in range(2)]
    destinations = [new_user(sandbox, connection, "destinations") for _ in range(2)]
    for source in sources:
        sandbox.finished_job(sandbox.admin.post_ok(f"/sources/{source['id']}/discover", status=202))
    draft, pipeline = (sandbox.new_pipeline(source_id=source["id"], tables=tables) for source in sources)
    sandbox.admin.post_ok(f"/pipelines/{pipeline['id']}/deploy", status=200)
    delivery = sandbox.new_delivery(destinations[0])
    references = {
        str(sandbox.doubles.connect_double.config_of(one["connector_name"])).partition("${headgate:")[2][:36]
        for one in (pipeline, delivery)
    }
    assert len(references) == 1
    sandbox.change_password(role, "planted-second")
    body = body_of(sandbox, connection, credentials={"password": "planted-second"})
    after = put(sandbox, f"/connections/{connection['id']}", body).json()
    for kind, systems in (("sources", sources), ("destinations", destinations)):
        for system in systems:
            assert sandbox.admin.post_ok(f"/{kind}/{system['id']}/test", status=200)["success"] is True
    outdated = {(one["type"], one["id"], one["name"], one["connector_name"]) for one in after["outdated_connectors"]}
    assert outdated == {
        (kind, one["id"], one["name"], one["connector_name"])
        for kind, one in (("pipeline", pipeline), ("delivery", delivery))
    }
    assert draft["id"] not in str(after)
    [reference] = references
    read = sandbox.unauthenticated().get(
        f"//internal/secrets/{reference}", headers={"Authorization": f"Bearer {sandbox.service_credential}"}
    )
    assert read.json() == {"data": {"password": "planted-second"}}
    assert sandbox.admin.post(f"/pipelines/{pipeline['id']}/deploy").status_code == 200
    mappings = {"mappings": delivery["mappings"]}
    assert sandbox.admin.put(f"/deliveries/{delivery['id']}/mappings", mappings).status_code == 200
    later = body_of(sandbox, connection, config={**config, "connection_timeout_seconds": 6})
    outdated = put(sandbox, f"/connections/{connection['id']}", later).json()["outdated_connectors"]
    assert [one["id"] for one in outdated] == [delivery["id"]]  # only a sink's config has the timeout
