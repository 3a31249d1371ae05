"""Which episodes are sent: cases 17 to 20 and 22."""

import pytest

from tests.support.alerting_api import CHAT, AlertingApi
from tests.support.notification_network import Network

FIRING, RECOVERY = ("firing", "delivered"), ("resolved", "delivered")


def episode(world: AlertingApi, *, after: float, lasts: float = 60) -> str:
    """The connector fails that many seconds later, and recovers; the id of the alert."""
    world.report(world.connector_failed(), after=after)
    alert_id = str(world.alerts("status=firing")[0]["id"])
    world.report(after=lasts)
    return alert_id


def test_a_recurrence_inside_the_cooldown_is_a_new_alert_without_messages(world: AlertingApi) -> None:
    """Case 17."""
    channel = world.channel()
    world.rule(channel, cooldown_seconds=900)
    first = episode(world, after=0)
    second = episode(world, after=240)  # 300 seconds after the first message
    assert first != second
    again, before = world.alerts("status=resolved")
    assert (again["id"], before["id"]) == (second, first)
    assert again["fingerprint"] == before["fingerprint"]
    assert (world.sent(before), world.sent(again)) == ([FIRING, RECOVERY], [])
    assert world.called(channel) == [0, 60]


def test_a_recurrence_at_the_end_of_the_cooldown_says_how_many_episodes_were_muted(
    world: AlertingApi, network: Network
) -> None:
    """Case 18."""
    world.rule(network.channel(CHAT), cooldown_seconds=900)
    for after in (0, 240):
        episode(world, after=after)
    world.report(world.connector_failed(), after=540)  # at 900
    assert len(network.chat.received) == 3
    assert "1 muted by the cooldown" in network.chat.texts()[-1]
    assert world.alert("status=firing")["details"]["muted_episodes"] == 1


def test_one_second_before_the_end_of_the_cooldown_nothing_is_sent(world: AlertingApi) -> None:
    """Case 18, on the other side of the boundary."""
    channel = world.channel()
    world.rule(channel, cooldown_seconds=900)
    episode(world, after=0)
    episode(world, after=839)
    assert len(world.called(channel)) == 2


@pytest.mark.parametrize(
    ("policy", "recovery", "expected"),
    [
        ("notify_every_occurrence", True, ["firing", "resolved"] * 3),
        ("notify_every_occurrence", False, ["firing"] * 3),
        ("notify_first_occurrence_only", True, ["firing", "resolved"]),
        ("notify_first_occurrence_only", False, ["firing"]),
    ],
)
def test_three_episodes_in_five_minutes_are_sent_as_the_policy_says(
    world: AlertingApi, policy: str, recovery: bool, expected: list[str]
) -> None:
    """Cases 19 and 20."""
    channel = world.channel()
    world.rule(channel, cooldown_policy=policy, send_recovery=recovery)
    for _ in range(3):
        episode(world, after=40, lasts=40)
    assert len(world.alerts("status=resolved")) == 3
    assert [message.lines[0].content.kind for message in world.provider(channel).messages] == expected


def test_a_message_that_was_refused_starts_no_cooldown(world: AlertingApi) -> None:
    """Case 22: the channel is repaired, and the same fails again five minutes later."""
    channel = world.channel()
    world.rule(channel, cooldown_seconds=900, send_recovery=False)
    world.provider(channel).answers(401)
    first = episode(world, after=0)
    assert [one["status"] for one in world.read({"id": first})["deliveries"]] == ["failed"]
    body = world.channel_body(CHAT, 77)
    world.ok("PUT", f"/notification-channels/{channel['id']}", {**body, "name": channel["name"]})
    repaired = world.driver.sender.behind(body["config"]["webhook_url"])
    world.report(world.connector_failed(), after=240)
    assert world.sent(world.alert("status=firing")) == [FIRING]
    assert len(repaired.messages) == 1
