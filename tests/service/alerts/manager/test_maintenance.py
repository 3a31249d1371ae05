"""What is sent about alerts during planned work, and what after it."""

from dataclasses import replace

import pytest

from chalicelib.domain.alerts.cooldown import NotSentReason
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.alerts.transitions import acknowledged, silenced, unsilenced
from chalicelib.stores.transaction import Transaction
from tests.support.alerting.manager import OTHER_SOURCE, SOURCE, SOURCE_ORIGIN, Alerting, warning

ANN = "ann@example.com"


@pytest.fixture
def maintained(alerting: Alerting) -> Alerting:
    """Alerting with a rule and a channel, and ten minutes of work on the source, in which a task has failed."""
    alerting.rule(alerting.channel())
    alerting.maintenance(source_ids=(SOURCE,))
    alerting.report(alerting.task_failed())
    return alerting


def sent(alerting: Alerting) -> list[str]:
    return [str(row.kind) for row in alerting.rows()]


def end(alerting: Alerting, how: str) -> None:
    (window,) = alerting.stores.maintenance.not_closed()
    if how == "deleted":
        with Transaction() as transaction:
            alerting.stores.maintenance.remove(transaction, window)
    else:
        alerting.clock.advance(600)


def test_an_alert_in_maintenance_is_counted_and_not_sent(maintained: Alerting) -> None:
    maintained.report(maintained.task_failed())
    alert = maintained.alert()
    (window,) = maintained.stores.maintenance.not_closed()
    assert (alert.not_sent, alert.maintenance_id) == (NotSentReason.MAINTENANCE, window.id)
    assert (alert.occurrence_count, sent(maintained), maintained.woken) == (2, [], [])


@pytest.mark.parametrize("how", ["ended", "deleted"])
def test_what_still_fires_after_maintenance_is_sent_once_and_so_is_its_recovery(maintained: Alerting, how: str) -> None:
    end(maintained, how)
    for _ in range(3):
        maintained.report(maintained.task_failed())
    assert sent(maintained) == ["firing"]
    alert = maintained.alert()
    assert (alert.not_sent, alert.maintenance_id) == (None, None)
    maintained.settle()
    maintained.report()
    assert sent(maintained) == ["firing", "resolved"]


def test_what_ends_in_maintenance_is_never_sent(maintained: Alerting) -> None:
    maintained.report()
    maintained.clock.advance(600)
    maintained.report()
    assert (sent(maintained), maintained.active()) == ([], [])


def test_a_window_that_follows_goes_on_keeping_back(maintained: Alerting) -> None:
    maintained.clock.advance(400)
    following = maintained.maintenance(source_ids=(SOURCE,))
    maintained.report(maintained.task_failed(), after=300)
    assert (sent(maintained), maintained.alert().maintenance_id) == ([], following.id)
    maintained.report(maintained.task_failed(), after=300)
    assert sent(maintained) == ["firing"]


def test_who_has_acknowledged_in_maintenance_hears_nothing_after_it(maintained: Alerting) -> None:
    maintained.change(acknowledged(maintained.alert(), ANN, maintained.clock()))
    for _ in range(2):
        maintained.report(maintained.task_failed(), after=600)
    assert (sent(maintained), maintained.alert().maintenance_id) == ([], None)


def test_a_silence_that_outlasts_maintenance_keeps_back_until_its_own_end(maintained: Alerting) -> None:
    maintained.change(silenced(maintained.alert(), ANN, None, None, maintained.clock()))
    maintained.report(maintained.task_failed(), after=600)
    assert (sent(maintained), maintained.alert().not_sent) == ([], NotSentReason.SILENCED)
    maintained.change(unsilenced(maintained.alert(), ANN, maintained.clock()))
    maintained.report(maintained.task_failed())
    assert sent(maintained) == ["firing"]


def test_who_was_notified_before_maintenance_hears_in_it_that_it_is_over(failing: Alerting) -> None:
    failing.settle()
    failing.maintenance(source_ids=(SOURCE,))
    failing.report(failing.task_failed())
    assert failing.alert().not_sent is None
    failing.report()
    assert sent(failing) == ["firing", "resolved"]


def test_what_was_sent_before_maintenance_and_gets_worse_in_it_is_sent_again_after_it(alerting: Alerting) -> None:
    alerting.rule(alerting.channel())
    alerting.report(warning(alerting.task_failed()))
    alerting.settle()
    alerting.maintenance(source_ids=(SOURCE,))
    alerting.report(alerting.task_failed())
    assert sent(alerting) == ["firing"]
    for _ in range(2):
        alerting.report(alerting.task_failed(), after=600)
    assert [row.content.severity for row in alerting.rows()] == [AlertSeverity.WARNING, AlertSeverity.CRITICAL]


def test_alerts_out_of_the_scope_are_sent_at_once(alerting: Alerting) -> None:
    alerting.rule(alerting.channel())
    alerting.maintenance(source_ids=(OTHER_SOURCE,))
    alerting.maintenance(labels={"team": "shop"})
    alerting.report(alerting.task_failed())
    assert sent(alerting) == ["firing"]


def test_a_window_by_labels_keeps_back_what_is_about_a_resource_that_has_them(alerting: Alerting) -> None:
    alerting.rule(alerting.channel())
    alerting.maintenance(labels={"team": "shop"})
    sources = alerting.manager.names().stores["source"]
    source = sources.get(SOURCE)
    sources.save_alone(replace(source, labels={"team": "shop", "env": "test"}))
    alerting.report(alerting.task_failed())
    alerting.report(alerting.source_failed(), origin=SOURCE_ORIGIN)
    assert [alert.not_sent for alert in alerting.alerts()] == [NotSentReason.MAINTENANCE] * 2
