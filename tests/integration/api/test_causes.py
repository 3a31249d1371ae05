"""From the trace of a failed sink to what people read: names that are known here, and nothing else of it."""

from typing import Any

import pytest

from chalicelib.api.contract.runtime import DeliveryStatusOutput
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.diagnosis.cause import CatalogName
from chalicelib.domain.table import TableName
from chalicelib.services.connectors.cause_lookup import MAX_CATALOGS
from tests.support.alerting.api import CHAT, WEBHOOK, AlertingApi, world
from tests.support.alerting.notification_network import Network, network
from tests.support.apps.in_process_app import app, app_of_the_module

__all__ = ["app", "app_of_the_module", "network", "world"]

Json = dict[str, Any]
ORDERS = TableName("target", "orders")
SECRET = "AKIAIOSFODNN7EXAMPLE"
REFUSED = (
    "org.apache.kafka.connect.errors.ConnectException: Exiting WorkerSinkTask due to unrecoverable exception.\n"
    "\tat org.apache.kafka.connect.runtime.WorkerSinkTask.deliverMessages(WorkerSinkTask.java:636)\n"
    'Caused by: org.postgresql.util.PSQLException: ERROR: new row for relation "{table}" violates check constraint '
    '"{constraint}"\n'
    "  Detail: Failing row contains (7, 4111111111111111).\n"
    "\tat org.postgresql.core.v3.QueryExecutorImpl.receiveErrorResponse(QueryExecutorImpl.java:2725)\n"
)
CAUSE = {"schema": "target", "table": "orders", "constraint": "total_max", "column": None, "sqlstate": "23514"}


@pytest.fixture
def delivery(world: AlertingApi, network: Network) -> Delivery:
    """A delivery to the table `target.orders`, which has the constraint `total_max`; all alerts go to two channels."""
    app = world.app
    app.database.catalog = [CatalogName(ORDERS, "total_max", is_column=False)]
    pipeline = app.deployed_pipeline()
    made = app.services.deliveries.deploy(app.context(), app.destination().id, app.delivery_input(pipeline))
    world.rule(network.channel(WEBHOOK), network.channel(CHAT))
    app.tick(times=2)
    return made


def failed(world: AlertingApi, delivery: Delivery, table: str, constraint: str) -> Json:
    """The delivery's task fails so; its alert, once its messages are sent."""
    trace = REFUSED.format(table=table, constraint=constraint)
    world.app.connect.fail_task(delivery.connector_name, trace)
    world.app.tick()
    world.driver.run(seconds=30)
    return world.alert("status=active")


def shown(world: AlertingApi, network: Network, delivery: Delivery) -> str:
    """All that people and other programs see of it."""
    app = world.app
    (seen,) = app.services.deliveries.status_of(app.context(), delivery.destination_id).items
    messages = [one.json for one in (*network.hook.received, *network.chat.received)]
    status = DeliveryStatusOutput.of(seen).model_dump_json(by_alias=True)
    return f"{world.ok('GET', '/operations/errors')}{world.alerts()}{messages}{status}"


def test_a_refused_row_is_told_with_delivery_table_and_constraint(
    world: AlertingApi, network: Network, delivery: Delivery
) -> None:
    alert = failed(world, delivery, "orders", "total_max")
    title = f"Delivery '{delivery.name}' is stopped: "
    assert alert["title"].startswith(title)
    assert alert["title"].endswith(".target.orders refuses a row (check constraint total_max)")
    assert alert["details"]["cause"] == CAUSE
    (incident,) = world.ok("GET", "/operations/errors?active=true")
    assert incident["resource"] == {"type": "delivery", "id": delivery.id, "name": delivery.name}
    assert (incident["cause"], incident["code"]) == (CAUSE, "DESTINATION_WRITE_FAILED")
    assert "target.orders, check constraint total_max (SQLSTATE 23514)" in incident["message"]
    assert network.hook.received[-1].json["alert"]["title"] == alert["title"]
    assert "target.orders refuses a row (check constraint total_max)" in network.chat.received[-1].json["text"].replace(
        "\u200b", ""
    )
    assert '"constraint":"total_max"' in shown(world, network, delivery)
    assert "4111" not in shown(world, network, delivery)


def test_a_name_that_nobody_here_knows_is_shown_nowhere(
    world: AlertingApi, network: Network, delivery: Delivery
) -> None:
    alert = failed(world, delivery, SECRET, f"{SECRET} https://evil.example @channel")
    assert alert["title"] == f"Delivery '{delivery.name}' is stopped: the destination refuses rows"
    assert alert["details"]["cause"] == {**dict.fromkeys(CAUSE), "sqlstate": "23514"}
    text = shown(world, network, delivery)
    assert "23514" in text
    assert SECRET not in text
    assert "evil" not in text


def test_another_table_that_is_refused_later_is_a_new_occurrence_with_its_name(
    world: AlertingApi, delivery: Delivery
) -> None:
    failed(world, delivery, "unknown", "unknown")
    alert = failed(world, delivery, "orders", "total_max")
    (incident,) = world.ok("GET", "/operations/errors?active=true")
    assert (incident["cause"], incident["occurrences"]) == (CAUSE, 2)
    assert alert["details"]["cause"] == CAUSE


def test_a_catalogue_that_cannot_be_read_leaves_the_table(world: AlertingApi, delivery: Delivery) -> None:
    world.app.database.reachable = False
    alert = failed(world, delivery, "orders", "total_max")
    assert alert["details"]["cause"] == {**CAUSE, "constraint": None}


def test_a_failure_that_lasts_is_looked_up_once(world: AlertingApi, delivery: Delivery) -> None:
    failed(world, delivery, "orders", "total_max")
    world.app.database.reachable = False
    world.app.tick(times=3)
    assert world.alert("status=active")["details"]["cause"] == CAUSE


def test_of_many_failures_at_once_each_look_asks_some_servers(world: AlertingApi) -> None:
    app = world.app
    app.database.catalog = [CatalogName(ORDERS, "total_max", is_column=False)]
    pipeline = app.deployed_pipeline()
    made = [
        app.services.deliveries.deploy(app.context(), app.destination().id, app.delivery_input(pipeline))
        for _ in range(MAX_CATALOGS + 1)
    ]
    app.tick(times=2)
    for delivery in made:
        app.connect.fail_task(delivery.connector_name, REFUSED.format(table="orders", constraint="total_max"))

    def named() -> int:
        app.tick()
        view = app.services.stores.connectors.observations.read([app.cluster.id])[app.cluster.id]
        return str(view.memory).count("constraint='total_max'") // 2  # in the task, and in its condition

    assert [named(), named()] == [MAX_CATALOGS, MAX_CATALOGS + 1]


def test_a_right_that_a_source_has_revoked_is_told_with_the_table(world: AlertingApi) -> None:
    app = world.app
    pipeline = app.deployed_pipeline()
    app.tick(times=2)
    table = pipeline.capture.tables[0]
    trace = f"org.postgresql.util.PSQLException: ERROR: permission denied for table {table.table_name}"
    app.connect.fail_task(pipeline.connector_name, trace)
    app.tick()
    alert = world.alert("status=active")
    assert alert["event_type"] == "CDC_PERMISSION_ERROR"
    assert alert["title"].startswith(f"Pipeline '{pipeline.name}' is stopped: a right on ")
    assert alert["title"].endswith(f".{table} is missing")
