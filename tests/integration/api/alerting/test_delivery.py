"""How messages are sent, again, and to whom: cases 25 to 34. Providers are HTTPS receivers, or follow a script."""

import json
from collections.abc import Sequence

import pytest

from chalicelib.notify.bot_chat import utf16_units
from infra.local.doubles.notification_receivers import NotificationReceiver, Received, Reply, bot_refusal
from tests.support.alerting_api import BOT, CHAT, WEBHOOK, AlertingApi
from tests.support.in_process_app import START_TIME
from tests.support.notification_network import Network

SECRET_BODY = {"error": "planted text of the provider"}


def seconds(received: Sequence[Received]) -> list[float]:
    """When requests came, since the start of the test."""
    return [(one.at - START_TIME).total_seconds() for one in received]


def fail(world: AlertingApi, tasks: int = 1) -> None:
    """So many tasks fail now."""
    world.report(*(world.task_failed(number) for number in range(tasks)), after=0)


def test_after_three_failures_of_the_provider_the_fourth_attempt_delivers(world: AlertingApi, network: Network) -> None:
    """Case 25."""
    world.rule(network.channel(WEBHOOK))
    network.hook.script(*[Reply(status=500, body="")] * 3)
    fail(world)
    world.run(300)
    assert seconds(network.hook.received) == [0, 5, 35, 155]
    (delivery,) = world.alert()["deliveries"]
    assert (delivery["status"], delivery["attempt_count"]) == ("delivered", 4)


def test_after_four_failures_a_message_has_failed_and_no_alert_is_about_that(
    world: AlertingApi, network: Network
) -> None:
    """Case 26."""
    world.rule(network.channel(WEBHOOK))
    network.hook.script(*[Reply(status=500, body=SECRET_BODY)] * 4)
    fail(world)
    world.run(3600)
    assert seconds(network.hook.received) == [0, 5, 35, 155]
    (delivery,) = world.alert()["deliveries"]
    assert (delivery["status"], delivery["attempt_count"]) == ("failed", 4)
    assert delivery["last_error"]["message"]
    assert "planted" not in json.dumps(delivery)


@pytest.mark.parametrize(("status", "hint"), [(401, True), (403, True), (404, False), (410, False), (301, False)])
def test_a_refusal_is_final_after_one_call(world: AlertingApi, network: Network, status: int, hint: bool) -> None:
    """Case 27."""
    world.rule(network.channel(WEBHOOK))
    network.hook.script(Reply(status=status, body=SECRET_BODY, headers={"Location": "https://example.com/"}))
    fail(world)
    world.run(600)
    assert len(network.hook.received) == 1
    (delivery,) = world.alert()["deliveries"]
    assert (delivery["status"], delivery["attempt_count"]) == ("failed", 1)
    assert ("Enter a new secret" in str(delivery["last_error"]["hint"])) is hint
    assert "planted" not in json.dumps(delivery)


def test_a_provider_that_asks_to_wait_is_not_called_before_and_what_waits_uses_up_no_attempt(
    world: AlertingApi, network: Network
) -> None:
    """Case 28."""
    world.rule(network.channel(WEBHOOK))
    network.hook.script(Reply(status=429, body="", headers={"Retry-After": "60"}))
    fail(world, tasks=21)
    world.run(59)
    assert seconds(network.hook.received) == [0]
    rows = [world.read(alert)["deliveries"][0] for alert in world.alerts()]
    assert sorted(row["attempt_count"] for row in rows) == [0] * 20 + [1]
    assert {row["status"] for row in rows} <= {"queued", "pending"}
    world.run(121)
    assert min(seconds(network.hook.received)[1:]) >= 60
    assert len(network.hook.received) == 22
    rows = [world.read(alert)["deliveries"][0] for alert in world.alerts()]
    assert {row["status"] for row in rows} == {"delivered"}
    assert sorted(row["attempt_count"] for row in rows) == [1] * 20 + [2]


def test_a_channel_that_hangs_does_not_delay_another_one(world: AlertingApi) -> None:
    """Case 29."""
    hanging, good = world.channel(), world.channel()
    world.provider(hanging).always = world.provider(hanging).hang
    world.rule(hanging, good)
    fail(world)
    world.run(2)
    rows = {row["channel_id"]: row for row in world.alert()["deliveries"]}
    assert rows[good["id"]]["status"] == "delivered"
    world.run(8)
    row = {row["channel_id"]: row for row in world.alert()["deliveries"]}[hanging["id"]]
    assert (row["status"], row["attempt_count"], row["last_error"]["code"]) == ("pending", 1, "timed_out")


def test_a_worker_that_dies_after_the_provider_has_accepted_repeats_the_same_message_once(
    world: AlertingApi, network: Network
) -> None:
    """Case 30."""
    world.rule(network.channel(WEBHOOK))
    network.after_send = world.driver.time.crash
    fail(world)
    world.app.restart()
    world.run(600)
    (delivery,) = world.alert()["deliveries"]
    assert delivery["status"] == "delivered"
    first, second = network.hook.received
    assert first.body == second.body
    assert first.headers["webhook-id"] == second.headers["webhook-id"] == delivery["id"]


def test_the_same_wake_up_ten_times_for_two_workers_is_one_call(world: AlertingApi) -> None:
    """Case 31."""
    channel = world.channel(latency=3)
    world.rule(channel)
    world.driver.queues.lost = True
    fail(world)
    for number in range(10):
        world.driver.deliver(channel["id"], number % 2)
    world.run(300)
    assert len(world.called(channel)) == 1
    (delivery,) = world.alert()["deliveries"]
    assert (delivery["status"], delivery["attempt_count"]) == ("delivered", 1)


def test_a_lost_wake_up_costs_little_more_than_a_minute(world: AlertingApi) -> None:
    """Case 32."""
    channel = world.channel()
    world.rule(channel)
    world.driver.queues.lost = True
    fail(world)
    world.driver.queues.lost = False
    world.run(75)
    assert world.sent(world.alert()) == [("firing", "delivered")]


def test_a_group_that_became_another_one_gets_the_message_there_and_the_channel_knows(
    world: AlertingApi, network: Network
) -> None:
    """Case 33."""
    channel = network.channel(BOT)
    world.rule(channel, cooldown_policy="notify_every_occurrence", send_recovery=False)
    network.bot.script(bot_refusal(400, "group chat was upgraded", migrate_to_chat_id=-1009876543210))
    fail(world)
    assert [one.json["chat_id"] for one in network.bot.received] == [-100123, -1009876543210]
    assert world.sent(world.alert()) == [("firing", "delivered")]
    records = world.ok("GET", f"/audit?resource_id={channel['id']}")
    (migrated,) = [one for one in records if one["action"] == "notification_channel.migrate"]
    assert (migrated["actor"]["via"], migrated["after"]) == ("system", {"fields": ["chat_id"]})
    assert world.ok("GET", f"/notification-channels/{channel['id']}")["version"] == 2
    world.report()
    world.report(world.task_failed())
    assert [one.json["chat_id"] for one in network.bot.received[2:]] == [-1009876543210]


def test_a_hostile_error_is_plain_text_within_the_limit_for_every_provider(
    world: AlertingApi, network: Network
) -> None:
    """Case 34."""
    world.rule(*(network.channel(provider) for provider in (CHAT, BOT, WEBHOOK)))
    hostile = "<!channel> & <b>_x_</b>"
    world.report(world.task_failed(message=hostile + "🙂" * 10_000))
    assert {row["status"] for row in world.alert()["deliveries"]} == {"delivered"}
    chat, bot, hook = (_only(one) for one in (network.chat, network.bot, network.hook))
    assert chat["mrkdwn"] is False
    assert len(chat["text"]) <= 3000
    assert "<" not in chat["text"]
    assert "&lt;!" in chat["text"]
    assert "<!channel>" not in chat["text"]
    assert "parse_mode" not in bot
    assert utf16_units(bot["text"]) <= 4096
    assert hook["error"].startswith(hostile)
    for text in (chat["text"], bot["text"], hook["error"]):
        text.encode("utf-16")  # no half of an emoji


def _only(receiver: NotificationReceiver) -> dict[str, str]:
    (received,) = receiver.received
    return dict(received.json)
