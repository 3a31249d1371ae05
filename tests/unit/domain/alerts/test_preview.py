"""What a rule would have sent, decided from stored alerts."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from chalicelib.domain.alerts.alert import Alert
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.alerts.preview import MAX_EXAMPLES, preview
from chalicelib.domain.alerts.rule import AlertRuleValues, CooldownPolicy
from chalicelib.domain.event_kind import EventKind
from tests.support.alerting.rows import PIPELINES, SOURCES, an_alert, an_event
from tests.support.apps.in_process_app import START_TIME

NOW = START_TIME + timedelta(days=7)
MINUTE = timedelta(minutes=1)


def values(**changes: Any) -> AlertRuleValues:
    return replace(AlertRuleValues(name="tried"), **changes)


def episodes(*minutes: float) -> list[Alert]:
    """Alerts about the same that begin so many minutes after the start, each over after half a minute."""
    event = an_event()
    began = [START_TIME + minute * MINUTE for minute in minutes]
    return [
        an_alert(number, at, event=event, episode=number + 1, resolved_at=at + MINUTE / 2)
        for number, at in enumerate(began)
    ]


def count(alerts: list[Alert], **changes: Any) -> int:
    return preview(values(**changes), alerts, NOW).count


def test_a_rule_that_selects_nothing_would_have_sent_every_alert() -> None:
    assert count([an_alert(number) for number in range(3)]) == 3


def test_a_rule_is_tried_before_it_is_enabled_and_has_a_channel() -> None:
    assert count([an_alert()], enabled=False, channel_ids=()) == 1


def test_the_selections_of_the_rule_decide() -> None:
    warning = an_alert(1, event=an_event(task_id=1, severity=AlertSeverity.WARNING))
    other = an_alert(2, event=an_event(task_id=2, pipeline_id=PIPELINES[1], source_id=SOURCES[1]))
    alerts = [an_alert(0), warning, other]
    assert count(alerts, severities=(AlertSeverity.WARNING,)) == 1
    assert count(alerts, pipeline_ids=(PIPELINES[1],)) == 1
    assert count(alerts, source_ids=(SOURCES[0],)) == 2
    assert count(alerts, event_types=(EventKind.SOURCE_AUTH_FAILED,)) == 0


def test_an_episode_that_got_worse_is_judged_by_its_worst_severity() -> None:
    calmed = an_alert(event=an_event(severity=AlertSeverity.WARNING), max_severity=AlertSeverity.CRITICAL)
    result = preview(values(severities=(AlertSeverity.CRITICAL,)), [calmed], NOW)
    assert (result.count, [alert.severity for alert in result.examples]) == (1, [AlertSeverity.CRITICAL])


def test_the_cooldown_holds_back_what_fires_again_too_early() -> None:
    alerts = episodes(0, 10, 16, 20, 31)
    assert count(alerts, cooldown_seconds=900) == 3
    assert count(alerts, cooldown_policy=CooldownPolicy.EVERY_OCCURRENCE) == 5
    assert count(alerts, cooldown_policy=CooldownPolicy.FIRST_OCCURRENCE_ONLY) == 1


def test_the_order_of_the_alerts_does_not_matter() -> None:
    alerts = episodes(0, 10, 16, 20, 31)
    assert preview(values(), alerts[::-1], NOW) == preview(values(), alerts, NOW)


def test_a_consequence_is_not_counted_beside_its_cause() -> None:
    event = an_event(kind=EventKind.CONNECTOR_FAILED, task_id=None)
    cause, child = an_alert(0, event=event), an_alert(1)
    assert preview(values(), [cause, child], NOW).examples == [cause]
    # of another connector, or after the cause is over, it is no consequence
    other = an_alert(2, event=an_event(connector_name="headgate-source-2"))
    over = replace(cause, resolved_at=START_TIME + MINUTE)
    later = an_alert(3, START_TIME + 2 * MINUTE)
    assert count([over, other, later]) == 3


def test_a_cause_is_not_counted_when_its_consequence_was_sent_before() -> None:
    child = an_alert(0)
    event = an_event(kind=EventKind.CONNECTOR_FAILED, task_id=None)
    assert preview(values(), [child, an_alert(1, START_TIME + MINUTE, event=event)], NOW).examples == [child]


def test_a_consequence_counts_for_a_rule_that_does_not_have_its_cause() -> None:
    cause = an_alert(0, event=an_event(kind=EventKind.CONNECTOR_FAILED, task_id=None, pipeline_id=None))
    assert count([cause, an_alert(1)], pipeline_ids=(PIPELINES[0],)) == 1


def test_what_a_maintenance_window_kept_back_is_not_counted() -> None:
    assert count([an_alert(0, maintenance_id="a window"), an_alert(1)]) == 1


def test_the_examples_are_the_newest_and_a_few() -> None:
    alerts = [an_alert(number, START_TIME + number * MINUTE) for number in range(MAX_EXAMPLES + 5)]
    result = preview(values(), alerts, NOW)
    assert result.count == MAX_EXAMPLES + 5
    assert [alert.id for alert in result.examples] == [alert.id for alert in alerts[:4:-1]]
