"""What becomes an alert, when it is the same one, and when it is over: cases 1 to 7, 12, 21, 23 and 24."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from chalicelib.domain.monitoring.incident import Condition, origin_of
from chalicelib.kit.clock import Deadline, rfc3339
from chalicelib.kit.ids import new_id
from chalicelib.stores.transaction import Transaction
from tests.bench.storm import NOT_RESTARTED
from tests.support.alerting_api import WEBHOOK, AlertingApi, warning
from tests.support.notification_network import Network

KEYS = ["event", "severity", "status", "timestamp", "pipeline", "connector", "error", "alert"]
FIRING, RECOVERY = ("firing", "delivered"), ("resolved", "delivered")


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
    said = received.json
    assert (said["event"], said["severity"], said["status"]) == ("CONNECTOR_FAILED", "critical", "firing")
    assert (said["pipeline"]["id"], said["alert"]["id"]) == (world.pipeline_id(), alert["id"])


def test_the_same_failure_in_five_further_cycles_is_the_same_alert_with_one_message(world: AlertingApi) -> None:
    """Case 2."""
    channel = world.channel()
    world.rule(channel)
    world.report(world.connector_failed())
    first = world.alert()
    for _ in range(5):
        world.report(world.connector_failed())
    again = world.alert()
    assert (again["id"], again["occurrence_count"]) == (first["id"], 6)
    assert (again["first_seen_at"], again["last_seen_at"]) == (first["first_seen_at"], rfc3339(world.driver.now))
    assert len(world.provider(channel).received) == 1


def test_a_report_that_comes_again_is_not_counted(world: AlertingApi) -> None:
    """Case 3."""
    channel = world.channel()
    world.rule(channel)
    report = world.new_report(world.connector_failed())
    for _ in range(3):
        world.publish(report)
        world.run(5)
    assert world.alert()["occurrence_count"] == 1
    assert len(world.provider(channel).received) == 1


def test_each_task_is_an_alert_of_its_own(world: AlertingApi) -> None:
    """Case 4."""
    world.report(world.task_failed(0))
    world.report(world.task_failed(0), world.task_failed(1))
    assert [alert["task_id"] for alert in world.alerts("status=firing")] == [1, 0]


def test_two_destinations_of_one_pipeline_are_two_alerts(world: AlertingApi) -> None:
    """Case 5: deliveries of one pipeline to two destinations, whose connectors have the same name on the worker."""
    app = world.app
    pipeline = world.conditions["pipeline"] = app.deployed_pipeline()
    deliveries = [
        app.services.deliveries.deploy(app.context(), app.destination().id, app.delivery_input(pipeline))
        for _ in range(2)
    ]
    failures = [world.task_failed(resource_type="delivery", resource_id=one.id) for one in deliveries]
    world.report(*failures)
    alerts = world.alerts("status=firing")
    assert len({alert["source"]["id"] for alert in alerts}) == len(alerts) == 2
    assert {alert["pipeline_id"] for alert in alerts} == {world.pipeline_id()}
    assert {alert["source"]["type"] for alert in alerts} == {"destination"}


def test_the_same_connector_name_on_two_clusters_is_two_alerts(world: AlertingApi) -> None:
    """Case 6."""
    one, transaction = world.app.cluster, Transaction()
    other = replace(one, id=new_id(), name="other workers")
    world.app.services.stores.connects.put_new(transaction, other)
    transaction.commit()
    for cluster_id in (one.id, other.id):
        failed = Condition(
            code="CONNECTOR_FAILED", resource_type="connect_cluster", resource_id=cluster_id, connector_name="orders",
            message="It has failed.",
        )  # fmt: skip
        world.report(failed, origin=origin_of("connect_cluster", cluster_id))
    alerts = world.alerts("status=firing")
    assert {alert["connector_name"] for alert in alerts} == {"orders"}
    assert len({alert["fingerprint"] for alert in alerts}) == len(alerts) == 2


@pytest.mark.parametrize(("seconds", "count"), [(0, 1), (1, 2)])
def test_two_first_observations_at_the_same_moment_are_one_alert(
    world: AlertingApi, seconds: float, count: int
) -> None:
    """Case 7: of one cycle, or of two. What a process could not record, because the other was faster, it repeats."""
    channels = [world.channel(), world.channel()]
    world.rule(*channels)
    first = world.new_report(world.connector_failed())
    reports = [first, replace(first, at=first.at + timedelta(seconds=seconds))]
    world.driver.queues.lost = True  # workers begin in the thread of the test
    bus = world.app.services.alerting.bus
    with ThreadPoolExecutor(2) as pool:
        recorded = list(pool.map(lambda one: bus.publish(one, Deadline.after(60)), reports))
    assert recorded == [True, True]
    world.driver.queues.lost = False
    world.run(75)
    alert = world.alert()
    # The older report may come second: then it is late, and counts nothing.
    assert alert["occurrence_count"] in {1, count}
    assert world.sent(alert) == [FIRING, FIRING]
    assert [len(world.provider(one).received) for one in channels] == [1, 1]


def test_a_failure_while_silenced_is_counted_and_its_end_sends_nothing(world: AlertingApi) -> None:
    """Case 12."""
    channel = world.channel()
    world.report(world.connector_failed())
    alert = world.alert()
    world.move(alert, "silence")
    world.rule(channel)
    world.report(world.connector_failed())
    world.report(world.connector_failed())
    assert (world.read(alert)["status"], world.read(alert)["occurrence_count"]) == ("silenced", 3)
    world.report()
    assert world.read(alert)["status"] == "resolved"
    world.run(3600)
    assert world.called(channel) == []
    assert world.sent(alert) == []


def test_a_recovery_after_a_silence_that_began_when_the_message_had_arrived_sends_nothing(world: AlertingApi) -> None:
    """Case 12, when people have been notified before."""
    channel = world.channel()
    world.rule(channel)
    world.report(world.connector_failed())
    world.move(world.alert(), "silence")
    world.report(world.connector_failed())
    world.report()
    world.run(3600)
    assert world.alert()["status"] == "resolved"
    assert world.sent(world.alert()) == [FIRING]
    assert len(world.called(channel)) == 1


def test_a_severity_that_becomes_critical_is_the_same_alert_and_its_first_message(world: AlertingApi) -> None:
    """Case 21."""
    channel = world.channel()
    world.rule(channel, severities=["critical"])
    world.report(warning(world.connector_failed()))
    before = world.alert()
    assert (before["severity"], world.called(channel)) == ("warning", [])
    world.report(world.connector_failed())
    after = world.alert()
    assert (after["id"], after["severity"], after["status"]) == (before["id"], "critical", "firing")
    assert world.sent(after) == [FIRING]
    assert world.called(channel) == [120]


def test_an_observation_from_before_the_recovery_that_comes_late_changes_nothing(world: AlertingApi) -> None:
    """Case 23."""
    channel = world.channel()
    world.rule(channel, cooldown_policy="notify_every_occurrence")
    world.report(world.connector_failed())
    world.run(30)
    late = world.new_report(world.connector_failed())
    world.report()
    resolved = world.alert()
    world.publish(late)
    assert world.alert() == resolved
    assert world.sent(resolved) == [FIRING, RECOVERY]


def test_the_default_rule_sends_nothing_until_it_has_a_channel(world: AlertingApi) -> None:
    world.app.services.install()
    channel = world.channel()
    world.report(world.connector_failed())
    world.report()
    world.run(3600)
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
    assert [one["id"] for one in world.alerts("status=resolved") if one["id"] == parent["id"]] == [parent["id"]]
