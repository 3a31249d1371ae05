"""Reports that no look makes: failed operations, and origins that do not exist any more."""

from dataclasses import replace

import pytest

from chalicelib.domain.alerts.alert import Alert
from chalicelib.domain.alerts.event import AlertEvent, Emitter
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.event_kind import EventKind
from chalicelib.errors import HeadgateError
from chalicelib.kit.ids import new_id
from chalicelib.stores.transaction import Transaction
from tests.support.alerting.recording_bus import RecordingBus
from tests.support.apps.in_process_app import InProcessApp


@pytest.fixture
def bus(app: InProcessApp) -> RecordingBus:
    """Keeps what is reported."""
    bus = RecordingBus()
    app.services.monitor_reports = replace(app.services.monitor_reports, bus=bus)
    return bus


def put_alert(app: InProcessApp, origin: str) -> None:
    """An active alert of this origin."""
    event = AlertEvent(
        kind=EventKind.SOURCE_CONNECTION_FAILED,
        severity=AlertSeverity.CRITICAL,
        emitter=Emitter(type="source", id=new_id(), name="orders"),
        error="It cannot be reached.",
        hint=None,
        condition_key="key",
    )
    now, transaction = app.clock.now, Transaction()
    alert = Alert(
        id=new_id(), fingerprint=new_id(), origin=origin, event=event, max_severity=event.severity,
        first_seen_at=now, last_seen_at=now, created_at=now,
    )  # fmt: skip
    app.services.stores.alerts.alerts.put_new(transaction, alert)
    transaction.commit()


def test_a_failed_operation_has_an_alert_until_one_succeeds(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    with app.connect_down(), pytest.raises(HeadgateError):
        app.services.pipelines.pause(app.context(), pipeline.id)
    found = []
    for _ in range(2):
        app.clock.advance(60)
        assert app.services.monitor_reports.publish_operations() == 1
        (alert,) = app.services.stores.alerts.alerts.all()
        found.append((alert.kind, alert.is_active, alert.occurrence_count))
    app.services.pipelines.pause(app.context(), pipeline.id)
    app.clock.advance(60)
    app.services.monitor_reports.publish_operations()
    (alert,) = app.services.stores.alerts.alerts.all()
    assert found == [(EventKind.PIPELINE_FAILED, True, 1)] * 2
    assert not alert.is_active


def test_alerts_of_what_was_deleted_get_a_report_that_nothing_is_wrong(app: InProcessApp, bus: RecordingBus) -> None:
    gone = [f"{kind}/{new_id()}" for kind in ("source", "destination", "connect_cluster")]
    for origin in (*gone, f"source/{app.source().id}", f"connect_cluster/{app.cluster.id}", "operations"):
        put_alert(app, origin)
    assert app.services.monitor_reports.publish_removed() == 3
    assert sorted(report.origin for report in bus.reports) == sorted(gone)
    assert bus.codes == [[], [], []]


def test_without_alerts_nothing_is_reported_as_removed(app: InProcessApp, bus: RecordingBus) -> None:
    assert app.services.monitor_reports.publish_removed() == 0
    assert bus.reports == []
