"""Alerting from a report of a monitor to the message and the answers over HTTP.

Which report leads to which alert and message, and how messages are sent, is shown below HTTP (`tests/service/alerts`).
"""

import json
import logging

import pytest

from infra.local.doubles.notification_receivers import Reply
from tests.bench.storm import NOT_RESTARTED
from tests.support.alerting.api import BOT, CHAT, WEBHOOK, AlertingApi, world
from tests.support.alerting.notification_network import TOKEN, Network, network
from tests.support.alerting.notifications import HOOK_HOST
from tests.support.apps.in_process_app import app, app_of_the_module

__all__ = ["app", "app_of_the_module", "network", "world"]

PATH = "/notification-channels"
PRIVATE = "10.0.0.1"
KEYS = ["event", "severity", "status", "timestamp", "pipeline", "connector", "error", "alert"]
FIRING = ("firing", "delivered")


def test_a_failed_connector_is_one_alert_one_row_and_one_message_of_eight_keys(
    world: AlertingApi, network: Network
) -> None:
    """Case 1."""
    world.rule(network.channel(WEBHOOK), severities=["critical"])
    world.report(world.connector_failed())
    alert = world.alert()
    assert (alert["status"], alert["severity"], alert["event_type"]) == ("firing", "critical", "CONNECTOR_FAILED")
    assert world.sent(alert) == [FIRING]
    (received,) = network.hook.received
    assert list(received.json) == KEYS
    payload = received.json
    assert (payload["event"], payload["severity"], payload["status"]) == ("CONNECTOR_FAILED", "critical", "firing")
    assert (payload["pipeline"]["id"], payload["alert"]["id"]) == (world.pipeline_id(), alert["id"])


def test_two_destinations_of_one_pipeline_are_two_alerts(world: AlertingApi) -> None:
    """Case 5: deliveries of one pipeline to two destinations, whose connectors have the same name on the worker."""
    app = world.app
    pipeline = world.conditions["pipeline"] = app.deployed_pipeline()
    deliveries = [
        app.services.deliveries.deploy(app.context(), app.destination().id, app.delivery_input(pipeline))
        for _ in range(2)
    ]
    failures = [world.task_failed(resource_type="delivery", resource_id=delivery.id) for delivery in deliveries]
    world.report(*failures)
    alerts = world.alerts("status=firing")
    assert len({alert["source"]["id"] for alert in alerts}) == len(alerts) == 2
    assert {alert["pipeline_id"] for alert in alerts} == {world.pipeline_id()}
    assert {alert["source"]["type"] for alert in alerts} == {"destination"}


def test_the_default_rule_sends_nothing_until_it_has_a_channel(world: AlertingApi) -> None:
    world.app.services.install()
    channel = world.channel()
    world.report(world.connector_failed())
    world.report()
    world.driver.run(seconds=3600)
    assert (world.alert()["status"], world.sent(world.alert())) == ("resolved", [])
    (rule,) = world.ok("GET", "/alert-rules")
    changed = {name: rule[name] for name in ("name", "severities", "event_types")} | {"channel_ids": [channel["id"]]}
    world.ok("PUT", f"/alert-rules/{rule['id']}", changed)
    world.report(world.connector_failed())
    assert len(world.called(channel)) == 1


def test_while_connect_is_out_of_reach_there_is_one_alert_more_and_no_other_changes(world: AlertingApi) -> None:
    """Case 24, by ticks of a real monitor: a task fails, then the workers do not answer, then they do."""
    app = world.app
    pipeline = app.deployed_pipeline()
    for _ in range(2):
        app.tick()
    app.connect.show(pipeline.connector_name, "FAILED", task=0, trace=NOT_RESTARTED)
    for _ in range(8):
        app.tick()
    (child,) = world.alerts("status=active")
    app.connect.refuse()
    for _ in range(12):
        app.tick()
    parent, same = world.alerts("status=active")
    assert parent["event_type"] == "STREAM_CONNECT_UNAVAILABLE"
    assert (same["id"], same["status"], same["stale"]) == (child["id"], "firing", True)
    app.connect.accept()
    for _ in range(12):
        app.tick()
    assert [alert["id"] for alert in world.alerts("status=resolved") if alert["id"] == parent["id"]] == [parent["id"]]


def test_a_secret_stays_until_another_one_is_given_and_is_shown_nowhere(
    world: AlertingApi, network: Network, caplog: pytest.LogCaptureFixture
) -> None:
    """Case 39: in answers, in the audit trail, in errors, in the documentation, and in logs of every level."""
    for name in ("", "headgate", "httpx", "httpcore", "botocore"):
        caplog.set_level(logging.DEBUG, logger=name)
    shown, authorization = list[str](), "Bearer planted-authorization"

    def request(method: str, path: str, body: object = None) -> str:
        shown.append(world.request(method, path, body).body)
        return shown[-1]

    created = json.loads(request("POST", PATH, network.body(WEBHOOK, authorization=authorization)))
    path, blank = f"{PATH}/{created['id']}", {**network.body(WEBHOOK), "config": {"url": "", "authorization": None}}
    assert created["credentials"] == {"configured": True, "mask": f"https://{HOOK_HOST}/********"}
    request("PUT", path, blank)
    assert network.test_of(created)["delivered"]
    assert network.hook.received[-1].headers["authorization"] == authorization
    request("PUT", path, {**blank, "config": {"authorization": authorization + "-2"}})
    assert network.test_of(created)["delivered"]
    assert network.hook.received[-1].headers["authorization"] == authorization + "-2"

    network.hook.script(Reply(status=401, body=authorization))
    world.rule(created, network.channel(CHAT), network.channel(BOT))
    world.report(world.connector_failed())
    assert (network.chat.received[-1].path, network.bot.received[-1].path) == (
        "/services/planted", f"/bot{TOKEN}/sendMessage",
    )  # fmt: skip
    request("PUT", path, {**blank, "config": {"url": f"https://{PRIVATE}/planted"}})
    request("POST", PATH, {**network.body(WEBHOOK, headers={"host": "planted"}), "name": "other"})
    for one in (PATH, path, "/audit", f"/alerts/{world.alert()['id']}", "/metrics"):
        request("GET", one)
    documentation = world.send("GET", "/openapi.json", {}, b"")
    assert documentation.status == 200
    logged = "\n".join(f"{record.getMessage()} {record.__dict__}" for record in caplog.records)
    assert "planted" not in "".join((*shown, documentation.body))
    assert logged
    assert "planted" not in logged
