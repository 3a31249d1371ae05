"""Everything that a notification may meet, at random, for hours of virtual time; then all of them have ended."""

from collections import Counter
from random import Random

import pytest

from chalicelib.domain.alerts.channel import ChannelProvider
from chalicelib.domain.alerts.notification import MAX_ATTEMPTS, NotificationStatus
from chalicelib.stores.alerts.counters import AlertCounters
from tests.support.alerting.scripted_provider import status
from tests.support.alerting.virtual import AlertingDriver

DELIVERED, FAILED = NotificationStatus.DELIVERED, NotificationStatus.FAILED


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(3))
def test_whatever_happens_every_notification_ends_and_the_counters_equal_the_rows(
    alerting: AlertingDriver, seed: int
) -> None:
    random = Random(seed)
    channels = [alerting.channel(provider, latency=0.5) for provider in ChannelProvider]
    for _ in range(25):
        for channel in channels:
            provider = alerting.provider(channel)
            faults = [500, 401, status(429, retry_after=20), provider.hang, provider.crash_before, provider.crash_after]
            provider.answers(*random.choices([200, *faults], [12, 3, 1, 1, 1, 1, 1], k=2))
            row = alerting.queue_message(channel, wakes=random.random() < 0.8)
            if random.random() < 0.3:
                alerting.queue_message(channel, after=row, wakes=random.random() < 0.8)
            if random.random() < 0.1:
                alerting.silence(row.alert_id, seconds=60)
        alerting.run(seconds=random.choice([1, 10, 60]))
    alerting.run(seconds=1800)
    rows = alerting.rows()
    assert not [row for row in rows if row.status.is_open]
    assert all(row.attempts <= MAX_ATTEMPTS for row in rows)
    ended = Counter((row.provider, row.status) for row in rows if row.status in (DELIVERED, FAILED))
    counted = {labels: times.count for labels, times in AlertCounters.read().deliveries.items() if times.count}
    assert counted == dict(ended)
    sent = {message.delivery_id for channel in channels for message in alerting.provider(channel).messages}
    assert {row.digest_id or row.id for row in rows if row.status is DELIVERED} <= sent
