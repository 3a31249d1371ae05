"""What operators do, and what is sent then: cases 8 to 11 and 13 to 15."""

import pytest

from tests.support.alerting_api import AlertingApi

FIRING, RECOVERY = ("firing", "delivered"), ("resolved", "delivered")
OTHER = {"x-test-email": "b@example.com"}


def test_the_first_who_acknowledges_is_named_and_the_second_is_in_the_history(world: AlertingApi) -> None:
    """Case 8."""
    world.report(world.connector_failed())
    alert = world.alert()
    first = world.move(alert, "acknowledge")
    world.run(60)
    second = world.move(alert, "acknowledge", None, **OTHER)
    assert (first["status"], second["status"]) == ("acknowledged", "acknowledged")
    assert (second["acknowledged_by"], second["acknowledged_at"]) == ("a@example.com", first["acknowledged_at"])
    assert [entry["actor"] for entry in second["history"]] == ["system", "a@example.com", "b@example.com"]


def test_an_acknowledged_alert_is_counted_and_sends_nothing_until_its_recovery(world: AlertingApi) -> None:
    """Cases 9 and 10."""
    channel = world.channel()
    world.rule(channel, cooldown_policy="notify_every_occurrence")
    world.report(world.connector_failed())
    alert = world.alert()
    world.move(alert, "acknowledge")
    world.report(world.connector_failed())
    seen = world.read(alert)
    assert (seen["status"], seen["occurrence_count"]) == ("acknowledged", 2)
    assert len(world.called(channel)) == 1
    world.report()
    over = world.read(alert)
    assert (over["status"], over["recovery_seconds"]) == ("resolved", 120)
    assert (over["acknowledged_by"], over["acknowledged_at"]) == ("a@example.com", seen["acknowledged_at"])
    assert world.sent(alert) == [FIRING, RECOVERY]
    assert world.called(channel) == [60, 180]


def test_a_message_that_was_not_sent_when_its_alert_is_silenced_is_suppressed(world: AlertingApi) -> None:
    """Case 11."""
    channel = world.channel()
    world.rule(channel)
    world.driver.queues.lost = True
    world.report(world.connector_failed())
    world.driver.queues.lost = False
    alert = world.alert()
    assert world.sent(alert) == [("firing", "queued")]
    world.move(alert, "silence")
    world.run(120)
    assert world.sent(alert) == [("firing", "suppressed")]
    assert world.called(channel) == []


@pytest.mark.parametrize("acknowledged", [False, True])
def test_the_end_of_a_silence_returns_to_what_was_before_and_sends_nothing(
    world: AlertingApi, acknowledged: bool
) -> None:
    """Case 13."""
    channel = world.channel()
    world.rule(channel)
    world.report(world.connector_failed())
    alert = world.alert()
    if acknowledged:
        world.move(alert, "acknowledge")
    world.move(alert, "silence")
    world.report(world.connector_failed())
    assert world.move(alert, "unsilence")["status"] == ("acknowledged" if acknowledged else "firing")
    for _ in range(3):
        world.report(world.connector_failed())
    assert world.read(alert)["status"] == ("acknowledged" if acknowledged else "firing")
    assert world.sent(alert) == [FIRING]
    assert len(world.called(channel)) == 1


def test_a_silence_that_ends_before_anything_was_sent_is_followed_by_exactly_one_message(world: AlertingApi) -> None:
    """Case 14."""
    channel = world.channel()
    world.rule(channel)
    world.driver.queues.lost = True
    world.report(world.connector_failed())
    alert = world.alert()
    world.move(alert, "silence", {"duration_seconds": 600})
    world.driver.queues.lost = False
    for _ in range(9):
        world.report(world.connector_failed())
    assert (world.read(alert)["status"], world.called(channel)) == ("silenced", [])
    world.run(61)
    assert world.read(alert)["status"] == "firing"
    for _ in range(5):
        world.report(world.connector_failed())
    assert world.sent(alert) == [("firing", "suppressed"), FIRING]
    assert len(world.called(channel)) == 1


@pytest.mark.parametrize("move", ["acknowledge", "silence", "unsilence"])
def test_a_resolved_alert_is_not_moved(world: AlertingApi, move: str) -> None:
    """Case 15."""
    world.report(world.connector_failed())
    alert = world.alert()
    world.report()
    before = world.read(alert)
    assert world.refused("POST", f"/alerts/{alert['id']}/{move}") == (409, "STATE_CONFLICT")
    assert world.read(alert) == before
