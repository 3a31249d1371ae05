"""One cause is one message, in whatever order it and its consequences are found; who is told of what still fires."""

from dataclasses import replace

import pytest

from chalicelib.domain.alerts.alert import Alert
from chalicelib.domain.alerts.cooldown import NotSentReason
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.alerts.notification import NotificationStatus
from chalicelib.domain.event_kind import EventKind
from chalicelib.domain.monitoring.condition import Condition, ConditionCode
from tests.support.alerting.manager import DELIVERY, DESTINATION, SOURCE_ORIGIN, Alerting, warning

DESTINATION_ORIGIN = f"destination/{DESTINATION}"


@pytest.fixture
def told(alerting: Alerting) -> Alerting:
    """Alerting with a rule that sends everything to one channel."""
    alerting.rule(alerting.channel())
    return alerting


def sent(alerting: Alerting) -> list[EventKind]:
    """The kinds of the firing messages that were sent, in their order."""
    return [row.content.event for row in alerting.firing() if row.status is not NotificationStatus.SUPPRESSED]


def sink_failed(alerting: Alerting) -> Condition:
    return alerting.task_failed(resource_type="delivery", resource_id=DELIVERY, connector_name="hg-sink")


def target_away() -> Condition:
    return Condition(
        code=ConditionCode.DESTINATION_CONNECTION_FAILED,
        resource_type="destination",
        resource_id=DESTINATION,
        message="no answer",
    )


def of_kind(alerting: Alerting, kind: EventKind) -> Alert:
    (found,) = (alert for alert in alerting.alerts() if alert.kind is kind)
    return found


def test_a_failed_task_is_muted_by_its_source_that_is_away(told: Alerting) -> None:
    told.report(told.source_failed(), origin=SOURCE_ORIGIN)
    told.report(told.task_failed())
    assert sent(told) == [EventKind.SOURCE_DATABASE_UNAVAILABLE]
    task = of_kind(told, EventKind.CONNECT_TASK_FAILED)
    assert (task.inhibited_by, task.not_sent) == (told.alerts()[0].id, NotSentReason.INHIBITED)
    assert not task.notified


def test_a_source_that_is_found_away_after_its_task_has_failed_is_no_second_message(told: Alerting) -> None:
    told.report(told.task_failed())
    told.report(told.source_failed(), origin=SOURCE_ORIGIN)
    told.report(told.task_failed())
    assert sent(told) == [EventKind.CONNECT_TASK_FAILED]
    source = of_kind(told, EventKind.SOURCE_DATABASE_UNAVAILABLE)
    assert source.inhibited_by == of_kind(told, EventKind.CONNECT_TASK_FAILED).id


def test_a_cause_that_outlives_the_consequence_that_was_sent_has_its_own_message(told: Alerting) -> None:
    told.report(told.task_failed())
    told.report(told.source_failed(), origin=SOURCE_ORIGIN)
    told.report()
    for _ in range(3):
        told.report(told.source_failed(), origin=SOURCE_ORIGIN)
    assert sent(told) == [EventKind.CONNECT_TASK_FAILED, EventKind.SOURCE_DATABASE_UNAVAILABLE]


def test_a_failed_sink_and_its_destination_are_one_message(told: Alerting) -> None:
    told.report(target_away(), origin=DESTINATION_ORIGIN)
    lag = replace(sink_failed(told), code=ConditionCode.PIPELINE_LAG_HIGH, task_id=None)
    told.report(sink_failed(told), warning(lag))
    assert sent(told) == [EventKind.DESTINATION_CONNECTION_FAILED]


def test_a_lost_slot_is_one_message(told: Alerting) -> None:
    slot = told.task_failed(code=ConditionCode.CDC_REPLICATION_SLOT_ERROR)
    found = replace(slot, connector_name=None, task_id=None)
    told.report(slot)
    told.report(found, replace(found, code=ConditionCode.CHANGES_LOST), origin=SOURCE_ORIGIN)
    assert sent(told) == [EventKind.CDC_REPLICATION_SLOT_ERROR]


def test_that_changes_are_lost_is_said_also_after_a_standstill(told: Alerting) -> None:
    standstill = told.task_failed(code=ConditionCode.STALLED, task_id=None)
    told.report(standstill)
    told.report(replace(standstill, code=ConditionCode.CHANGES_LOST, connector_name=None), origin=SOURCE_ORIGIN)
    assert sent(told) == [EventKind.PIPELINE_NO_EVENTS, EventKind.PIPELINE_FAILED]


def test_nothing_mutes_what_is_worse_than_itself(told: Alerting) -> None:
    told.report(warning(told.source_failed()), origin=SOURCE_ORIGIN)
    told.report(told.task_failed())
    assert sent(told) == [EventKind.SOURCE_DATABASE_UNAVAILABLE, EventKind.CONNECT_TASK_FAILED]


def test_the_first_channel_of_a_rule_is_told_of_what_still_fires(alerting: Alerting) -> None:
    rule = alerting.rule(severities=(AlertSeverity.CRITICAL,))
    alerting.report(alerting.task_failed(0), warning(alerting.task_failed(1)))
    assert {alert.not_sent for alert in alerting.alerts()} == {NotSentReason.NO_CHANNEL, NotSentReason.NO_RULE}
    channel = alerting.channel()
    alerting.stores.rules.save_alone(replace(rule, channel_ids=(channel.id,)))
    for _ in range(2):
        alerting.report(alerting.task_failed(0), warning(alerting.task_failed(1)))
    assert [row.content.task_id for row in alerting.firing()] == [0]
    assert {alert.notified for alert in alerting.alerts()} == {((channel.id, rule.id),), ()}
