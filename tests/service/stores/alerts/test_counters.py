"""The numbers of `/metrics`: every label is there, and they change with the transaction that they count."""

import pytest

from chalicelib.domain.alerts.channel import ChannelProvider
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.alerts.notification import NotificationStatus
from chalicelib.domain.event_kind import EventKind
from chalicelib.errors import WriteConflict
from chalicelib.stores.alerts.alerts import AlertRows
from chalicelib.stores.alerts.counters import BUCKETS, AlertCounters
from chalicelib.stores.transaction import Transaction
from tests.service.stores.conftest import Storage

CRITICAL, TASK_FAILED = AlertSeverity.CRITICAL, EventKind.CONNECT_TASK_FAILED
WEBHOOK, DELIVERED, FAILED = ChannelProvider.WEBHOOK, NotificationStatus.DELIVERED, NotificationStatus.FAILED


def test_every_series_exists_at_zero_before_anything_happens(storage: Storage) -> None:
    numbers = AlertCounters.read()
    assert len(numbers.alerts) == 3 * 23
    assert set(numbers.alerts.values()) == {0}
    assert set(numbers.deliveries) == {(provider, end) for provider in ChannelProvider for end in (DELIVERED, FAILED)}
    assert all(times.count == 0 and times.seconds == 0 for times in numbers.deliveries.values())


def test_alerts_of_many_transactions_are_added_up(storage: Storage) -> None:
    for _ in range(40):
        transaction = Transaction()
        AlertCounters.alert_opened(transaction, CRITICAL, TASK_FAILED)
        AlertCounters.alert_opened(transaction, CRITICAL, TASK_FAILED)
        transaction.commit()
    numbers = AlertCounters.read()
    assert numbers.alerts[CRITICAL, TASK_FAILED] == 80
    assert sum(numbers.alerts.values()) == 80
    assert len(storage.tables.rows("counts")) > 1


def test_a_delivery_is_counted_in_its_bucket_and_in_all_above(storage: Storage) -> None:
    for seconds in (0.1, 0.4, 700.0, -3.0):
        transaction = Transaction()
        AlertCounters.notification_ended(transaction, WEBHOOK, DELIVERED, seconds)
        transaction.commit()
    times = AlertCounters.read().deliveries[WEBHOOK, DELIVERED]
    assert times.count == 4
    assert times.seconds == pytest.approx(700.5)
    assert [times.buckets[bound] for bound in BUCKETS] == [2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 4]
    assert AlertCounters.read().deliveries[WEBHOOK, FAILED].count == 0


def test_a_transaction_that_is_refused_counts_nothing(storage: Storage) -> None:
    transaction = Transaction()
    AlertCounters.alert_opened(transaction, CRITICAL, TASK_FAILED)
    transaction.delete(AlertRows("none"), condition=AlertRows.id.exists(), label="there")
    with pytest.raises(WriteConflict):
        transaction.commit()
    assert sum(AlertCounters.read().alerts.values()) == 0
