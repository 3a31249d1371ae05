"""Two processes record reports of one origin at the same time: real incidents and the real alert manager."""

from datetime import datetime

from chalicelib.domain.monitoring.condition import Condition, ConditionCode
from chalicelib.domain.monitoring.report import MonitorReport
from chalicelib.kit.clock import Deadline
from chalicelib.stores.alerts.group import AlertStores
from tests.support.apps.call_interceptor import InterceptedCall, Point
from tests.support.apps.in_process_app import InProcessApp


def task_failed(pipeline_id: str) -> Condition:
    return Condition(
        code=ConditionCode.CONNECT_TASK_FAILED, resource_type="pipeline", resource_id=pipeline_id, task_id=0,
        connector_name=f"hg-source-{pipeline_id}", message="Task 0 has failed.",
    )  # fmt: skip


def unavailable(cluster_id: str, at: datetime) -> MonitorReport:
    """What a look says that has seen no connector."""
    away = Condition(
        code=ConditionCode.STREAM_CONNECT_UNAVAILABLE, resource_type="connect_cluster", resource_id=cluster_id,
        message="no answer",
    )  # fmt: skip
    looked_at = frozenset({cluster_id})
    return MonitorReport(origin=f"connect_cluster/{cluster_id}", at=at, conditions=(away,), looked_at=looked_at)


def publish_with(app: InProcessApp, report: MonitorReport, other: MonitorReport, at: int) -> bool:
    """Another process publishes the `other` one at this store call of the first; whether there was such a call."""
    bus = app.services.alerting.bus
    app.restart()
    faster = app.services.alerting.bus

    def mode(point: Point, call: InterceptedCall) -> object:
        if point.number == at:
            with app.interceptor.unrecorded():
                assert faster.publish(other, Deadline.after(60))
        return call()

    app.interceptor.watch(mode)
    assert bus.publish(report, Deadline.after(60))
    return len(app.interceptor.unwatch()) > at


def test_what_an_older_report_begins_is_not_ended_by_one_that_has_not_looked(app: InProcessApp) -> None:
    pipeline, cluster = app.pipeline(), app.cluster
    failed = MonitorReport(
        origin=f"connect_cluster/{cluster.id}", at=app.clock(), conditions=(task_failed(pipeline.id),)
    )
    app.clock.advance(10)
    away = unavailable(cluster.id, app.clock())
    before, call = app.snapshot(), 0
    while publish_with(app, away, failed, call):
        alerts = [alert for alert in AlertStores().alerts.all() if alert.event.task_id == 0]
        assert [alert.is_active for alert in alerts] == [True], f"at call {call}"
        app.restore(before)
        call += 1
    assert call > 0
