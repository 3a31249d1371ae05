"""Many notifications of one channel: digests, order, pace (wire contract, alerting S3 to S6), in virtual time."""

from collections import Counter
from datetime import timedelta
from itertools import pairwise

import pytest

from chalicelib.domain.alerts.channel import Channel, ChannelProvider
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.alerts.notification import Notification, NotificationStatus
from chalicelib.domain.alerts.pacing import MAX_SINGLE_MESSAGES
from tests.support.alerting.scripted_provider import ScriptedProvider, status
from tests.support.alerting.virtual import AlertingDriver

DELIVERED = NotificationStatus.DELIVERED
CHATS = [ChannelProvider.CHAT_WEBHOOK, ChannelProvider.BOT_CHAT]


def said(provider: ScriptedProvider) -> list[list[str]]:
    """Ids of the alerts of each message."""
    return [[line.content.alert_id for line in message.lines] for message in provider.messages]


def assert_each_is_said_once(provider: ScriptedProvider, rows: list[Notification]) -> None:
    assert Counter(alert for message in said(provider) for alert in message) == Counter(row.alert_id for row in rows)


@pytest.mark.parametrize("provider", CHATS)
def test_more_than_ten_for_a_chat_are_said_in_digests_of_fifty(
    alerting: AlertingDriver, provider: ChannelProvider
) -> None:
    channel = alerting.channel(provider)
    rows = alerting.queue_messages(channel, 120)
    alerting.run(seconds=60)
    assert [len(message.lines) for message in alerting.provider(channel).messages] == [50, 50, 20]
    assert [message.waiting for message in alerting.provider(channel).messages] == [70, 20, 0]
    assert_each_is_said_once(alerting.provider(channel), rows)
    settled = alerting.rows(channel)
    assert {row.status for row in settled} == {DELIVERED}
    messages = alerting.provider(channel).messages
    assert Counter(row.digest_id for row in settled) == {
        message.delivery_id: len(message.lines) for message in messages
    }


@pytest.mark.parametrize("provider", CHATS)
def test_up_to_ten_for_a_chat_are_messages_of_their_own(alerting: AlertingDriver, provider: ChannelProvider) -> None:
    channel = alerting.channel(provider)
    rows = alerting.queue_messages(channel, 10)
    alerting.run(seconds=60)
    assert [len(message.lines) for message in alerting.provider(channel).messages] == [1] * 10
    assert_each_is_said_once(alerting.provider(channel), rows)


def test_a_webhook_gets_one_request_for_each_alert(alerting: AlertingDriver) -> None:
    channel = alerting.channel(ChannelProvider.WEBHOOK, per_second=20)
    rows = alerting.queue_messages(channel, 60)
    alerting.run(seconds=60)
    assert {message.delivery_id for message in alerting.provider(channel).messages} == {row.id for row in rows}
    assert len(alerting.provider(channel).received) == 60
    assert {alerting.row(row).status for row in rows} == {DELIVERED}


def test_critical_ones_come_first_and_the_newest_first_within_a_severity(
    alerting: AlertingDriver, channel: Channel
) -> None:
    expected: dict[AlertSeverity, list[str]] = {severity: [] for severity in AlertSeverity}
    for severity in (AlertSeverity.INFO, AlertSeverity.CRITICAL, AlertSeverity.WARNING) * 2:
        alerting.time.clock.advance(1)
        expected[severity].insert(0, alerting.queue_message(channel, severity=severity, wakes=False).alert_id)
    alerting.wake(channel)
    alerting.run(seconds=30)
    assert said(alerting.provider(channel)) == [[one] for severity in AlertSeverity for one in expected[severity]]


def test_a_recovery_of_what_was_not_sent_yet_is_said_in_the_same_line(
    alerting: AlertingDriver, channel: Channel
) -> None:
    firing = alerting.queue_messages(channel, 60)
    recovered = [alerting.queue_message(channel, after=row, wakes=False) for row in firing]
    alerting.run(seconds=60)
    messages = alerting.provider(channel).messages
    assert sum(len(message.lines) for message in messages) == 60
    assert all(line.recovery for message in messages for line in message.lines)
    assert {alerting.row(row).status for row in (*firing, *recovered)} == {DELIVERED}
    for row in recovered:
        assert (
            alerting.row(row).digest_id == alerting.row(next(one for one in firing if one.id == row.after_id)).digest_id
        )


def test_what_has_waited_for_more_than_an_hour_is_marked(alerting: AlertingDriver, channel: Channel) -> None:
    alerting.provider(channel).answers(status(429, retry_after=3600))
    alerting.queue_messages(channel, 2)
    alerting.run(seconds=3590)
    alerting.queue_message(channel)
    alerting.run(seconds=120)
    delayed = {
        message.delivery_id: line.delayed for message in alerting.provider(channel).messages for line in message.lines
    }
    assert sorted(delayed.values()) == [False, True, True]


def test_a_digest_that_has_failed_for_a_while_is_the_same_digest_when_it_is_tried_again(
    alerting: AlertingDriver, channel: Channel
) -> None:
    alerting.provider(channel).answers(500, 200)
    alerting.queue_messages(channel, 20)
    alerting.run(seconds=2)
    alerting.queue_messages(channel, 3)
    alerting.run(seconds=30)
    first, second, *_ = sorted(alerting.provider(channel).received, key=lambda one: len(one.message.lines))[::-1]
    assert first.message.delivery_id == second.message.delivery_id
    assert {row.status for row in alerting.rows(channel)} == {DELIVERED}


def test_a_worker_that_dies_after_a_digest_was_taken_repeats_that_digest_and_no_other(
    alerting: AlertingDriver, channel: Channel
) -> None:
    provider = alerting.provider(channel)
    provider.answers(provider.crash_after)
    rows = alerting.queue_messages(channel, 120)
    alerting.run(seconds=90)
    ids = [message.delivery_id for message in provider.messages]
    assert sorted(Counter(ids).values()) == [1, 1, 2]
    assert {alerting.row(row).status for row in rows} == {DELIVERED}


def test_one_silenced_alert_is_left_out_of_a_digest(alerting: AlertingDriver, channel: Channel) -> None:
    rows = alerting.queue_messages(channel, 12)
    alerting.silence(rows[5].alert_id)
    alerting.run(seconds=30)
    assert_each_is_said_once(alerting.provider(channel), [*rows[:5], *rows[6:]])
    assert alerting.row(rows[5]).status is NotificationStatus.SUPPRESSED


@pytest.mark.parametrize(
    ("provider", "limits"), [("chat-webhook", {"per_second": 4}), ("bot-chat", {"per_minute": 20})]
)
def test_no_limit_of_a_provider_is_broken_in_a_storm(
    alerting: AlertingDriver, provider: str, limits: dict[str, int]
) -> None:
    channel = alerting.channel(ChannelProvider(provider), latency=0.3, **limits)
    for _ in range(20):
        alerting.queue_messages(channel, 9)
        alerting.run(seconds=7)
    alerting.run(seconds=600)
    assert alerting.provider(channel).too_fast == 0
    assert {row.status for row in alerting.rows(channel)} == {DELIVERED}


@pytest.mark.thorough
def test_a_rule_that_has_sent_500_messages_in_an_hour_sends_digests_only(
    alerting: AlertingDriver, channel: Channel
) -> None:
    rows = []
    for _ in range(MAX_SINGLE_MESSAGES // 5 + 20):
        rows += alerting.queue_messages(channel, 5)
        alerting.run(seconds=20)
    singles = [message for message in alerting.provider(channel).messages if len(message.lines) == 1]
    digests = [message for message in alerting.provider(channel).messages if len(message.lines) > 1]
    assert len(singles) == MAX_SINGLE_MESSAGES
    assert sum(len(message.lines) for message in digests) == 100
    times = [request.at for request in alerting.provider(channel).received if request.message.is_digest]
    assert all(later - earlier >= timedelta(seconds=60) for earlier, later in pairwise(times))
    assert_each_is_said_once(alerting.provider(channel), rows)


@pytest.mark.thorough
def test_a_storm_for_two_chats_is_said_in_minutes_and_each_alert_once(alerting: AlertingDriver) -> None:
    """Case 40 with 300 alerts; `python -m tests.bench.alert_storm` has the 10,000."""
    chat = alerting.channel(ChannelProvider.CHAT_WEBHOOK, per_second=4)
    bot = alerting.channel(ChannelProvider.BOT_CHAT, per_minute=20)
    rows = {channel.id: alerting.queue_messages(channel, 300) for channel in (chat, bot)}
    alerting.run(seconds=120)
    for channel in (chat, bot):
        provider = alerting.provider(channel)
        assert provider.received[0].at - alerting.start < timedelta(seconds=60)
        assert provider.too_fast == 0
        assert_each_is_said_once(provider, rows[channel.id])
        recoveries = [alerting.queue_message(channel, after=row, wakes=False) for row in rows[channel.id]]
        assert len(recoveries) == 300
    alerting.run(seconds=180)
    assert {row.status for row in alerting.rows()} == {DELIVERED}
