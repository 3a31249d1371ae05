"""Two workers for one channel, in every order of their steps, with crashes and leases that end under a live worker.

The workers, stores and transactions are the real ones, on moto. What a step is: `tests.support.apps.interleavings`.
"""

import pytest

from chalicelib.domain.alerts.notification import MAX_ATTEMPTS, Notification, NotificationStatus
from chalicelib.notify.contract import Accepted, Ambiguous, Outcome, OutgoingMessage
from tests.support.alerting.scripted_provider import status
from tests.support.alerting.virtual import AlertingDriver
from tests.support.apps.interleavings import Interleavings

DELIVERED = NotificationStatus.DELIVERED
_ROUNDS = 8
_UNKNOWN = Ambiguous(status(500).error)  # type: ignore[union-attr]


def explored(
    alerting: AlertingDriver, answers: list[Outcome], *, recovery: bool = False, crashes: int = 0, overruns: int = 0
) -> Interleavings:
    """Two workers that were woken at the same moment, and then one worker after another until everything has ended."""
    channel = alerting.channel()
    provider = alerting.provider(channel)
    alerting.queues.lost = True
    alerting.queue_message(channel)
    alerting.drain(channel.id)  # the process knows the secrets, and the gate exists
    provider.received.clear()
    rows = [alerting.queue_message(channel)]
    if recovery:
        rows.append(alerting.queue_message(channel, after=rows[0]))
    tables, now = alerting.app.tables.snapshot(), alerting.now
    script = list(answers)

    def answer(_message: OutgoingMessage) -> Outcome:
        explorer.pause()
        return script.pop(0) if script else Accepted()

    def begin() -> list[object]:
        alerting.app.tables.restore(tables)
        alerting.app.clock.now = now
        provider.received.clear()
        provider.always = answer
        script[:] = answers
        return [lambda: alerting.drain(channel.id)] * 2

    def check(crashed: int, overrun: int) -> None:
        for _ in range(_ROUNDS):
            ended = [alerting.row(row) for row in rows]
            if not any(row.status.is_open for row in ended):
                break
            alerting.app.clock.advance(130)
            alerting.drain(channel.id)
        assert_right(ended, provider.messages, len(answers), crashed + overrun)

    explorer = Interleavings(alerting, begin, check, crashes=crashes, overruns=overruns)  # type: ignore[arg-type]
    return explorer


def assert_right(rows: list[Notification], taken: list[OutgoingMessage], failures: int, faults: int) -> None:
    """Delivered; repeated only after a fault, or when the provider has not answered; never more than four attempts."""
    assert {row.status for row in rows} == {DELIVERED}
    assert all(1 <= row.attempts <= min(MAX_ATTEMPTS, 1 + failures + faults) for row in rows)
    for row in rows:
        times = [index for index, message in enumerate(taken) if message.delivery_id == row.id]
        assert 1 <= len(times) <= 1 + faults + failures
    order = [rows.index(row) for message in taken for row in rows if row.id == message.delivery_id]
    assert order[0] == 0
    if not faults:
        assert order == sorted(order)


def test_two_workers_send_a_message_once_whatever_the_order_of_their_steps(alerting: AlertingDriver) -> None:
    print(explored(alerting, []).explore())


@pytest.mark.thorough
@pytest.mark.parametrize("answers", [[], [status(500)], [_UNKNOWN]], ids=["accepts", "fails first", "unknown first"])
def test_two_workers_one_of_which_may_die_anywhere_deliver_and_repeat_once_at_most(
    alerting: AlertingDriver, answers: list[Outcome]
) -> None:
    print(explored(alerting, answers, crashes=1).explore())


@pytest.mark.thorough
def test_a_lease_may_end_under_a_live_worker_anywhere(alerting: AlertingDriver) -> None:
    print(explored(alerting, [], overruns=1).explore())


@pytest.mark.thorough
def test_a_recovery_follows_its_firing_message_whatever_the_order(alerting: AlertingDriver) -> None:
    print(explored(alerting, [], recovery=True).explore())
