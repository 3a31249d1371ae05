"""The worker of notifications: the table of states of deliveries (wire contract, alerting 4.1), in virtual time."""

import json
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest

from chalicelib.domain.alerts.channel import Channel, ChannelProvider, LastDelivery
from chalicelib.domain.alerts.notification import NotificationStatus
from chalicelib.errors import UnreadableRow
from chalicelib.kit.masking import Secret
from chalicelib.notify.contract import Accepted, Outcome, OutgoingMessage
from chalicelib.settings import Settings
from chalicelib.stores.alerts.counters import AlertCounters
from tests.support.alerting.scripted_provider import ok, status
from tests.support.alerting.virtual import AlertingDriver
from tests.support.log_lines import logged
from tests.support.unreadable import make_unreadable

QUEUED, PENDING = NotificationStatus.QUEUED, NotificationStatus.PENDING
DELIVERED, FAILED = NotificationStatus.DELIVERED, NotificationStatus.FAILED
SUPPRESSED, CANCELLED = NotificationStatus.SUPPRESSED, NotificationStatus.CANCELLED


def test_a_message_is_delivered_at_once_and_once(alerting: AlertingDriver, channel: Channel) -> None:
    row = alerting.queue_message(channel)
    alerting.run(seconds=200)
    delivered = alerting.row(row)
    assert (delivered.status, delivered.attempts, delivered.sent_at) == (DELIVERED, 1, alerting.start)
    assert alerting.called(channel) == [0]
    (message,) = alerting.provider(channel).messages
    assert (message.delivery_id, [line.content for line in message.lines]) == (row.id, [row.content])


def test_a_failure_for_a_while_is_tried_again_after_5_and_30_and_120_seconds(
    alerting: AlertingDriver, channel: Channel
) -> None:
    alerting.provider(channel).answers(500, 500, 500, 200)
    row = alerting.queue_message(channel)
    alerting.run(seconds=154)
    assert (alerting.row(row).status, alerting.row(row).attempts) == (PENDING, 3)
    alerting.run(seconds=200)
    assert alerting.called(channel) == [0, 5, 35, 155]
    assert (alerting.row(row).status, alerting.row(row).attempts) == (DELIVERED, 4)


def test_after_four_failures_it_has_failed(alerting: AlertingDriver, channel: Channel) -> None:
    alerting.provider(channel).always = lambda _: status(500)
    row = alerting.queue_message(channel)
    alerting.run(seconds=3600)
    failed = alerting.row(row)
    assert alerting.called(channel) == [0, 5, 35, 155]
    assert (failed.status, failed.attempts, failed.reason) == (FAILED, 4, "attempts_exhausted")
    assert failed.last_error
    assert failed.last_error.code == "http_500"


def test_the_log_says_how_each_attempt_ended_and_what_was_given_up_is_measured(
    alerting: AlertingDriver, channel: Channel, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Settings.read({"HEADGATE_EMIT_METRICS": "true"})
    monkeypatch.setattr("chalicelib.clients.cloudwatch.settings", lambda: settings)
    alerting.provider(channel).answers(500, 401)
    row = alerting.queue_message(channel)
    with logged() as stream:
        alerting.run(seconds=10)
    lines = [json.loads(line) for line in stream.getvalue().splitlines() if '"message":"notification"' in line]
    assert [(line["notification_id"], line["status"], line["code"]) for line in lines] == [
        (row.id, "pending", "http_500"),
        (row.id, "failed", "http_401"),
    ]
    (metrics,) = [line for line in capsys.readouterr().out.splitlines() if "_aws" in line]
    assert json.loads(metrics)["NotificationsFailed"] == [1]


@pytest.mark.parametrize("code", [400, 401, 403, 404, 410, 301])
def test_a_refusal_is_final_after_one_call(alerting: AlertingDriver, channel: Channel, code: int) -> None:
    alerting.provider(channel).answers(code)
    row = alerting.queue_message(channel)
    alerting.run(seconds=600)
    assert alerting.called(channel) == [0]
    assert (alerting.row(row).status, alerting.row(row).attempts) == (FAILED, 1)


def test_retry_after_is_obeyed_up_to_an_hour(alerting: AlertingDriver, channel: Channel) -> None:
    alerting.provider(channel).answers(status(503, retry_after=60), status(503, retry_after=86_400), 200)
    row = alerting.queue_message(channel)
    alerting.run(seconds=2 * 3600)
    first, second, third = alerting.called(channel)
    assert (first, second) == (0, 60)
    assert 60 + 3600 <= third <= 60 + 3600 + 60
    assert (alerting.row(row).status, alerting.row(row).attempts) == (DELIVERED, 3)


def test_a_provider_that_does_not_answer_counts_as_unknown_and_is_tried_at_the_next_step(
    alerting: AlertingDriver, channel: Channel
) -> None:
    provider = alerting.provider(channel)
    provider.answers(provider.hang)
    row = alerting.queue_message(channel)
    alerting.run(seconds=14)
    pending = alerting.row(row)
    assert (pending.status, pending.last_error and pending.last_error.code) == (PENDING, "timed_out")
    alerting.run(seconds=60)
    assert alerting.called(channel) == [0, 15]
    assert alerting.row(row).status is DELIVERED


@pytest.mark.parametrize("tries", [0, 1])
def test_a_silenced_alert_is_not_sent(alerting: AlertingDriver, channel: Channel, tries: int) -> None:
    alerting.provider(channel).answers(*[500] * tries)
    row = alerting.queue_message(channel, wakes=bool(tries))
    alerting.run(seconds=1)
    alerting.silence(row.alert_id)
    alerting.wake(channel)
    alerting.run(seconds=120)
    assert (alerting.row(row).status, alerting.row(row).reason) == (SUPPRESSED, "silenced")
    assert len(alerting.called(channel)) == tries


@pytest.mark.parametrize(("deleted", "reason"), [(True, "channel_deleted"), (False, "channel_disabled")])
def test_what_waits_for_a_channel_that_is_deleted_or_disabled_is_cancelled(
    alerting: AlertingDriver, channel: Channel, deleted: bool, reason: str
) -> None:
    alerting.run(seconds=61)  # the sweep knows the channel
    row = alerting.queue_message(channel, wakes=False)
    if deleted:
        alerting.delete(channel)
    else:
        alerting.change(channel, enabled=False)
    alerting.run(seconds=61)
    assert (alerting.row(row).status, alerting.row(row).reason) == (CANCELLED, reason)
    assert alerting.called(channel) == []


def test_a_secret_that_cannot_be_opened_is_a_failure_that_says_what_to_do(
    alerting: AlertingDriver, channel: Channel
) -> None:
    alerting.change(channel, credentials=replace(channel.credentials, fields={"key": 7}))
    row = alerting.queue_message(channel)
    alerting.run(seconds=1)
    failed = alerting.row(row)
    assert (failed.status, failed.last_error and failed.last_error.code) == (FAILED, "secret_unreadable")
    assert failed.last_error
    assert "Enter all of them again" in str(failed.last_error.hint)


def test_a_recovery_waits_until_its_firing_message_was_sent(alerting: AlertingDriver, channel: Channel) -> None:
    alerting.provider(channel).answers(500, 500)
    firing = alerting.queue_message(channel)
    recovery = alerting.queue_message(channel, after=firing)
    alerting.run(seconds=34)
    assert alerting.row(recovery).status is QUEUED
    alerting.run(seconds=2)
    assert [message.delivery_id for message in alerting.provider(channel).messages] == [firing.id, recovery.id]


def test_a_recovery_whose_firing_message_has_failed_is_sent_and_says_so(
    alerting: AlertingDriver, channel: Channel
) -> None:
    alerting.provider(channel).answers(500, 500, 500, 500)
    firing = alerting.queue_message(channel)
    recovery = alerting.queue_message(channel, after=firing)
    alerting.run(seconds=300)
    assert (alerting.row(firing).status, alerting.row(recovery).status) == (FAILED, DELIVERED)
    (message,) = alerting.provider(channel).messages
    assert [line.firing_failed for line in message.lines] == [True]


def test_a_limit_of_the_provider_stops_the_channel_and_uses_up_no_attempt_of_what_waits(
    alerting: AlertingDriver,
) -> None:
    channel = alerting.channel(ChannelProvider.WEBHOOK)
    alerting.provider(channel).answers(status(429, retry_after=60))
    rows = alerting.queue_messages(channel, 21)
    alerting.run(seconds=59)
    assert len(alerting.called(channel)) == 1
    assert sorted(alerting.row(row).attempts for row in rows) == [0] * 20 + [1]
    alerting.run(seconds=80)
    assert alerting.called(channel)[1] >= 60
    assert {alerting.row(row).status for row in rows} == {DELIVERED}


def test_a_channel_that_hangs_does_not_delay_another_one(alerting: AlertingDriver) -> None:
    hanging, good = alerting.channel(), alerting.channel()
    alerting.provider(hanging).always = alerting.provider(hanging).hang
    late, early = alerting.queue_message(hanging), alerting.queue_message(good)
    alerting.run(seconds=11)
    assert alerting.row(early).sent_at == alerting.start
    assert alerting.row(late).status is PENDING


def test_while_a_provider_is_down_one_message_a_minute_is_tried_and_the_others_lose_no_attempt(
    alerting: AlertingDriver,
) -> None:
    channel = alerting.channel(ChannelProvider.WEBHOOK)
    alerting.provider(channel).always = lambda _: status(503)
    rows = alerting.queue_messages(channel, 30)
    alerting.run(seconds=600)
    calls = alerting.called(channel)
    assert len(calls) <= 5 + 10
    assert all(later - earlier >= 60 for earlier, later in pairwise(calls[4:]))
    assert {alerting.row(row).status for row in rows} <= {QUEUED, PENDING}
    alerting.provider(channel).always = ok
    alerting.run(seconds=180)
    assert {alerting.row(row).status for row in rows} == {DELIVERED}


def test_the_same_wake_up_ten_times_for_two_workers_is_one_call(alerting: AlertingDriver) -> None:
    channel = alerting.channel(latency=3)
    row = alerting.queue_message(channel)
    alerting.wake(channel, times=10)
    alerting.wake(channel, times=10, after=1)
    alerting.run(seconds=300)
    assert alerting.called(channel) == [3]
    assert alerting.row(row).attempts == 1


def test_what_comes_while_a_worker_sends_is_sent_by_that_worker(alerting: AlertingDriver) -> None:
    channel = alerting.channel(latency=5)
    alerting.queue_message(channel)
    alerting.run(seconds=2)
    second = alerting.queue_message(channel)
    alerting.run(seconds=9)
    assert alerting.row(second).status is DELIVERED


def test_a_late_success_counts_after_another_worker_has_given_up(alerting: AlertingDriver, channel: Channel) -> None:
    """The worker sleeps for longer than its lease; the others find it dead, and fail four times."""
    provider = alerting.provider(channel)

    def slow(_message: OutgoingMessage) -> Outcome:
        alerting.time.sleep(3600)
        return Accepted()

    provider.answers(slow, 500, 500, 500)
    row = alerting.queue_message(channel)
    alerting.run(seconds=1800)
    assert alerting.row(row).status is FAILED
    alerting.run(seconds=1900)
    assert alerting.row(row).status is DELIVERED


def test_a_late_failure_changes_nothing_that_another_worker_has_delivered(
    alerting: AlertingDriver, channel: Channel
) -> None:

    def slow(_message: OutgoingMessage) -> Outcome:
        alerting.time.sleep(600)
        return status(401)

    alerting.provider(channel).answers(slow, 200)
    row = alerting.queue_message(channel)
    alerting.run(seconds=1200)
    assert (alerting.row(row).status, alerting.row(row).attempts) == (DELIVERED, 2)


def test_how_the_newest_message_ended_and_how_long_it_took_is_noted(alerting: AlertingDriver) -> None:
    good, bad = alerting.channel(latency=2), alerting.channel(ChannelProvider.WEBHOOK)
    alerting.provider(bad).answers(401)
    alerting.queue_message(good)
    alerting.queue_message(bad)
    alerting.run(seconds=60)
    channels = alerting.app.services.alerting.channels
    assert [channels.get(channel.id).last_delivery for channel in (good, bad)] == [
        LastDelivery(status="delivered", at=alerting.start + timedelta(seconds=2)),
        LastDelivery(status="failed", at=alerting.start),
    ]
    deliveries = AlertCounters.read().deliveries
    assert deliveries[ChannelProvider.CHAT_WEBHOOK, DELIVERED].buckets["2.5"] == 1
    assert deliveries[ChannelProvider.CHAT_WEBHOOK, DELIVERED].seconds == 2
    assert deliveries[ChannelProvider.WEBHOOK, FAILED].count == 1


def test_a_group_that_became_another_one_is_stored_in_the_channel(alerting: AlertingDriver) -> None:
    channel = alerting.channel(ChannelProvider.BOT_CHAT)
    alerting.provider(channel).answers(Accepted(changed={"chat_id": Secret("-100123")}))
    row = alerting.queue_message(channel)
    alerting.run(seconds=1)
    services = alerting.app.services
    assert alerting.row(row).status is DELIVERED
    secrets = services.credentials.open(services.stores.alerts.channels.get(channel.id).credentials)
    assert secrets["chat_id"].reveal() == "-100123"


# rows that cannot be read


@pytest.mark.parametrize("unreadable", ["notification", "alert", "firing message"])
def test_a_message_that_cannot_be_judged_is_left_alone_and_the_others_of_its_channel_are_sent(
    alerting: AlertingDriver, channel: Channel, unreadable: str
) -> None:
    stores = alerting.app.services.stores.alerts
    firing = alerting.queue_message(channel)
    alerting.run(seconds=1)
    left = alerting.queue_message(channel, after=firing, wakes=False)
    match unreadable:
        case "notification":
            make_unreadable(stores.notifications, left.id, "status")
        case "alert":
            make_unreadable(stores.alerts, left.alert_id, "status")
        case _:
            make_unreadable(stores.notifications, firing.id, "status")
    other = alerting.queue_message(channel)
    alerting.run(seconds=200)
    assert alerting.row(other).status is DELIVERED
    assert len(alerting.provider(channel).messages) == 2
    open_ids = [row["id"] for row in alerting.app.tables.rows("notifications") if "open_channel" in row]
    assert open_ids == [left.id]


def test_a_worker_of_a_channel_that_cannot_be_read_keeps_its_messages(
    alerting: AlertingDriver, channel: Channel
) -> None:
    row = alerting.queue_message(channel, wakes=False)
    make_unreadable(alerting.app.services.stores.alerts.channels, channel.id, "provider")
    with pytest.raises(UnreadableRow):
        alerting.drain(channel.id)
    assert alerting.row(row).status is QUEUED
