"""States that operations have seen or caused, until the next tick of the Connect cluster has seen them as well."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from chalicelib.domain.observation import ObservedState
from chalicelib.domain.reconcile.state_counts import RecentState
from chalicelib.stores.counts import CountRow
from chalicelib.stores.documents import store_errors
from chalicelib.stores.tables import position
from chalicelib.stores.transaction import Transaction

_KIND = "recent"
_RETENTION = timedelta(hours=1)
_BOUND = 5_000
"""Far more than the API changes between two ticks, and less than the megabyte of one query."""


class RecentStates:
    """Notes them, and lists them by time."""

    def note(self, transaction: Transaction, recent: RecentState) -> None:
        """Store it in the transaction of the change."""
        row = CountRow(
            _KIND,
            position(recent.at, recent.connector),
            at=recent.at,
            resource_type=recent.resource_type,
            connector=recent.connector,
            connect_cluster_id=recent.connect_cluster_id,
            state=recent.state,
            expires_at=recent.at + _RETENTION,
        )
        transaction.put(row, condition=None, label="recent")

    def since(self, at: datetime) -> list[RecentState]:
        """Those noted at that time or later, the oldest first; only the newest of very many. Consistent."""
        with store_errors():
            return list(_read(at))[::-1]


def _read(at: datetime) -> Iterator[RecentState]:
    rows = CountRow.query(
        _KIND, CountRow.part >= position(at, ""), consistent_read=True, scan_index_forward=False, limit=_BOUND
    )
    for row in rows:
        yield RecentState(
            resource_type=row.resource_type,
            connector=row.connector,
            connect_cluster_id=row.connect_cluster_id,
            state=ObservedState(row.state) if row.state else None,
            at=row.at,
        )
