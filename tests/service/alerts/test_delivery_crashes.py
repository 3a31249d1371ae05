"""Workers of notifications that die, messages of the queue that are lost: the crash points C1 to C15, in virtual time.

C1 (before the alert is committed) is the alert manager's. C14 does not exist: messages are sent one at a time. C8, C9
and C10 (two workers, slow workers, no answer) are in `test_delivery`, and exhaustively in `test_interleavings`.
"""

from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.alerts.channel import Channel, ChannelProvider
from chalicelib.domain.alerts.notification import Notification, NotificationStatus
from chalicelib.errors import StoreUnavailable
from chalicelib.kit.masking import Secret
from chalicelib.notify.contract import OutgoingMessage
from chalicelib.stores.transaction import Transaction
from tests.support.alerting.virtual import AlertingDriver

DELIVERED, FAILED = NotificationStatus.DELIVERED, NotificationStatus.FAILED


def bodies(messages: list[OutgoingMessage]) -> set[Any]:
    """What a receiver can tell apart: id and content."""
    return {(message.delivery_id, message.lines) for message in messages}


def test_a_lost_wake_up_costs_a_minute_at_most(alerting: AlertingDriver, channel: Channel) -> None:
    """C2."""
    row = alerting.queue_message(channel, wakes=False)
    alerting.run(seconds=75)
    assert alerting.row(row).status is DELIVERED


def test_a_worker_that_dies_before_it_sends_burns_one_attempt_and_the_next_one_sends_within_90_seconds(
    alerting: AlertingDriver, channel: Channel
) -> None:
    """C4."""
    alerting.provider(channel).answers(alerting.provider(channel).crash_before)
    row = alerting.queue_message(channel)
    alerting.run(seconds=90)
    assert (alerting.row(row).status, alerting.row(row).attempts) == (DELIVERED, 2)
    assert len(alerting.provider(channel).messages) == 1


def test_four_workers_that_die_before_they_send_end_as_a_failure_that_says_that_nobody_knows(
    alerting: AlertingDriver, channel: Channel
) -> None:
    """C4, four times."""
    alerting.provider(channel).answers(*[alerting.provider(channel).crash_before] * 4)
    row = alerting.queue_message(channel)
    alerting.run(seconds=600)
    assert alerting.provider(channel).received == []
    assert (alerting.row(row).status, alerting.row(row).reason) == (FAILED, "outcome_unknown")


def test_a_worker_that_dies_after_the_provider_has_accepted_repeats_the_same_message_once(
    alerting: AlertingDriver,
) -> None:
    """C5, case 30."""
    channel = alerting.channel(ChannelProvider.WEBHOOK)
    provider = alerting.provider(channel)
    provider.answers(provider.crash_after)
    row = alerting.queue_message(channel)
    alerting.run(seconds=600)
    assert alerting.row(row).status is DELIVERED
    assert len(provider.messages) == 2
    assert len(bodies(provider.messages)) == 1


def test_a_retry_whose_wake_up_was_lost_is_made_by_the_schedule(alerting: AlertingDriver, channel: Channel) -> None:
    """C6."""
    alerting.provider(channel).answers(500)
    row = alerting.queue_message(channel)
    alerting.queues.lost = True
    alerting.run(seconds=1)
    alerting.queues.lost = False
    alerting.run(seconds=60)
    assert alerting.row(row).status is DELIVERED


def test_a_retry_that_the_queue_refuses_is_made_by_the_schedule(alerting: AlertingDriver) -> None:
    """C6: the worker goes on."""
    channel = alerting.channel(ChannelProvider.WEBHOOK)
    alerting.provider(channel).answers(500)
    rows = alerting.queue_messages(channel, 2)
    alerting.queues.refuses = True
    alerting.run(seconds=1)
    alerting.queues.refuses = False
    assert len(alerting.called(channel)) == 2
    alerting.run(seconds=60)
    assert {alerting.row(row).status for row in rows} == {DELIVERED}


def test_a_message_of_the_queue_that_comes_again_changes_nothing(alerting: AlertingDriver, channel: Channel) -> None:
    """C7, C13."""
    row = alerting.queue_message(channel)
    alerting.run(seconds=1)
    before = alerting.row(row)
    alerting.wake(channel, times=3)
    alerting.run(seconds=600)
    assert alerting.row(row) == before
    assert len(alerting.provider(channel).messages) == 1


@pytest.mark.parametrize("early", [0.5, 1.9])
def test_a_wake_up_that_comes_a_moment_too_early_sends_when_it_is_due(
    alerting: AlertingDriver, channel: Channel, early: float
) -> None:
    """C11."""
    alerting.provider(channel).answers(500)
    alerting.queue_message(channel)
    alerting.queues.lost = True
    alerting.wake(channel, after=5 - early)
    alerting.run(seconds=10)
    assert alerting.called(channel) == [0, 5]


def test_a_message_that_a_clock_ahead_has_queued_is_sent_at_once(alerting: AlertingDriver, channel: Channel) -> None:
    alerting.app.clock.advance(3600)
    alerting.queue_message(channel)
    alerting.app.clock.advance(-3600)
    alerting.wake(channel)
    alerting.run(seconds=10)
    assert len(alerting.provider(channel).messages) == 1


def test_a_clock_that_is_set_back_delays_and_loses_nothing(alerting: AlertingDriver, channel: Channel) -> None:
    """C12: the processes' clocks differ by seconds."""
    alerting.provider(channel).answers(500, 500)
    row = alerting.queue_message(channel)
    alerting.run(seconds=6)
    alerting.app.clock.advance(-5)
    alerting.run(seconds=90)
    assert (alerting.row(row).status, alerting.row(row).attempts) == (DELIVERED, 3)


def test_a_secret_that_was_exchanged_between_attempts_is_used_and_the_message_stays_the_same(
    alerting: AlertingDriver, channel: Channel
) -> None:
    """C15."""
    alerting.provider(channel).answers(500)
    row = alerting.queue_message(channel)
    alerting.run(seconds=1)
    services, transaction = alerting.app.services, Transaction()
    new = services.credentials.rotate(
        transaction, "notification_channel", channel.id, channel.credentials, {"key": Secret("another secret")}
    )
    services.stores.alerts.channels.save(
        transaction, replace(services.stores.alerts.channels.get(channel.id), credentials=new)
    )
    transaction.commit()
    after = alerting.sender.behind("another secret")
    alerting.run(seconds=30)
    assert alerting.row(row).status is DELIVERED
    before = alerting.provider(channel).received[0].message
    assert bodies([before]) == bodies(after.messages)


def test_the_schedule_wakes_the_other_channels_when_one_message_is_refused(alerting: AlertingDriver) -> None:
    first, second = alerting.channel(), alerting.channel()
    for channel in (first, second):
        alerting.queue_message(channel, wakes=False)
    alerting.schedule, alerting.queues.refuses = False, True
    with pytest.raises(StoreUnavailable):
        alerting.delivery.sweep()
    alerting.queues.refuses = False
    assert alerting.delivery.sweep().woken == 2
    alerting.run(seconds=1)
    assert alerting.delivery.sweep().woken == 0


@pytest.mark.thorough
@pytest.mark.parametrize("carried_out", [False, True])
def test_wherever_a_worker_dies_the_message_is_delivered_within_90_seconds_and_repeated_once_at_most(
    alerting: AlertingDriver, *, carried_out: bool
) -> None:
    """C3 to C7: at each call to the store or the queue, before or after it was carried out."""
    number, crashed = 0, True
    while crashed:
        channel = alerting.channel()
        provider = alerting.provider(channel)
        provider.answers(500)
        with alerting.crash_at_store_call(number, carried_out=carried_out):
            row = alerting.queue_message(channel)
            before = alerting.crashes
            alerting.run(seconds=4)
            crashed = alerting.crashes > before
        alerting.run(seconds=90)
        assert_delivered(alerting, row, calls=3)
        assert len(bodies(provider.messages)) == 1
        number += 1
    assert number > 10


def assert_delivered(alerting: AlertingDriver, row: Notification, *, calls: int) -> None:
    """Delivered, by so many calls at most."""
    channel = alerting.app.services.stores.alerts.channels.get(row.channel_id)
    assert alerting.row(row).status is DELIVERED
    assert 2 <= len(alerting.called(channel)) <= calls
