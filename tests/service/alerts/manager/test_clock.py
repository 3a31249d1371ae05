"""A clock that was ahead for a while: what it has written must not hold up the alerts of the right time."""

from datetime import timedelta

import pytest

from chalicelib.domain.alerts.alert import AlertStatus
from chalicelib.domain.alerts.rule import CooldownPolicy
from tests.support.alerting.manager import Alerting

AHEAD = timedelta(hours=1)


@pytest.fixture
def alerting(alerting: Alerting) -> Alerting:
    """With a rule that sends at most one message in five minutes to a channel."""
    alerting.rule(alerting.channel(), cooldown_policy=CooldownPolicy.AFTER_COOLDOWN, cooldown_seconds=300)
    return alerting


def turn(alerting: Alerting, by: timedelta) -> None:
    """Set the clock of everybody forward or back."""
    alerting.clock.now += by


def test_what_goes_on_is_counted_when_the_clock_is_set_back(alerting: Alerting) -> None:
    turn(alerting, AHEAD)
    alerting.report(alerting.task_failed())
    turn(alerting, -AHEAD)
    for count in (2, 3):
        report = alerting.report(alerting.task_failed())
        assert (alerting.alert().occurrence_count, alerting.alert().last_seen_at) == (count, report.at)


def test_an_alert_ends_when_the_clock_is_set_back(alerting: Alerting) -> None:
    turn(alerting, AHEAD)
    alerting.report(alerting.task_failed())
    turn(alerting, -AHEAD)
    alerting.report()
    assert alerting.alert().status is AlertStatus.RESOLVED


def test_the_next_episode_is_an_alert_with_a_message_when_the_clock_is_set_back(alerting: Alerting) -> None:
    turn(alerting, AHEAD)
    alerting.report(alerting.task_failed())
    alerting.report()
    turn(alerting, -AHEAD)
    alerting.report(alerting.task_failed())
    assert [alert.status for alert in alerting.alerts()].count(AlertStatus.FIRING) == 1
    assert len(alerting.firing()) == 2


def test_a_report_of_the_last_minute_is_late_all_the_same(alerting: Alerting) -> None:
    failed = alerting.report(alerting.task_failed())
    turn(alerting, timedelta(seconds=-30))
    alerting.report(after=0)
    assert (alerting.alert().status, alerting.alert().last_seen_at) == (AlertStatus.FIRING, failed.at)
