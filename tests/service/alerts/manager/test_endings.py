"""How alerts end, what comes late, and what changes nothing: the later rows of the transition table."""

from dataclasses import replace

from chalicelib.domain.alerts.alert import AlertStatus, Resolution
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.event_kind import EventKind
from chalicelib.domain.monitoring.condition import ConditionCode
from chalicelib.kit.clock import Deadline
from chalicelib.stores.alerts.counters import AlertCounters
from chalicelib.stores.destinations import Destinations
from chalicelib.stores.pipelines import Pipelines
from tests.support.alerting.manager import OTHER_DESTINATION, OTHER_PIPELINE, PIPELINE, Alerting, warning
from tests.support.stored import remove

FIRING, RESOLVED = AlertStatus.FIRING, AlertStatus.RESOLVED
CONNECTOR = f"hg-source-{PIPELINE}"


# row 13: what does not exist any more


def test_an_alert_about_a_deleted_resource_ends_with_a_message(alerting: Alerting) -> None:
    alerting.rule(alerting.channel())
    alerting.report(alerting.task_failed(), alerting.task_failed(pipeline=OTHER_PIPELINE))
    remove(Pipelines(), PIPELINE)
    alerting.report()
    by_pipeline = {alert.event.pipeline_id: alert for alert in alerting.alerts()}
    assert by_pipeline[PIPELINE].resolution is Resolution.ENTITY_REMOVED
    assert by_pipeline[OTHER_PIPELINE].resolution is Resolution.RECOVERED
    assert {row.content.pipeline_id for row in alerting.recoveries()} == {PIPELINE, OTHER_PIPELINE}


def test_an_alert_ends_with_its_incident_also_while_the_monitor_cannot_see_everything(alerting: Alerting) -> None:
    alerting.rule(alerting.channel())
    alerting.report(alerting.task_failed(), alerting.task_failed(pipeline=OTHER_PIPELINE))
    alerting.report(alerting.cluster_unavailable(), complete=False)
    remove(Pipelines(), PIPELINE)
    alerting.deleted.add(PIPELINE)
    alerting.report(alerting.cluster_unavailable(), complete=False)
    by_pipeline = {alert.event.pipeline_id: alert for alert in alerting.alerts()}
    assert by_pipeline[PIPELINE].resolution is Resolution.ENTITY_REMOVED
    assert (by_pipeline[OTHER_PIPELINE].status, by_pipeline[OTHER_PIPELINE].stale) == (FIRING, True)
    assert [row.content.pipeline_id for row in alerting.recoveries()] == [PIPELINE]


def test_an_empty_report_of_a_deleted_origin_ends_its_alerts(alerting: Alerting) -> None:
    failure = replace(
        alerting.source_failed(ConditionCode.DESTINATION_AUTH_FAILED),
        resource_type="destination",
        resource_id=OTHER_DESTINATION,
    )
    alerting.report(failure, origin=f"destination/{OTHER_DESTINATION}")
    remove(Destinations(), OTHER_DESTINATION)
    alerting.report(origin=f"destination/{OTHER_DESTINATION}")
    assert alerting.alert().resolution is Resolution.ENTITY_REMOVED


def test_a_task_that_does_not_exist_in_three_readings_in_a_row_is_gone(alerting: Alerting) -> None:
    alerting.rule(alerting.channel())
    alerting.report(alerting.task_failed(1), tasks={CONNECTOR: {0, 1}})
    for _ in range(2):
        report = alerting.report(tasks={CONNECTOR: {0}})
        assert alerting.receive(report)
    assert alerting.alert().status is FIRING
    alerting.report(tasks={CONNECTOR: {0}})
    assert alerting.alert().resolution is Resolution.ENTITY_REMOVED
    assert len(alerting.recoveries()) == 1


def test_a_task_that_comes_back_starts_the_readings_anew(alerting: Alerting) -> None:
    alerting.report(alerting.task_failed(1), tasks={CONNECTOR: {0, 1}})
    for _ in range(2):
        alerting.report(tasks={CONNECTOR: {0}})
    alerting.report(alerting.task_failed(1), tasks={CONNECTOR: {0, 1}})
    for _ in range(2):
        alerting.report(tasks={CONNECTOR: {0}})
    assert alerting.alert().status is FIRING
    alerting.report(tasks={CONNECTOR: {0, 1}})
    assert alerting.alert().resolution is Resolution.RECOVERED


# row 14: a monitor that cannot see


def test_a_monitor_that_sees_nothing_neither_resolves_nor_raises(failing: Alerting) -> None:
    for _ in range(3):
        failing.report(failing.cluster_unavailable(), complete=False)
    task, cluster = failing.alerts()
    assert (task.status, task.stale, task.occurrence_count) == (FIRING, True, 1)
    assert (cluster.kind, cluster.stale) == (EventKind.STREAM_CONNECT_UNAVAILABLE, False)
    failing.report(failing.task_failed())
    task, cluster = failing.alerts()
    assert (task.stale, task.status, cluster.status) == (False, FIRING, RESOLVED)


# rows 15 and 16: late and concurrent


def test_an_observation_that_is_older_than_the_recovery_is_ignored(failing: Alerting) -> None:
    late = failing.report_now(failing.task_failed())
    failing.report()
    assert failing.receive(late)
    assert [alert.status for alert in failing.alerts()] == [RESOLVED]


def test_a_healthy_report_that_is_older_than_the_last_failure_is_ignored(alerting: Alerting) -> None:
    alerting.report(alerting.task_failed())
    alerting.clock.advance(10)
    late = alerting.report_now()
    alerting.report(alerting.task_failed())
    assert alerting.receive(late)
    assert alerting.alert().status is FIRING


# row 17: flapping


def test_six_changes_in_half_an_hour_are_flapping_until_nothing_changes_for_half_an_hour(alerting: Alerting) -> None:
    for _ in range(2):
        alerting.report(alerting.task_failed())
        alerting.report()
    alerting.report(alerting.task_failed())
    assert not alerting.alert().flapping
    alerting.report()
    assert alerting.alert().flapping
    alerting.report(alerting.task_failed())
    alerting.report(alerting.task_failed(), after=1799)
    assert alerting.alert().flapping
    alerting.report(alerting.task_failed(), after=1)
    assert not alerting.alert().flapping


# row 18: configuration


def test_changes_of_rules_and_channels_change_no_alert(alerting: Alerting) -> None:
    alerting.report(alerting.task_failed())
    before = alerting.alert()
    rule = alerting.rule(alerting.channel())
    alerting.stores.rules.save_alone(replace(rule, enabled=False))
    assert alerting.alert() == before
    alerting.report(alerting.task_failed())
    assert (alerting.alert().status, alerting.rows()) == (FIRING, [])


# numbers


def test_each_episode_is_counted_once_by_severity_and_kind(alerting: Alerting) -> None:
    alerting.report(alerting.task_failed())
    alerting.report(alerting.task_failed())
    alerting.report()
    alerting.report(warning(alerting.task_failed()), alerting.connector_failed())
    numbers = AlertCounters.read().alerts
    assert numbers[AlertSeverity.CRITICAL, EventKind.CONNECT_TASK_FAILED] == 1
    assert numbers[AlertSeverity.WARNING, EventKind.CONNECT_TASK_FAILED] == 1
    assert sum(numbers.values()) == 3
    active = alerting.stores.alerts.facets(Deadline.after(5), only_active=True)
    assert {(facets.severity, facets.kind) for facets in active} == {
        (AlertSeverity.WARNING, EventKind.CONNECT_TASK_FAILED),
        (AlertSeverity.CRITICAL, EventKind.CONNECTOR_FAILED),
    }
