"""All tasks fail at once, for a chat and a bot, and run again later: python -m tests.bench.alert_storm [ALERTS]

The tasks are those of a hundred connectors. Reports go to the alert manager as from ticks, and workers send what it
queues. Prints how many reports it took until all was recorded and, in virtual time, when the first and the last digest
came. Exits with 1 when an alert is missing, a notification failed, an alert was said twice or never, a limit of a
provider was broken, or the first digest came later than after 60 seconds. It runs on DynamoDB Local.
"""

import sys
import time
from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from chalicelib.domain.alerts.alert import AlertStatus
from chalicelib.domain.alerts.channel import Channel, ChannelProvider
from chalicelib.domain.alerts.notification import NotificationStatus
from chalicelib.domain.alerts.rule import AlertRule
from chalicelib.domain.monitoring.condition import Condition, ConditionCode
from chalicelib.domain.monitoring.incident import origin_of
from chalicelib.domain.monitoring.report import REPORT_SECONDS, MonitorReport
from chalicelib.kit.clock import Deadline
from chalicelib.kit.ids import new_id
from chalicelib.stores.transaction import Transaction
from tests.bench.seeds import connector_names, pipeline_rows, resource_id
from tests.support.alerting.virtual import AlertingDriver, alerting_of
from tests.support.apps.dynamodb_local import app_on_dynamodb_local
from tests.support.apps.in_process_app import InProcessApp

ALERTS, CONNECTORS = 10_000, 100
FIRST_WITHIN_SECONDS = 60
RECORDED_WITHIN_SECONDS = 120
LONGEST_SECONDS = 3600
REPORT_EVERY_SECONDS = 10
LIMITS = {ChannelProvider.CHAT_WEBHOOK: {"per_second": 4}, ChannelProvider.BOT_CHAT: {"per_minute": 20}}
"""A burst of three and one more each second is what we send to a chat at most."""


def main() -> int:
    """Print the figures; 1 when one of them is wrong."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else ALERTS
    with app_on_dynamodb_local() as app, alerting_of(app) as alerting:
        conditions = _conditions(app, count)
        channels = [alerting.channel(provider, latency=0.2, **limits) for provider, limits in LIMITS.items()]
        _rule(app, channels)
        wrong = _storm(alerting, channels, conditions, count, "failures")
        wrong += _storm(alerting, channels, (), 2 * count, "failures and recoveries")
        found = Counter(alert.status for alert in app.services.stores.alerts.alerts.all())
    print(f"alerts at the end: {dict(found)}")
    return int(wrong > 0 or found != {AlertStatus.RESOLVED: count})


def _conditions(app: InProcessApp, count: int) -> list[Condition]:
    """A failed task for each alert."""
    names, source = connector_names(CONNECTORS), app.source()
    stores = app.services.stores
    with stores.resources.pipelines.table.batch_write() as batch:
        for row in pipeline_rows(
            stores.resources.pipelines, app.cluster.id, dict.fromkeys(names, "hash"), source_id=source.id
        ):
            batch.save(row)
    return [
        Condition(
            code=ConditionCode.CONNECT_TASK_FAILED,
            resource_type="pipeline",
            resource_id=resource_id(names[number % CONNECTORS]),
            connector_name=names[number % CONNECTORS],
            task_id=number // CONNECTORS,
            message="The task has failed.",
        )
        for number in range(count)
    ]


def _rule(app: InProcessApp, channels: Sequence[Channel]) -> None:
    """Everything goes to all channels."""
    now, transaction = app.clock(), Transaction()
    ids = tuple(channel.id for channel in channels)
    rule = AlertRule(id=new_id(), name="everything", channel_ids=ids, created_at=now, updated_at=now)
    app.services.stores.alerts.rules.put_new(transaction, rule)
    transaction.commit()


def _storm(
    alerting: AlertingDriver, channels: list[Channel], conditions: Sequence[Condition], count: int, what: str
) -> int:
    """Report until everything is recorded, while the workers send; then wait for the last message."""
    start, began, reports, recorded = alerting.now, time.monotonic(), 0, False
    bus, origin = alerting.app.services.alerting.bus, origin_of("connect_cluster", alerting.app.cluster.id)
    while not recorded and (alerting.now - start).total_seconds() < LONGEST_SECONDS:
        report = MonitorReport(origin=origin, at=alerting.now, conditions=tuple(conditions))
        recorded, reports = bus.publish(report, Deadline.after(REPORT_SECONDS)), reports + 1
        alerting.run(seconds=REPORT_EVERY_SECONDS)
    seconds = (alerting.now - start).total_seconds()
    print(f"{what}: recorded by {reports} reports, {seconds:.0f} s; {time.monotonic() - began:.0f} s of real time")
    return _sent(alerting, channels, count, what, start) + (seconds > RECORDED_WITHIN_SECONDS)


def _sent(alerting: AlertingDriver, channels: list[Channel], count: int, what: str, start: datetime) -> int:
    """Let time pass until nothing waits; returns how many figures are wrong."""
    began = time.monotonic()
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
    store = alerting.app.services.stores.alerts.notifications
    return any(store.open_of(channel.id, limit=1) for channel in channels)


if __name__ == "__main__":
    sys.exit(main())
