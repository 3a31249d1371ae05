"""Pipelines with a fault at their source, by source, and deliveries with one at their destination, by destination.

The overview reads these, not the states of all sources and destinations.
"""

from collections.abc import Collection
from datetime import datetime, timedelta

from chalicelib.stores.counts import CountRow
from chalicelib.stores.tables import store_errors
from chalicelib.stores.transaction import Transaction

_KIND = "findings"
_RETENTION = timedelta(hours=1)


class CaptureFindings:
    """One row for each source or destination with a fault; usually there is none."""

    @staticmethod
    def replace(transaction: Transaction, system_id: str, pipelines: Collection[str], checked_at: datetime) -> None:
        """Store the ids of the pipelines or deliveries with a fault at `checked_at`."""
        row = CountRow(_KIND, system_id)
        if pipelines:
            row.pipelines, row.at, row.expires_at = set(pipelines), checked_at, checked_at + _RETENTION
            transaction.put(row, condition=None, label="findings")
        else:
            transaction.delete(row, condition=None, label="findings")

    def pipelines(self, since: datetime) -> frozenset[str]:
        """The ids of all pipelines and deliveries with a fault, by checks since that time. Consistent."""
        with store_errors():
            rows = list(CountRow.query(_KIND, consistent_read=True))
        return frozenset(pipeline_id for row in rows if row.at >= since for pipeline_id in row.pipelines)
