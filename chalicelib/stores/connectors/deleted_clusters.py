"""What deleted Connect clusters leave: rows that ticks have written. A tick that ran when its cluster was deleted may
write one more, so they are removed some time after the deletion, which leaves a note.
"""

from collections.abc import Sequence
from datetime import datetime

from chalicelib.kit.clock import Deadline
from chalicelib.stores.batch_writer import delete, write_rows
from chalicelib.stores.connectors.observations import ObservationRow
from chalicelib.stores.counts import CountRow
from chalicelib.stores.tables import position, store_errors
from chalicelib.stores.transaction import Transaction

_DELETED, _MAX_SWEPT = "deleted-connect-clusters", 5


class DeletedClusters:
    """Rows of `observations`: the memory of ticks and the counters of changes. Rows of `progress` expire."""

    def note(self, transaction: Transaction, cluster_id: str, at: datetime) -> None:
        """Store in the transaction of a deletion that the cluster's rows are to be removed."""
        transaction.put(CountRow(_DELETED, position(at, cluster_id)), condition=None, label="cluster.deletion")

    def notes_before(self, at: datetime) -> Sequence[str]:
        """The notes of deletions before that time, the oldest first, at most `_MAX_SWEPT`."""
        with store_errors():
            rows = CountRow.query(_DELETED, CountRow.part < position(at, ""), limit=_MAX_SWEPT)
            return tuple(row.part for row in rows)

    def sweep(self, note: str, deadline: Deadline) -> None:
        """Remove the rows of the deleted cluster, then the note. Raises StoreUnavailable; it is safe to repeat."""
        cluster_id = note.rpartition("#")[2]
        with store_errors():
            rows = ObservationRow.query(cluster_id, consistent_read=True, attributes_to_get=["part"])
            leftover = (delete(ObservationRow(cluster_id, row.part)) for row in rows)
            write_rows(ObservationRow, leftover, deadline)
            CountRow(_DELETED, note).delete()
