"""Pipelines with a fault at their source, by source, and deliveries with one at their destination, by destination.

The overview reads these, not the states of all sources and destinations.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain

from chalicelib.stores.counts import CountRow
from chalicelib.stores.tables import store_errors
from chalicelib.stores.transaction import Transaction

_KIND = "findings"
_RETENTION = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultyIds:
    """The ids of pipelines and deliveries that are not simply RUNNING (`degraded`), of pipelines whose source may soon
    remove log that they still need (`losing_log`), and of all pipelines of whose source a row has something to show
    (`noted`).
    """

    degraded: frozenset[str] = frozenset()
    losing_log: frozenset[str] = frozenset()
    noted: frozenset[str] = frozenset()


class CaptureFindings:
    """One row for each source or destination with a fault; usually there is none."""

    @staticmethod
    def replace(
        transaction: Transaction,
        system_id: str,
        pipelines: Collection[str],
        checked_at: datetime,
        *,
        losing_log: Collection[str] = (),
        noted: Collection[str] = (),
    ) -> None:
        """Store the ids of the pipelines or deliveries with a fault at `checked_at`; see `FaultyIds`."""
        row = CountRow(_KIND, system_id)
        if pipelines or noted:
            # DynamoDB has no empty sets.
            row.pipelines, row.losing_log, row.noted = (
                set(pipelines) or None,
                set(losing_log) or None,
                set(noted) or None,
            )
            row.at, row.expires_at = checked_at, checked_at + _RETENTION
            transaction.put(row, condition=None, label="findings")
        else:
            transaction.delete(row, condition=None, label="findings")

    def pipelines(self, since: datetime) -> frozenset[str]:
        """The ids of all pipelines and deliveries with a fault, by checks since that time. Consistent."""
        return self.ids(since).degraded

    def ids(self, since: datetime) -> FaultyIds:
        """The same with the others that were noted. Consistent."""
        with store_errors():
            rows = [row for row in CountRow.query(_KIND, consistent_read=True) if row.at >= since]
        return FaultyIds(
            degraded=frozenset(chain.from_iterable(row.pipelines or () for row in rows)),
            losing_log=frozenset(chain.from_iterable(row.losing_log or () for row in rows)),
            noted=frozenset(chain.from_iterable(row.noted or () for row in rows)),
        )
