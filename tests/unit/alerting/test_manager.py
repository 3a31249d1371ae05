"""What becomes of alerts and messages when monitors report: the transition table, row by row."""

from tests.support.alert_manager import Alerting


def test_a_failure_opens_one_alert_with_one_message(alerting: Alerting) -> None:
    channel = alerting.channel()
    alerting.rule(channel)
    alerting.report(alerting.task_failed())
    (alert,) = alerting.alerts()
    (row,) = alerting.rows()
    assert (alert.occurrence_count, row.channel_id, alerting.woken) == (1, channel.id, [channel.id])
