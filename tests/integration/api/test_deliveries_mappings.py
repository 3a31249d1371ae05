"""New mappings of deliveries, and their removal."""

import pytest

from infra.local.doubles.connect_plugins import JDBC, JDBC_SINK
from tests.integration.api.resource_fields import DELIVERY
from tests.support.api_assertions import assert_error
from tests.support.apps.sandbox import TARGET, Sandbox


def test_new_mappings_say_that_offsets_are_kept(sandbox: Sandbox) -> None:
    delivery = sandbox.new_delivery()
    topics = sandbox.pipeline["topics"]
    for path in (
        f"/deliveries/{delivery['id']}/mappings",
        f"/destinations/{delivery['destination_id']}/deliveries/{delivery['id']}/mappings",
    ):
        body = {"mappings": [sandbox.mapping(topic) for topic in topics]}
        response = sandbox.admin.put(path, body)
        assert (response.status_code, set(response.json())) == (200, DELIVERY), response.text
        assert (response.json()["mappings"], response.json()["topics"]) == (body["mappings"], topics)
        assert "ffsets are kept" in response.json()["notice"]
        assert "nothing is backfilled" in response.json()["notice"]
        config = sandbox.doubles.connect_double.config_of(delivery["connector_name"])
        assert config["topics"] == ",".join(topics)
    again = sandbox.admin.put(f"/deliveries/{delivery['id']}/mappings", body)
    assert again.json()["version"] == response.json()["version"]


def test_a_changed_destination_is_reported_and_reaches_the_sink_with_its_mappings(sandbox: Sandbox) -> None:
    destination = sandbox.new_destination()
    delivery = sandbox.new_delivery(destination)
    path, config_of = f"/deliveries/{delivery['id']}", sandbox.doubles.connect_double.config_of
    before = config_of(delivery["connector_name"])["connection.url"]
    config = {**destination["config"], "ssl_mode": "disable"}
    changed = sandbox.destination_body(name=destination["name"], config=config)
    assert sandbox.admin.put(f"/destinations/{destination['id']}", changed).status_code == 200
    assert "Its destination was changed" in str(sandbox.admin.get_ok(f"{path}/status")["reasons"])
    assert sandbox.admin.put(f"{path}/mappings", {"mappings": delivery["mappings"]}).status_code == 200
    assert config_of(delivery["connector_name"])["connection.url"] != before
    assert "Its destination was changed" not in str(sandbox.admin.get_ok(f"{path}/status")["reasons"])


def test_new_mappings_repeat_the_whole_validation(sandbox: Sandbox) -> None:
    delivery, other = sandbox.new_delivery(), sandbox.new_delivery()
    path, topic = f"/deliveries/{delivery['id']}/mappings", sandbox.pipeline["topics"][0]
    cases = (
        ([sandbox.mapping("not.in.it")], 422, "TOPIC_NOT_IN_PIPELINE"),
        ([{**sandbox.mapping(topic), "table_name": other["mappings"][0]["table_name"]}], 409, "TARGET_TABLE_CONFLICT"),
        ([sandbox.mapping(topic), sandbox.mapping(sandbox.pipeline["topics"][1], "other")], 422, "VALIDATION_FAILED"),
        ([], 422, "VALIDATION_FAILED"),
    )
    for mappings, status, code in cases:
        assert_error(sandbox.admin.put(path, {"mappings": mappings}), status, code)
    after = sandbox.admin.get_ok(f"/deliveries/{delivery['id']}")
    assert (after["mappings"], after["open_operation"]) == (delivery["mappings"], None)
    sandbox.doubles.connect_double.remove_plugin(JDBC_SINK)
    try:
        assert_error(sandbox.admin.put(path, {"mappings": delivery["mappings"]}), 422, "PLUGIN_MISSING")
    finally:
        sandbox.doubles.connect_double.add_plugin(JDBC)


@pytest.mark.parametrize("path", ["/deliveries/{delivery}", "/destinations/{destination}/deliveries/{delivery}"])
def test_a_removed_delivery_leaves_the_data_but_no_connector(sandbox: Sandbox, path: str) -> None:
    delivery = sandbox.new_delivery()
    table = delivery["mappings"][0]["table_name"]
    with sandbox.postgresql.connect(TARGET) as connection:
        connection.execute(f"CREATE TABLE mart.{table} AS SELECT 1 AS id".encode())
        path = path.format(destination=delivery["destination_id"], delivery=delivery["id"])
        response = sandbox.admin.delete(path)
        assert (response.status_code, response.content) == (204, b"")
        assert connection.execute(f"SELECT count(*) FROM mart.{table}".encode()).fetchone() == (1,)
    assert_error(sandbox.admin.get(f"/deliveries/{delivery['id']}"), 404, "NOT_FOUND")
    assert delivery["connector_name"] not in sandbox.doubles.connect_double.names()
    assert sandbox.admin.get_ok(f"/destinations/{delivery['destination_id']}/mappings") == []
