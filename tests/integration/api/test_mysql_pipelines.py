"""Pipelines from a real MySQL, on the doubles of Kafka and Connect: what is MySQL's own about them."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.integration.api.resource_fields import both_states
from tests.support.api_assertions import assert_error, validation_error
from tests.support.apps.sandbox import Json, Sandbox
from tests.support.databases.mysql import MySQLServer, MySQLShop, mysql_server, open_mysql_shop

__all__ = ["mysql_server"]

KEPT = {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"}


@pytest.fixture
def shop(mysql_server: MySQLServer) -> Iterator[MySQLShop]:
    with open_mysql_shop(mysql_server) as opened:
        yield opened


def source_body(sandbox: Sandbox, shop: MySQLShop, host: str = "127.0.0.1", **changes: Any) -> Json:
    config = {"host": host, "port": shop.server.port, "database_name": shop.name, "username": shop.role}
    credentials = {"password": shop.password}
    return {
        "name": sandbox.name("mysql"),
        "provider": "mysql",
        "config": config,
        "credentials": credentials,
        **changes,
    }


def discovered(sandbox: Sandbox, body: Json) -> Json:
    source = sandbox.admin.post_ok("/sources", body)
    job = sandbox.finished_job(sandbox.admin.post_ok(f"/sources/{source['id']}/discover", status=202))
    assert job["status"] == "COMPLETED", job
    return sandbox.admin.get_ok(f"/sources/{source['id']}")


@pytest.fixture
def source(sandbox: Sandbox, shop: MySQLShop) -> Json:
    return discovered(sandbox, source_body(sandbox, shop))


def pipeline_body(sandbox: Sandbox, source: Json, **changes: Any) -> Json:
    tables = [{"schema_name": source["config"]["database_name"], "table_name": "orders"}]
    return sandbox.pipeline_body(**{"source_id": source["id"], "tables": tables, **changes})


def history_of(pipeline: Json) -> str:
    return f"{pipeline['topic_prefix']}.headgate-history-{pipeline['id']}"


def test_the_port_of_mysql_is_the_default(sandbox: Sandbox, shop: MySQLShop) -> None:
    body = source_body(sandbox, shop)
    del body["config"]["port"]
    assert sandbox.admin.post_ok("/sources", body)["config"]["port"] == 3306


def test_the_table_is_discovered_under_its_database(sandbox: Sandbox, shop: MySQLShop, source: Json) -> None:
    tables = sandbox.admin.get_ok(f"/sources/{source['id']}/tables?schema={shop.name}")
    assert [(table["schema_name"], table["table_name"], table["cdc_ready"]) for table in tables] == [
        (shop.name, "orders", True)
    ]
    assert tables[0]["primary_key_columns"] == ["id"]
    assert tables[0]["replica_identity"] is None


def test_options_are_mysqls_and_show_the_server_id(sandbox: Sandbox, source: Json) -> None:
    created = sandbox.admin.post_ok("/pipelines", pipeline_body(sandbox, source))
    assert created["options"]["server_id"] >= 100_000_000
    assert {"snapshot_locking", "connection_time_zone", "history_bootstrap_servers"} <= created["options"].keys()
    assert not created["options"].keys() & {"slot_name", "publication_name", "publication_mode", "adopt_existing"}


@pytest.mark.parametrize("option", [{"slot_name": "a"}, {"publication_mode": "existing"}, {"adopt_existing": True}])
def test_options_of_another_kind_of_database_are_refused(sandbox: Sandbox, source: Json, option: Json) -> None:
    response = sandbox.admin.post("/pipelines/preview", pipeline_body(sandbox, source, options=option))
    validation_error(response, "body", "options", next(iter(option)))


@pytest.mark.parametrize("option", [{"server_id": 7}, {"snapshot_locking": "none"}])
def test_postgresql_takes_no_option_of_mysql(sandbox: Sandbox, option: Json) -> None:
    validation_error(
        sandbox.admin.post("/pipelines/preview", sandbox.pipeline_body(options=option)),
        "body", "options", next(iter(option)),
    )  # fmt: skip


@pytest.mark.parametrize(
    "option",
    [
        {"server_id": 0},
        {"server_id": 2**32},
        {"snapshot_locking": "extended"},
        {"connection_time_zone": "Europe/Berlin?allowLoadLocalInfile=true"},
        {"history_bootstrap_servers": "kafka:9092 ${headgate:x:password}"},
    ],
)
def test_values_that_make_no_sense_are_refused(sandbox: Sandbox, source: Json, option: Json) -> None:
    response = sandbox.admin.post("/pipelines/preview", pipeline_body(sandbox, source, options=option))
    validation_error(response, "body", "options", next(iter(option)))


def test_a_source_and_a_pipeline_are_made_again_from_their_definitions(sandbox: Sandbox, shop: MySQLShop) -> None:
    source = discovered(sandbox, source_body(sandbox, shop, options={"server_id": 4711}))
    options = {"snapshot_locking": "none", "connection_time_zone": "UTC"}
    pipeline = sandbox.admin.post_ok("/pipelines", pipeline_body(sandbox, source, options=options))
    paths = f"/sources/{source['id']}", f"/pipelines/{pipeline['id']}"
    of_source, of_pipeline = (sandbox.admin.get_ok(f"{path}?view=definition") for path in paths)
    assert of_source["options"] == {"server_id": 4711}
    assert of_pipeline["options"].items() >= {**options, "server_id": 4711}.items()
    for path in reversed(paths):
        assert sandbox.admin.delete(path).status_code == 204

    again = discovered(sandbox, {**of_source, "credentials": {"password": shop.password}})
    assert sandbox.admin.get_ok(f"/sources/{again['id']}?view=definition") == of_source
    expected = {**of_pipeline, "source_id": again["id"]}
    pipeline = sandbox.admin.post_ok("/pipelines", expected)
    assert sandbox.admin.get_ok(f"/pipelines/{pipeline['id']}?view=definition") == expected


def test_a_preview_names_the_history_among_the_internal_topics_and_shows_no_secret(
    sandbox: Sandbox, source: Json, shop: MySQLShop
) -> None:
    response = sandbox.admin.post("/pipelines/preview", pipeline_body(sandbox, source))
    assert response.status_code == 200, response.text
    preview = response.json()
    assert preview["validation"] == {"error_count": 0, "errors": []}
    assert preview["config"]["schema.history.internal.kafka.topic"] in preview["internal_topics"]
    assert preview["config"]["database.password"].startswith("${headgate:")
    assert shop.password not in response.text


def test_two_pipelines_of_a_server_have_two_server_ids(sandbox: Sandbox, shop: MySQLShop, source: Json) -> None:
    options = {"server_id": 4712}
    first = sandbox.admin.post_ok("/pipelines", pipeline_body(sandbox, source, options=options))
    # The same server under another name.
    other = discovered(sandbox, source_body(sandbox, shop, host="localhost"))
    for second in (source, other):
        refused = sandbox.admin.post("/pipelines", pipeline_body(sandbox, second, options=options))
        assert_error(refused, 409, "SERVER_ID_CONFLICT")
        assert first["name"] in refused.json()["error"]["message"]
    assert sandbox.admin.delete(f"/pipelines/{first['id']}").status_code == 204
    sandbox.admin.post_ok("/pipelines", pipeline_body(sandbox, other, options=options))


def test_a_source_says_the_server_id_of_a_pipeline_that_has_none(sandbox: Sandbox, shop: MySQLShop) -> None:
    source = discovered(sandbox, source_body(sandbox, shop, options={"server_id": 815}))
    assert source["options"] == {"server_id": 815}
    assert sandbox.admin.post_ok("/pipelines", pipeline_body(sandbox, source))["options"]["server_id"] == 815
    refused = sandbox.admin.post("/pipelines", pipeline_body(sandbox, source))
    assert_error(refused, 409, "SERVER_ID_CONFLICT")
    own = {"server_id": 816}
    sandbox.admin.post_ok("/pipelines", pipeline_body(sandbox, source, options=own))


def test_a_source_of_postgresql_has_no_server_id(sandbox: Sandbox) -> None:
    validation_error(
        sandbox.admin.post("/sources", sandbox.source_body(options={"server_id": 1})), "body", "options", "server_id"
    )
    assert sandbox.source["options"] == {}


def test_a_deploy_makes_the_history_as_it_has_to_be(sandbox: Sandbox, source: Json) -> None:
    draft = sandbox.admin.post_ok("/pipelines", pipeline_body(sandbox, source))
    topics = sandbox.doubles.kafka_double.state.topics
    assert history_of(draft) not in topics
    deployed = sandbox.admin.post_ok(f"/pipelines/{draft['id']}/deploy", status=200)
    assert both_states(deployed)[0] == "RUNNING"
    assert KEPT.items() <= topics[history_of(draft)].settings.items()
    path = f"/sources/{source['id']}/cdc-readiness?pipeline_id={draft['id']}&fresh=true"
    checks = {check["key"]: check["status"] for check in sandbox.admin.get_ok(path)["checks"]}
    assert checks["history_topic"] == "pass"


def test_a_pipeline_without_its_history_is_not_restarted(sandbox: Sandbox, source: Json) -> None:
    pipeline = sandbox.admin.post_ok("/pipelines", pipeline_body(sandbox, source))
    sandbox.admin.post_ok(f"/pipelines/{pipeline['id']}/deploy", status=200)
    sandbox.doubles.kafka_double.state.delete_topic(history_of(pipeline))
    for call in ("restart", "pause"):
        response = sandbox.admin.post(f"/pipelines/{pipeline['id']}/{call}")
        if call == "restart":
            assert_error(response, 409, "DATA_LOSS")
            assert history_of(pipeline) in response.json()["error"]["message"]
        else:
            assert response.status_code == 200, response.text


@pytest.mark.parametrize("query", ["", "?drop_history=true"])
def test_a_deletion_keeps_the_history_unless_it_is_to_go(sandbox: Sandbox, source: Json, query: str) -> None:
    pipeline = sandbox.admin.post_ok("/pipelines", pipeline_body(sandbox, source))
    sandbox.admin.post_ok(f"/pipelines/{pipeline['id']}/deploy", status=200)
    assert sandbox.admin.delete(f"/pipelines/{pipeline['id']}{query}").status_code == 204
    topics = sandbox.doubles.kafka_double.state.topics
    assert (history_of(pipeline) in topics) == (not query)
    [record] = [
        one
        for one in sandbox.audit_records(pipeline["id"])
        if (one["action"], one["outcome"]) == ("pipeline.delete", "success")
    ]
    kept = record["before"] if record["after"] is None else record["after"]
    assert (history_of(pipeline) in str(kept)) == (not query)


def test_a_forgotten_pipeline_drops_nothing(sandbox: Sandbox, source: Json) -> None:
    pipeline = sandbox.admin.post_ok("/pipelines", pipeline_body(sandbox, source))
    response = sandbox.admin.delete(f"/pipelines/{pipeline['id']}?forget=true&drop_history=true")
    assert response.status_code == 422
