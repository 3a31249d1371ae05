"""The worker of notifications: the table of states of deliveries (wire contract, alerting 4.1), in virtual time."""

import pytest

from chalicelib.domain.alerts.notification import NotificationStatus
from tests.support.alerting import AlertingDriver
from tests.support.scripted_provider import status

QUEUED, PENDING = NotificationStatus.QUEUED, NotificationStatus.PENDING
DELIVERED, FAILED = NotificationStatus.DELIVERED, NotificationStatus.FAILED
SUPPRESSED, CANCELLED = NotificationStatus.SUPPRESSED, NotificationStatus.CANCELLED


def test_a_message_is_delivered_at_once_and_once(alerting: AlertingDriver) -> None:
    channel = alerting.channel()
    row = alerting.queue_message(channel)
    alerting.run(seconds=200)
    delivered = alerting.row(row)
    assert (delivered.status, delivered.attempts, delivered.sent_at) == (DELIVERED, 1, alerting.start)
    assert alerting.called(channel) == [0]
    (message,) = alerting.provider(channel).messages
    assert (message.delivery_id, [line.content for line in message.lines]) == (row.id, [row.content])


def test_a_failure_for_a_while_is_tried_again_after_5_and_30_and_120_seconds(alerting: AlertingDriver) -> None:
    channel = alerting.channel()
    alerting.provider(channel).answers(500, 500, 500, 200)
    row = alerting.queue_message(channel)
    alerting.run(seconds=154)
    assert (alerting.row(row).status, alerting.row(row).attempts) == (PENDING, 3)
    alerting.run(seconds=200)
    assert alerting.called(channel) == [0, 5, 35, 155]
    assert (alerting.row(row).status, alerting.row(row).attempts) == (DELIVERED, 4)


def test_after_four_failures_it_has_failed(alerting: AlertingDriver) -> None:
    channel = alerting.channel()
    alerting.provider(channel).always = lambda _: status(500)
    row = alerting.queue_message(channel)
    alerting.run(seconds=3600)
    failed = alerting.row(row)
    assert alerting.called(channel) == [0, 5, 35, 155]
    assert (failed.status, failed.attempts, failed.reason) == (FAILED, 4, "attempts_exhausted")
    assert failed.last_error
    assert failed.last_error.code == "http_500"


@pytest.mark.parametrize("code", [400, 401, 403, 404, 410, 301])
def test_a_refusal_is_final_after_one_call(alerting: AlertingDriver, code: int) -> None:
    channel = alerting.channel()
    alerting.provider(channel).answers(code)
    row = alerting.queue_message(channel)
    alerting.run(seconds=600)
    assert alerting.called(channel) == [0]
    assert (alerting.row(row).status, alerting.row(row).attempts) == (FAILED, 1)
