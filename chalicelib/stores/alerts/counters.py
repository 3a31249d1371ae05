"""The counters of `/metrics`. A number changes in the transaction that it counts, so that both happen or neither.

There are few labels, so all numbers are columns of one row. There are sixteen such rows, because transactions that
change one row at the same time conflict; a number is the sum over all rows.
"""

import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

from pynamodb.attributes import NumberAttribute, UnicodeAttribute

from chalicelib.domain.alerts.channel import ChannelProvider
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.alerts.notification import NotificationStatus
from chalicelib.domain.event_kind import EventKind
from chalicelib.stores.rows import read_rows
from chalicelib.stores.tables import Table, meta
from chalicelib.stores.transaction import Transaction

BUCKETS = ("0.1", "0.25", "0.5", "1", "2.5", "5", "10", "30", "60", "120", "+Inf")
"""Upper bounds of delivery times in seconds. In the columns a bucket counts only the times above the one before."""

ENDS = (NotificationStatus.DELIVERED, NotificationStatus.FAILED)
"""The final states of notifications whose duration is measured."""

_ALERTS = tuple(product(AlertSeverity, EventKind))
_DELIVERIES = tuple(product(ChannelProvider, ENDS))
_KIND = "alert_numbers"
_SHARDS = tuple(f"{shard:02}" for shard in range(16))


def _alerts(severity: AlertSeverity, kind: EventKind) -> str:
    return f"alerts_{severity}_{kind}"


def _bucket(provider: ChannelProvider, end: NotificationStatus, bucket: str) -> str:
    return f"delivery_{provider}_{end}_{bucket}".replace(".", "_")


def _milliseconds(provider: ChannelProvider, end: NotificationStatus) -> str:
    return f"delivery_{provider}_{end}_milliseconds"


_COLUMNS = (
    *(_alerts(*labels) for labels in _ALERTS),
    *(_bucket(*labels, bucket) for labels in _DELIVERIES for bucket in BUCKETS),
    *(_milliseconds(*labels) for labels in _DELIVERIES),
)

NumberRow: type[Table] = type(
    "NumberRow",
    (Table,),
    {
        "__module__": __name__,
        "Meta": meta("counts"),
        "kind": UnicodeAttribute(hash_key=True),
        "part": UnicodeAttribute(range_key=True),
        **{name: NumberAttribute(null=True) for name in _COLUMNS},
    },
)
"""In the table of the other numbers: see `stores/counts.py`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryTimes:
    """A histogram of Prometheus: `buckets` by upper bound, each counts all times up to it."""

    buckets: Mapping[str, int]
    seconds: float

    @property
    def count(self) -> int:
        return self.buckets[BUCKETS[-1]]


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertNumbers:
    """All numbers since the installation, for all labels.

    `alerts` counts opened alerts, by their severity at that time.
    """

    alerts: Mapping[tuple[AlertSeverity, EventKind], int]
    deliveries: Mapping[tuple[ChannelProvider, NotificationStatus], DeliveryTimes]


class AlertCounters:
    @staticmethod
    def alert_opened(transaction: Transaction, severity: AlertSeverity, kind: EventKind) -> None:
        transaction.add(_row(transaction), {_alerts(severity, kind): 1})

    @staticmethod
    def notification_ended(
        transaction: Transaction, provider: ChannelProvider, end: NotificationStatus, seconds: float
    ) -> None:
        """`seconds`: since it was queued."""
        bucket = next(bound for bound in BUCKETS if seconds <= float(bound))
        changes = {_bucket(provider, end, bucket): 1, _milliseconds(provider, end): max(0, round(seconds * 1000))}
        transaction.add(_row(transaction), changes)

    @staticmethod
    def read() -> AlertNumbers:
        """All numbers: one call. Not consistent, so it costs half."""
        sums: Counter[str] = Counter()
        for row in filter(None, read_rows(*((NumberRow, _KIND, shard) for shard in _SHARDS), consistent=False)):
            sums.update({name: int(getattr(row, name) or 0) for name in _COLUMNS})
        return AlertNumbers(
            alerts={labels: sums[_alerts(*labels)] for labels in _ALERTS},
            deliveries={labels: _times(sums, *labels) for labels in _DELIVERIES},
        )


def _row(transaction: Transaction) -> Table:
    # By the id of the write: a transaction that is sent again changes the same row.
    return NumberRow(_KIND, _SHARDS[zlib.crc32(transaction.write_id.encode()) % len(_SHARDS)])


def _times(sums: Mapping[str, int], provider: ChannelProvider, end: NotificationStatus) -> DeliveryTimes:
    total, buckets = 0, {}
    for bound in BUCKETS:
        total += sums[_bucket(provider, end, bound)]
        buckets[bound] = total
    return DeliveryTimes(buckets=buckets, seconds=sums[_milliseconds(provider, end)] / 1000)
