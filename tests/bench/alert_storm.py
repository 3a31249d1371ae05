"""All tasks fail at once, for a chat and a bot, and run again later: python -m tests.bench.alert_storm [ALERTS]

Prints, in virtual time, when the first and the last digest came, and exits with 1 when a notification failed, an alert
was said twice or never, a limit of a provider was broken, or the first digest came later than after 60 seconds. It runs
on DynamoDB Local.
"""

import sys
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from chalicelib.domain.alerts.alert import Alert, AlertStatus
from chalicelib.domain.alerts.channel import Channel, ChannelProvider
from chalicelib.domain.alerts.notification import Notification, NotificationStatus
from tests.bench.storm import app_on_dynamodb_local
from tests.support.alerting import AlertingDriver, alerting_of

ALERTS = 10_000
FIRST_WITHIN_SECONDS = 60
LONGEST_SECONDS = 3600
LIMITS = {ChannelProvider.CHAT_WEBHOOK: {"per_second": 4}, ChannelProvider.BOT_CHAT: {"per_minute": 20}}
"""A burst of three and one more each second is what we send to a chat at most."""


def main() -> int:
    """Print the figures; 1 when one of them is wrong."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else ALERTS
    with app_on_dynamodb_local() as app, alerting_of(app) as alerting:
        channels = [alerting.channel(provider, latency=0.2, **limits) for provider, limits in LIMITS.items()]
        alerts = [alerting.new_alert() for _ in range(count)]
        _store(alerting.app.services.stores.alerts, alerts)
        firing = {channel.id: _queue(alerting, channel, alerts, {}) for channel in channels}
        wrong = _sent(alerting, channels, count, "failures")
        ended = [replace(one, status=AlertStatus.RESOLVED, resolved_at=alerting.now, revision=2) for one in alerts]
        _store(alerting.app.services.stores.alerts, ended)
        for channel in channels:
            _queue(alerting, channel, ended, {row.alert_id: row for row in firing[channel.id]})
        return int(wrong + _sent(alerting, channels, 2 * count, "failures and recoveries") > 0)


def _queue(
    alerting: AlertingDriver, channel: Channel, alerts: Iterable[Alert], after: dict[str, Notification]
) -> list[Notification]:
    rows = [alerting.new_row(channel, alert, after.get(alert.id)) for alert in alerts]
    _store(alerting.app.services.stores.notifications, rows)
    alerting.wake(channel)
    return rows


def _store(store: object, entities: Iterable[object]) -> None:
    with store.table.batch_write() as batch:  # type: ignore[attr-defined]
        for entity in entities:
            batch.save(store._row(entity, "bench"))  # type: ignore[attr-defined]


def _sent(alerting: AlertingDriver, channels: list[Channel], count: int, what: str) -> int:
    """Let time pass until nothing waits; returns how many figures are wrong."""
    start, began = alerting.now, time.monotonic()
    while (alerting.now - start).total_seconds() < LONGEST_SECONDS and _waiting(alerting, channels):
        alerting.run(seconds=30)
    wrong = 0
    for channel in channels:
        provider = alerting.provider(channel)
        times = [(one.at - start).total_seconds() for one in provider.received if one.at >= start]
        said = Counter(line.content.kind + line.content.alert_id for one in provider.messages for line in one.lines)
        statuses = Counter(row.status for row in alerting.rows(channel))
        print(
            f"{what}, {channel.provider}: {len(times)} messages, the first after {times[0]:.0f} s, the last after"
            f" {times[-1]:.0f} s; {len(said):,} said, {sum(said.values()) - len(said)} of them twice;"
            f" {dict(statuses)}; {provider.too_fast} came too fast"
        )
        wrong += times[0] > FIRST_WITHIN_SECONDS
        wrong += statuses != {NotificationStatus.DELIVERED: count} or len(said) != count
        wrong += sum(said.values()) != len(said) or provider.too_fast > 0
    print(f"{time.monotonic() - began:.0f} s of real time")
    return wrong


def _waiting(alerting: AlertingDriver, channels: list[Channel]) -> bool:
    store = alerting.app.services.stores.notifications
    return any(store.open_of(channel.id, limit=1) for channel in channels)


if __name__ == "__main__":
    sys.exit(main())
