"""The text of `/metrics`, read as Prometheus reads it."""

from datetime import timedelta

import pytest

from chalicelib.domain.alerts.alert import AlertStatus
from chalicelib.domain.alerts.channel import ChannelProvider
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.alerts.notification import NotificationStatus
from chalicelib.domain.event_kind import EventKind
from chalicelib.domain.health import HealthStatus
from chalicelib.domain.observation import ObservedState
from chalicelib.kit.clock import Deadline
from chalicelib.services.alerts.channel_states import CHANNEL_STATUSES
from chalicelib.stores.alerts.counters import AlertCounters
from chalicelib.stores.transaction import Transaction
from tests.support.alerting.exposition import Metric, read_exposition
from tests.support.alerting.rows import an_alert, an_event, put_alerts, random_alerts, stored
from tests.support.alerting.scripted_provider import status
from tests.support.alerting.virtual import AlertingDriver
from tests.support.apps.in_process_app import START_TIME, InProcessApp
from tests.support.apps.source_looks import GB, keep, look

PROVIDERS = tuple(provider.value for provider in ChannelProvider)


def read(app: InProcessApp) -> dict[str, Metric]:
    return read_exposition(app.services.metrics.text(Deadline.after(600)))


def ended(provider: ChannelProvider, status: NotificationStatus, seconds: float) -> None:
    transaction = Transaction()
    AlertCounters.notification_ended(transaction, provider, status, seconds)
    transaction.commit()


def test_every_series_exists_from_the_beginning_with_0(app: InProcessApp) -> None:
    metrics = read(app)
    assert {name: (metric.type, len(metric.samples)) for name, metric in metrics.items()} == {
        "headgate_pipelines": ("gauge", len(ObservedState)),
        "headgate_deliveries": ("gauge", len(ObservedState)),
        "headgate_connect_clusters": ("gauge", len(HealthStatus)),
        "headgate_tick_age_seconds": ("gauge", 1),
        "headgate_alerts_active": ("gauge", 69),
        "headgate_alerts_total": ("counter", 69),
        "headgate_notifications_sent_total": ("counter", 3),
        "headgate_notifications_failed_total": ("counter", 3),
        "headgate_notification_delivery_seconds": ("histogram", 3 * 2 * (11 + 2)),
        "headgate_notification_channels": ("gauge", 3 * 4),
        "headgate_notifications_waiting_seconds": ("gauge", 3),
        "headgate_notification_channels_overdue": ("gauge", 3),
    }
    assert {value for metric in metrics.values() for value in metric.samples.values()} == {0}


def test_the_age_of_ticks_is_that_of_the_cluster_that_was_not_looked_at_for_longest(app: InProcessApp) -> None:
    app.tick()
    other = app.register_connect("http://other.example.com:8083")
    app.tick(other, after=70)
    app.clock.advance(5)
    assert read(app)["headgate_tick_age_seconds"].value() == 75


def test_pipelines_deliveries_and_clusters_are_counted_by_what_was_observed(app: InProcessApp) -> None:
    app.pipeline()
    pipeline = app.deployed_pipeline()
    delivery = app.services.deliveries.deploy(app.context(), app.destination().id, app.delivery_input(pipeline))
    app.tick()
    app.connect.fail_task(delivery.connector_name, "java.lang.OutOfMemoryError: Java heap space")
    app.tick()
    metrics, overview = read(app), app.services.overview.read()
    for name, counts in (
        ("headgate_pipelines", overview.pipelines),
        ("headgate_deliveries", overview.deliveries),
        ("headgate_connect_clusters", overview.connect_clusters),
    ):
        assert {state: metrics[name].value(status=state) for state in counts} == dict(counts)
    assert {state: number for state, number in overview.pipelines.items() if number} == {
        "RUNNING": 1,
        "NOT_DEPLOYED": 1,
    }
    assert metrics["headgate_deliveries"].value(status="FAILED") == 1
    assert metrics["headgate_connect_clusters"].value(status="HEALTHY") == 1


def test_the_most_that_a_source_keeps_of_its_log_is_left_out_until_it_is_known(app: InProcessApp) -> None:
    """As of the last count of the schedule."""
    name, pipelines = "headgate_source_log_retained_bytes_max", [app.deployed_pipeline(), app.deployed_pipeline()]
    app.services.overview.count()
    assert name not in read(app)
    for pipeline, gigabytes in zip(pipelines, (3, 2), strict=True):
        app.tick()
        keep(app, pipeline, retained_bytes=gigabytes * GB)
        look(app, pipeline)
    app.services.overview.count()
    assert read(app)[name].value() == 3 * GB
    app.clock.advance(360)
    assert name not in read(app)


def test_the_buckets_are_those_of_the_contract(app: InProcessApp) -> None:
    metric = read(app)["headgate_notification_delivery_seconds"]
    bounds = {float(dict(labels)["le"]) for name, labels in metric.samples if name.endswith("_bucket")}
    assert (min(bounds), sorted(bounds)[-2], max(bounds)) == (0.1, 120, float("inf"))
    statuses = {dict(labels)["status"] for _, labels in metric.samples}
    assert statuses == {"delivered", "failed"}


def test_active_alerts_are_counted_by_severity_and_kind(app: InProcessApp) -> None:
    stored(app, an_alert(1))
    stored(app, an_alert(2))
    stored(app, an_alert(3, event=an_event(severity=AlertSeverity.WARNING, task_id=3)))
    stored(app, an_alert(4, status=AlertStatus.RESOLVED, resolved_at=START_TIME))
    metric = read(app)["headgate_alerts_active"]
    assert metric.value(severity="critical", event_type="CONNECT_TASK_FAILED") == 2
    assert metric.value(severity="warning", event_type="CONNECT_TASK_FAILED") == 1
    assert sum(metric.samples.values()) == 3


def test_counters_are_those_of_the_store_whatever_process_reads_them(app: InProcessApp) -> None:
    transaction = Transaction()
    AlertCounters.alert_opened(transaction, AlertSeverity.INFO, EventKind.PIPELINE_DEGRADED)
    transaction.commit()
    ended(ChannelProvider.WEBHOOK, NotificationStatus.DELIVERED, 0.2)
    ended(ChannelProvider.WEBHOOK, NotificationStatus.DELIVERED, 100.25)
    ended(ChannelProvider.BOT_CHAT, NotificationStatus.FAILED, 155)
    app.restart()
    metrics = read(app)
    assert metrics["headgate_alerts_total"].value(severity="info", event_type="PIPELINE_DEGRADED") == 1
    sent, failed = metrics["headgate_notifications_sent_total"], metrics["headgate_notifications_failed_total"]
    assert [sent.value(provider=provider) for provider in PROVIDERS] == [0, 0, 2]
    assert [failed.value(provider=provider) for provider in PROVIDERS] == [0, 1, 0]
    times = metrics["headgate_notification_delivery_seconds"]
    delivered = {"provider": "webhook", "status": "delivered"}
    assert times.value("_sum", **delivered) == pytest.approx(100.45)
    assert times.value("_count", **delivered) == 2
    counts = [times.value("_bucket", **delivered, le=bound) for bound in ("0.1", "0.25", "60", "120", "+Inf")]
    assert counts == [0, 1, 1, 2, 2]
    given_up = {"provider": "bot-chat", "status": "failed"}
    assert [times.value("_bucket", **given_up, le=bound) for bound in ("120", "+Inf")] == [0, 1]


def test_channels_are_counted_by_how_they_send_and_the_oldest_message_that_waits_has_an_age(
    app: InProcessApp, alerting: AlertingDriver
) -> None:
    good, disabled = alerting.channel(), alerting.channel(enabled=False)
    limited, down = alerting.channel(), alerting.channel(ChannelProvider.WEBHOOK)
    alerting.provider(limited).answers(status(429, retry_after=600))
    alerting.provider(down).always = lambda _: status(503)
    for channel in (good, limited):
        alerting.queue_message(channel)
    alerting.queue_messages(down, 5)
    alerting.run(seconds=120)
    alerting.queue_message(limited, severity=AlertSeverity.WARNING)
    assert disabled.provider is good.provider is limited.provider is ChannelProvider.CHAT_WEBHOOK
    metrics, channels = read(app), app.services.alerting.channels
    seen = [channels.state(channel) for channel in (good, limited, down, disabled)]
    assert [state.status for state in seen] == ["open", "limited", "down", "disabled"]
    assert [state.waiting_seconds for state in seen[:2]] == [None, 120]
    states = metrics["headgate_notification_channels"]
    found = {state: states.value(provider="chat-webhook", status=state) for state in CHANNEL_STATUSES}
    assert found == {"open": 1, "limited": 1, "down": 0, "disabled": 1}
    assert states.value(provider="webhook", status="down") == 1
    waiting = metrics["headgate_notifications_waiting_seconds"]
    assert [waiting.value(provider=provider) for provider in ("chat-webhook", "bot-chat")] == [120, 0]
    alerting.run(seconds=900)
    assert read(app)["headgate_notifications_waiting_seconds"].value(provider="chat-webhook") == 0


def test_a_channel_is_overdue_when_no_worker_has_tried_for_minutes_what_is_due(
    app: InProcessApp, alerting: AlertingDriver
) -> None:
    idle, limited = alerting.channel(), alerting.channel()
    alerting.provider(limited).answers(status(429, retry_after=3600))
    alerting.queue_message(limited)
    alerting.run(seconds=10)
    alerting.queue_message(idle, wakes=False)
    alerting.queue_message(limited)
    counts = []
    for seconds in (299, 1):
        alerting.time.clock.advance(seconds)
        counts.append(read(app)["headgate_notification_channels_overdue"].value(provider="chat-webhook"))
    assert counts == [0, 1]


def test_the_labels_stay_the_same_whatever_happens(app: InProcessApp) -> None:
    before = {key for metric in read(app).values() for key in metric.samples}
    put_alerts(app, random_alerts(60, seed=1))
    for provider in ChannelProvider:
        ended(provider, NotificationStatus.FAILED, timedelta(days=30).total_seconds())
    assert {key for metric in read(app).values() for key in metric.samples} == before


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("# HELP a_total x\n# TYPE a_total counter\na_total 1", "no end"),
        ("# HELP a x\n# TYPE a counter\na 1\n", "is a counter"),
        ("# HELP a_total x\n# TYPE a_total gauge\na_total 1\n", "is a gauge"),
        ("# HELP a x\n# TYPE a gauge\na 1\n# HELP a x\n# TYPE a gauge\na 1\n", "twice"),
        ('# HELP a x\n# TYPE a gauge\na{b="1"} 1\na{b="1"} 2\n', "twice"),
        ("# HELP a x\na 1\n", "is a "),
        ("# HELP a x\n# TYPE a gauge\na one\n", "a one"),
        (
            '# HELP a x\n# TYPE a histogram\na_bucket{le="1"} 2\na_bucket{le="+Inf"} 1\na_sum 1\na_count 1\n',
            "cumulative",
        ),
        ('# HELP a x\n# TYPE a histogram\na_bucket{le="1"} 2\na_sum 1\na_count 2\n', "for everything"),
    ],
)
def test_the_reader_refuses_what_prometheus_would_refuse(text: str, problem: str) -> None:
    with pytest.raises(AssertionError, match=problem):
        read_exposition(text)
