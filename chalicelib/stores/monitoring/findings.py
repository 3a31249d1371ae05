"""Pipelines with something wrong at their source, by source: what the overview needs of all states of sources."""

from collections.abc import Collection
from datetime import datetime, timedelta

from chalicelib.stores.counts import CountRow
from chalicelib.stores.documents import store_errors
from chalicelib.stores.transaction import Transaction

_KIND = "findings"
_RETENTION = timedelta(hours=1)


class CaptureFindings:
    """One row for each source at which something is wrong; usually there is none."""

    @staticmethod
    def replace(transaction: Transaction, source_id: str, pipelines: Collection[str], checked_at: datetime) -> None:
        """Store the ids of the pipelines that the look at `checked_at` found something wrong with."""
        row = CountRow(_KIND, source_id)
        if pipelines:
            row.pipelines, row.at, row.expires_at = set(pipelines), checked_at, checked_at + _RETENTION
            transaction.put(row, condition=None, label="findings")
        else:
            transaction.delete(row, condition=None, label="findings")

    def pipelines(self, since: datetime) -> frozenset[str]:
        """The ids of all pipelines with something wrong, by looks since that time. Consistent."""
        with store_errors():
            rows = list(CountRow.query(_KIND, consistent_read=True))
        return frozenset(one for row in rows if row.at >= since for one in row.pipelines)
