"""In a storm the cause has a message and what it causes has none; nothing is lost when the cause is over."""

from dataclasses import replace

import pytest

from chalicelib.domain.alerts.alert import Alert, AlertStatus
from chalicelib.domain.alerts.notification import NotificationStatus
from chalicelib.domain.alerts.transitions import acknowledged, silenced
from chalicelib.domain.event_kind import EventKind
from chalicelib.domain.monitoring.condition import Condition, ConditionCode
from tests.support.alerting.manager import SOURCE_ORIGIN, Alerting, warning

SUPPRESSED, QUEUED = NotificationStatus.SUPPRESSED, NotificationStatus.QUEUED


def tasks(alerting: Alerting, count: int) -> list[Condition]:
    return [alerting.task_failed(number) for number in range(count)]


@pytest.fixture
def storm(alerting: Alerting) -> Alerting:
    """Alerting to which a connector and eleven of its tasks were reported."""
    alerting.rule(alerting.channel())
    alerting.report(*tasks(alerting, 11), alerting.connector_failed())
    return alerting


def parent(alerting: Alerting) -> Alert:
    (cause,) = (alert for alert in alerting.alerts() if alert.kind is EventKind.CONNECTOR_FAILED)
    return cause


def test_more_than_ten_children_are_muted_by_their_cause(storm: Alerting) -> None:
    cause = parent(storm)
    (message,) = (row for row in storm.rows() if row.status is QUEUED)
    muted = [row for row in storm.rows() if row.status is SUPPRESSED]
    assert (message.alert_id, message.content.affected) == (cause.id, 11)
    assert (len(muted), {row.reason for row in muted}) == (11, {"inhibited_by"})
    assert {alert.inhibited_by for alert in storm.active() if alert.id != cause.id} == {cause.id}
    assert {alert.status for alert in storm.alerts()} == {AlertStatus.FIRING}


def test_children_that_come_while_the_cause_is_active_are_muted_too(alerting: Alerting) -> None:
    alerting.rule(alerting.channel())
    alerting.report(alerting.connector_failed())
    alerting.report(*tasks(alerting, 12), alerting.connector_failed())
    assert [row.status for row in alerting.rows()].count(QUEUED) == 1


def test_a_cause_of_another_origin_mutes(alerting: Alerting) -> None:
    alerting.rule(alerting.channel())
    alerting.report(alerting.source_failed(), origin=SOURCE_ORIGIN)
    alerting.report(*(replace(task, code=ConditionCode.CDC_REPLICATION_SLOT_ERROR) for task in tasks(alerting, 11)))
    assert [row.status for row in alerting.rows()].count(QUEUED) == 1
    (cause,) = (alert for alert in alerting.alerts() if alert.origin == SOURCE_ORIGIN)
    assert {alert.inhibited_by for alert in alerting.alerts() if alert.id != cause.id} == {cause.id}


def test_a_channel_that_does_not_hear_of_the_cause_gets_the_children(alerting: Alerting) -> None:
    alerting.rule(alerting.channel(name="causes"), event_types=(EventKind.CONNECTOR_FAILED,))
    alerting.rule(alerting.channel(name="tasks"), event_types=(EventKind.CONNECT_TASK_FAILED,))
    alerting.report(*tasks(alerting, 11), alerting.connector_failed())
    queued = [row.channel_name for row in alerting.rows() if row.status is QUEUED]
    assert (queued.count("causes"), queued.count("tasks")) == (1, 11)


def test_muted_children_recover_silently(storm: Alerting) -> None:
    storm.report()
    assert {alert.status for alert in storm.alerts()} == {AlertStatus.RESOLVED}
    assert [row.alert_id for row in storm.recoveries()] == [parent(storm).id]


def test_a_child_that_still_fails_after_two_further_reports_has_its_own_message(storm: Alerting) -> None:
    storm.settle()
    for expected in (0, 0, 11, 11):
        storm.report(*tasks(storm, 11))
        assert [row.status for row in storm.firing()].count(QUEUED) == expected
    assert {alert.inhibited_by for alert in storm.alerts()} == {None}
    storm.report()
    assert len(storm.recoveries()) == 12
    assert {row.after_id for row in storm.recoveries()} <= {row.id for row in storm.firing()}


def test_a_cause_that_comes_back_keeps_its_children_muted(alerting: Alerting) -> None:
    alerting.rule(alerting.channel(), cooldown_seconds=0)
    alerting.report(*tasks(alerting, 11), alerting.connector_failed())
    alerting.settle()
    for named in (False, False, True, False, False):
        alerting.report(*tasks(alerting, 11), *([alerting.connector_failed()] if named else []))
    queued = [row.content.event for row in alerting.firing() if row.status is QUEUED]
    assert queued == [EventKind.CONNECTOR_FAILED]
    alerting.report(*tasks(alerting, 11))
    assert [row.status for row in alerting.firing()].count(QUEUED) == 12


@pytest.mark.parametrize("move", [acknowledged, silenced])
def test_a_child_that_somebody_deals_with_stays_quiet_after_the_cause(storm: Alerting, move: object) -> None:
    storm.settle()
    for alert in storm.active():
        rest = () if move is acknowledged else (None, None)
        storm.change(move(alert, "a@example.com", *rest, storm.clock()))  # type: ignore[operator]
    for _ in range(4):
        storm.report(*tasks(storm, 11))
    assert QUEUED not in {row.status for row in storm.firing()}


def test_a_raise_is_muted_as_long_as_the_cause_is_active(alerting: Alerting) -> None:
    alerting.rule(alerting.channel())
    alerting.report(*map(warning, tasks(alerting, 11)), alerting.connector_failed())
    alerting.report(*tasks(alerting, 11), alerting.connector_failed())
    rows = alerting.firing()
    assert ([row.status for row in rows].count(QUEUED), len(rows)) == (1, 23)


def test_lost_changes_are_not_muted_by_an_unreachable_source(alerting: Alerting) -> None:
    alerting.rule(alerting.channel())
    lost = [
        replace(alerting.connector_failed(), code=ConditionCode.CHANGES_LOST, connector_name=f"connector {number}")
        for number in range(11)
    ]
    failed = [
        replace(condition, code=ConditionCode.PIPELINE_FAILED, connector_name=f"{condition.connector_name} b")
        for condition in lost
    ]
    alerting.report(alerting.source_failed(), *lost, *failed, origin=SOURCE_ORIGIN)
    assert [row.status for row in alerting.rows()].count(QUEUED) == 12
