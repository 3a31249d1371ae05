"""How fast messages of a channel are sent: never faster than a provider allows, whatever the times of the sends."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from chalicelib.domain.alerts.channel import ChannelProvider
from chalicelib.domain.alerts.notification import NotificationStatus
from chalicelib.domain.alerts.pacing import (
    MAX_SINGLE_MESSAGES,
    ChannelGate,
    answered,
    failed,
    is_over_the_ceiling,
    is_overdue,
    limited,
    opens_at,
    spent,
)
from chalicelib.notify.registry import PROVIDERS
from tests.support.alerting.notifications import notification

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
GATE = ChannelGate(id="channel", created_at=NOW)


def seconds(count: float) -> timedelta:
    return timedelta(seconds=count)


def arrivals(provider: ChannelProvider, latencies: Random) -> list[datetime]:
    """When a hundred messages of a worker that never waits longer than it must arrive, each after its own latency."""
    gate, now, times = GATE, NOW, []
    for _ in range(100):
        now = opens_at(gate, PROVIDERS[provider].pace, now)
        gate = spent(gate, PROVIDERS[provider].pace, now)
        took = latencies.choice((0.01, 0.2, 3.0))
        times.append(now + seconds(latencies.uniform(0, took)))
        now += seconds(took)
        gate = answered(gate, NotificationStatus.DELIVERED, now)
    return times


@pytest.mark.parametrize("seed", range(20))
def test_no_minute_has_more_than_twenty_messages_for_a_bot(seed: int) -> None:
    times = arrivals(ChannelProvider.BOT_CHAT, Random(seed))
    assert all(times[index + 20] - times[index] >= seconds(60) for index in range(len(times) - 20))


@pytest.mark.parametrize(
    ("provider", "window", "most"),
    [(ChannelProvider.CHAT_WEBHOOK, 10, 3 + 10), (ChannelProvider.WEBHOOK, 10, 10 + 100)],
)
def test_no_window_has_more_than_the_burst_and_the_rate(provider: ChannelProvider, window: float, most: int) -> None:
    now, gate, times = NOW, GATE, []
    for _ in range(300):
        now = opens_at(gate, PROVIDERS[provider].pace, now)
        gate = spent(gate, PROVIDERS[provider].pace, now)
        times.append(now)
    assert all(sum(time <= other < time + seconds(window) for other in times) <= most for time in times)


def test_a_limit_of_the_provider_closes_the_channel_for_as_long_as_it_says_up_to_an_hour() -> None:
    pace = PROVIDERS[ChannelProvider.CHAT_WEBHOOK].pace
    assert opens_at(limited(GATE, seconds(60), NOW), pace, NOW) == NOW + seconds(60)
    assert opens_at(limited(GATE, seconds(90_000), NOW), pace, NOW) == NOW + seconds(3600)
    assert opens_at(limited(GATE, None, NOW), pace, NOW) == NOW + seconds(5)


def test_five_failures_in_a_row_mean_one_message_a_minute_until_the_provider_answers() -> None:
    gate = GATE
    for _ in range(4):
        gate = failed(gate, NOW)
    assert (gate.is_probing, gate.not_before) == (False, None)
    gate = failed(gate, NOW)
    assert (gate.is_probing, gate.not_before) == (True, NOW + seconds(60))
    gate = answered(gate, NotificationStatus.FAILED, NOW)
    assert (gate.is_probing, gate.not_before) == (False, None)


def test_the_ceiling_of_single_messages_is_of_one_rule_and_one_hour() -> None:
    gate, pace = GATE, PROVIDERS[ChannelProvider.CHAT_WEBHOOK].pace
    for _ in range(MAX_SINGLE_MESSAGES):
        gate = spent(gate, pace, NOW, ["noisy"])
    assert is_over_the_ceiling(gate, ["quiet", "noisy"], NOW)
    assert not is_over_the_ceiling(gate, ["quiet"], NOW)
    assert not is_over_the_ceiling(gate, ["noisy"], NOW + seconds(3600))


def test_notifications_are_overdue_when_nobody_has_tried_them_for_five_minutes() -> None:
    waiting = replace(notification(), next_attempt_at=NOW)
    late = NOW + seconds(300)
    assert [is_overdue([waiting], GATE, now) for now in (late - seconds(1), late)] == [False, True]
    assert not is_overdue([waiting], limited(GATE, seconds(60), NOW), late)
    assert not is_overdue([waiting], spent(GATE, PROVIDERS[ChannelProvider.WEBHOOK].pace, NOW + seconds(60)), late)
    assert not is_overdue([], GATE, late)
