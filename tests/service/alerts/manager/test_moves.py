"""What becomes of alerts when monitors report: the transition table of the alerting contract, row by row."""

from dataclasses import replace
from datetime import timedelta

import pytest

from chalicelib.domain.alerts.alert import AlertStatus, Resolution
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.alerts.notification import MessageKind, NotificationStatus
from chalicelib.domain.alerts.transitions import acknowledged, silenced, unsilenced
from chalicelib.domain.event_kind import EventKind
from chalicelib.domain.monitoring.condition import ConditionCode
from chalicelib.kit.clock import Deadline
from tests.support.alerting.manager import (
    DELIVERY,
    DESTINATION,
    PIPELINE,
    PUBLIC_URL,
    SOURCE,
    SOURCE_ORIGIN,
    Alerting,
    warning,
)

ANN, BOB = "ann@example.com", "bob@example.com"
FIRING, ACKNOWLEDGED, SILENCED, RESOLVED = AlertStatus
CONNECTOR = f"hg-source-{PIPELINE}"


def acknowledge(alerting: Alerting, actor: str = ANN) -> None:
    alerting.change(acknowledged(alerting.alert(), actor, alerting.clock()))


def silence(alerting: Alerting, seconds: float | None = None) -> None:
    until = None if seconds is None else alerting.clock() + timedelta(seconds=seconds)
    alerting.change(silenced(alerting.alert(), ANN, until, "planned work", alerting.clock()))


def unsilence(alerting: Alerting) -> None:
    alerting.change(unsilenced(alerting.alert(), ANN, alerting.clock()))


# rows 1 and 2: observations


def test_a_failure_opens_one_alert_with_one_message_for_each_channel(alerting: Alerting) -> None:
    channel = alerting.channel(name="on call")
    rule = alerting.rule(channel)
    report = alerting.report(alerting.task_failed())
    (alert,), (row,) = alerting.alerts(), alerting.rows()
    assert (alert.status, alert.occurrence_count, alert.episode) == (FIRING, 1, 1)
    assert alert.first_seen_at == alert.last_seen_at == report.at
    assert (alert.event.emitter.name, alert.event.pipeline_name, alert.event.task_id) == ("shop", "orders", 0)
    assert (alert.event.source_id, alert.event.kind) == (SOURCE, EventKind.CONNECT_TASK_FAILED)
    assert [(entry.before, entry.after, entry.actor) for entry in alert.history] == [(None, FIRING, "system")]
    assert (row.alert_id, row.channel_name, row.rule_ids) == (alert.id, "on call", (rule.id,))
    assert (row.status, row.kind, row.next_attempt_at) == (NotificationStatus.QUEUED, MessageKind.FIRING, report.at)
    assert row.content.error == "Task 0 of the connector has failed."
    assert row.content.link == f"{PUBLIC_URL}/console#/alerts/{alert.id}"
    assert alerting.woken == [channel.id]


def test_the_same_failure_in_five_further_cycles_is_counted_and_sends_nothing(alerting: Alerting) -> None:
    alerting.rule(alerting.channel())
    first = alerting.report(alerting.task_failed())
    for _ in range(5):
        last = alerting.report(alerting.task_failed())
    (alert,) = alerting.alerts()
    assert (alert.occurrence_count, alert.first_seen_at, alert.last_seen_at) == (6, first.at, last.at)
    assert len(alerting.rows()) == 1


def test_a_report_that_comes_twice_counts_once(alerting: Alerting) -> None:
    alerting.rule(alerting.channel())
    report = alerting.report(alerting.task_failed())
    assert alerting.receive(report)
    assert alerting.alert().occurrence_count == 1
    again = alerting.report(alerting.task_failed())
    assert alerting.receive(again)
    assert alerting.receive(report)
    assert (alerting.alert().occurrence_count, len(alerting.alerts()), len(alerting.rows())) == (2, 1, 1)


def test_a_report_that_names_a_failure_twice_counts_it_once(alerting: Alerting) -> None:
    alerting.report(alerting.task_failed(), replace(alerting.task_failed(), message="Again."))
    assert [alert.occurrence_count for alert in alerting.alerts()] == [1]


def test_a_report_that_repeats_what_was_found_before_is_not_counted(alerting: Alerting) -> None:
    first = alerting.report(alerting.task_failed())
    before = alerting.alert()
    for _ in range(3):
        assert alerting.repeat(alerting.task_failed(), first.at)
    assert alerting.alert() == before


def test_a_report_that_repeats_something_is_counted_when_that_was_found_again_since(alerting: Alerting) -> None:
    first = alerting.report(alerting.task_failed())
    for _ in range(3):
        assert alerting.repeat(alerting.task_failed(), first.at + timedelta(seconds=30))
    assert alerting.alert().occurrence_count == 2


def test_a_report_that_repeats_something_still_tells_what_has_changed(alerting: Alerting) -> None:
    alerting.rule(alerting.channel())
    first = alerting.report(warning(alerting.task_failed()))
    assert alerting.repeat(alerting.task_failed(), first.at)
    alert = alerting.alert()
    assert (alert.severity, alert.occurrence_count, alert.last_seen_at) == (AlertSeverity.CRITICAL, 1, first.at)
    assert len(alerting.firing()) == 2


def test_a_report_that_repeats_something_notifies_after_a_silence_in_which_nothing_was_sent(alerting: Alerting) -> None:
    channel = alerting.channel()
    first = alerting.report(alerting.task_failed())
    silence(alerting, 30)
    alerting.rule(channel)
    assert alerting.repeat(alerting.task_failed(), first.at)
    assert alerting.repeat(alerting.task_failed(), first.at)
    assert (len(alerting.firing()), alerting.alert().status, alerting.alert().occurrence_count) == (1, FIRING, 1)


def test_an_alert_of_a_delivery_names_its_destination_and_its_pipeline(alerting: Alerting) -> None:
    alerting.report(alerting.task_failed(0, resource_type="delivery", resource_id=DELIVERY, connector_name="sink"))
    event = alerting.alert().event
    assert (event.emitter.type, event.emitter.name, event.destination_id) == ("destination", "warehouse", DESTINATION)
    assert (event.pipeline_name, event.source_id, event.delivery_id) == ("orders", SOURCE, DELIVERY)


def test_a_condition_of_a_resource_that_is_gone_raises_nothing(alerting: Alerting) -> None:
    alerting.report(alerting.task_failed(pipeline="gone"))
    assert alerting.alerts() == []


def test_two_conditions_with_one_fingerprint_are_one_alert_with_the_worse_severity(alerting: Alerting) -> None:
    drift = warning(replace(alerting.connector_failed(), code=ConditionCode.CONFIG_DRIFT))
    narrowed = replace(alerting.connector_failed(), code=ConditionCode.CAPTURE_NARROWED)
    alerting.report(drift, narrowed)
    alerting.report(drift, narrowed)
    (alert,) = alerting.alerts()
    assert (alert.kind, alert.severity, alert.occurrence_count) == (
        EventKind.PIPELINE_DEGRADED,
        AlertSeverity.CRITICAL,
        2,
    )


def test_an_alert_that_two_origins_name_stays_open_until_the_second_has_seen_it_end(alerting: Alerting) -> None:
    alerting.rule(alerting.channel())
    lost = replace(alerting.connector_failed(), code=ConditionCode.CHANGES_LOST)
    for _ in range(2):
        alerting.report(lost)
        alerting.report(lost, origin=SOURCE_ORIGIN)
    alerting.report()
    alerting.report(lost, origin=SOURCE_ORIGIN)
    (alert,) = alerting.active()
    alerting.report(origin=SOURCE_ORIGIN)
    assert alerting.alert().id == alert.id
    assert (alerting.active(), len(alerting.rows())) == ([], 2)


# rows 3 and 4: severity


@pytest.mark.parametrize("operator", [None, acknowledge])
def test_a_severity_that_is_raised_sends_one_message_more_and_keeps_the_state(
    alerting: Alerting, operator: object
) -> None:
    alerting.rule(alerting.channel())
    alerting.report(warning(alerting.task_failed()))
    if callable(operator):
        operator(alerting)
    status = alerting.alert().status
    for _ in range(3):
        alerting.report(alerting.task_failed())
    alert = alerting.alert()
    assert (alert.status, alert.severity, alert.max_severity) == (status, "critical", "critical")
    assert [row.content.severity for row in alerting.firing()] == ["warning", "critical"]
    assert alert.history[-1].reason == "severity raised from warning to critical"


def test_a_severity_that_is_raised_while_silenced_is_only_in_the_history(alerting: Alerting) -> None:
    alerting.rule(alerting.channel())
    alerting.report(warning(alerting.task_failed()))
    silence(alerting)
    alerting.report(alerting.task_failed())
    alert = alerting.alert()
    assert (alert.status, alert.max_severity, len(alerting.rows())) == (SILENCED, "critical", 1)
    assert "raised" in alert.history[-1].reason


def test_the_first_message_may_come_with_the_raise(alerting: Alerting) -> None:
    alerting.rule(alerting.channel(), severities=(AlertSeverity.CRITICAL,))
    alerting.report(warning(alerting.task_failed()))
    assert alerting.rows() == []
    alerting.report(alerting.task_failed())
    assert [row.alert_id for row in alerting.rows()] == [alerting.alert().id]


def test_a_severity_that_is_lowered_changes_the_alert_only(failing: Alerting) -> None:
    for condition in (warning(failing.task_failed()), failing.task_failed()):
        failing.report(condition)
    alert = failing.alert()
    assert (alert.severity, alert.max_severity, len(failing.rows())) == ("critical", "critical", 1)
    assert len(alert.history) == 1


# row 5: recovery


@pytest.mark.parametrize("operator", [None, acknowledge])
def test_a_recovery_resolves_and_sends_one_message_after_the_first(alerting: Alerting, operator: object) -> None:
    rule = alerting.rule(alerting.channel())
    alerting.report(alerting.task_failed())
    if callable(operator):
        operator(alerting)
    alerting.woken.clear()
    alerting.report(after=120)
    alert = alerting.alert()
    (firing,), (recovery,) = alerting.firing(), alerting.recoveries()
    assert (alert.status, alert.resolution, alert.recovery_seconds) == (RESOLVED, Resolution.RECOVERED, 120)
    assert alert.acknowledged_by == (ANN if operator else None)
    assert (recovery.after_id, recovery.channel_id, recovery.rule_ids) == (firing.id, firing.channel_id, (rule.id,))
    assert (recovery.content.recovery_seconds, recovery.content.at) == (120, alert.resolved_at)
    assert alerting.woken == [recovery.channel_id]


def test_a_silenced_alert_recovers_without_a_message_and_its_history_says_so(failing: Alerting) -> None:
    silence(failing)
    failing.report(failing.task_failed())
    failing.report()
    alert = failing.alert()
    assert (alert.status, alert.occurrence_count, failing.recoveries()) == (RESOLVED, 2, [])
    assert alert.history[-1].reason == "recovered; no message, because it was silenced"


def test_a_healthy_task_does_not_heal_its_connector(alerting: Alerting) -> None:
    alerting.report(alerting.task_failed(), alerting.connector_failed())
    alerting.report(alerting.connector_failed())
    assert [alert.kind for alert in alerting.active()] == [EventKind.CONNECTOR_FAILED]


# rows 9 to 12: what operators have decided


@pytest.mark.parametrize(("operator", "after"), [(None, FIRING), (acknowledge, ACKNOWLEDGED)])
def test_an_expired_silence_ends_with_the_next_report(failing: Alerting, operator: object, after: AlertStatus) -> None:
    failing.settle()
    if callable(operator):
        operator(failing)
    silence(failing, 600)
    failing.report(failing.task_failed(), after=599)
    assert failing.alert().status is SILENCED
    failing.report(failing.task_failed(), after=1)
    alert = failing.alert()
    assert (alert.status, alert.silenced_until, len(failing.rows())) == (after, None, 1)
    assert (alert.history[-1].actor, alert.history[-1].before) == ("system", SILENCED)


@pytest.mark.parametrize("ends", ["expired", "unsilenced"])
def test_a_silence_that_has_kept_back_the_only_message_is_followed_by_one_message(failing: Alerting, ends: str) -> None:
    silence(failing, 600)
    failing.settle(NotificationStatus.SUPPRESSED)
    failing.report(failing.task_failed())
    assert failing.alert().status is SILENCED
    if ends == "unsilenced":
        unsilence(failing)
    for _ in range(3):
        failing.report(failing.task_failed(), after=601)
    assert [row.status for row in failing.firing()] == ["suppressed", "queued"]
    failing.report()
    assert [row.after_id for row in failing.recoveries()] == [failing.firing()[-1].id]


@pytest.mark.parametrize("status", [NotificationStatus.QUEUED, NotificationStatus.DELIVERED, NotificationStatus.FAILED])
def test_nothing_is_sent_after_a_silence_if_somebody_was_notified_before(
    failing: Alerting, status: NotificationStatus
) -> None:
    if status is not NotificationStatus.QUEUED:
        failing.settle(status)
    silence(failing)
    failing.report(failing.task_failed())
    unsilence(failing)
    failing.report(failing.task_failed())
    assert len(failing.rows()) == 1


def test_who_has_acknowledged_hears_nothing_after_a_silence(failing: Alerting) -> None:
    acknowledge(failing)
    silence(failing, 60)
    failing.settle(NotificationStatus.SUPPRESSED)
    failing.report(failing.task_failed(), after=120)
    assert (failing.alert().status, len(failing.rows())) == (ACKNOWLEDGED, 1)


def test_a_recovery_of_what_was_never_sent_is_silent(failing: Alerting) -> None:
    silence(failing)
    failing.settle(NotificationStatus.SUPPRESSED)
    unsilence(failing)
    failing.report()
    assert (failing.alert().status, failing.recoveries()) == (RESOLVED, [])


def test_the_schedule_ends_expired_silences_only(alerting: Alerting) -> None:
    for task, seconds in ((0, 60), (1, 120), (2, None)):
        alerting.report(*(alerting.task_failed(number) for number in range(task + 1)), after=1)
        silence(alerting, seconds)
    alerting.clock.advance(58)
    assert alerting.manager.expire_silences(Deadline.after(5)) == 1
    assert alerting.manager.expire_silences(Deadline.after(5)) == 0
    assert [alert.status for alert in alerting.alerts()] == [FIRING, SILENCED, SILENCED]
    alerting.clock.advance(3600)
    assert alerting.manager.expire_silences(Deadline.after(0)) == 0
    assert alerting.manager.expire_silences(Deadline.after(5)) == 1
