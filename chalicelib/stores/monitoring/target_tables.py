"""The target tables of each delivery as of the last look, and what deliveries have lost in them."""

from datetime import datetime, timedelta

from chalicelib.domain.monitoring.target_losses import TargetLosses
from chalicelib.domain.monitoring.target_tables import TargetMemory
from chalicelib.stores.monitoring.large_documents import LargeDocuments
from chalicelib.stores.tables import document_table
from chalicelib.stores.transaction import Transaction

TargetTableRows = document_table("target-tables")
TargetLossRows = document_table("target-losses")

KEPT_FOR = timedelta(days=7)
REWRITTEN_AFTER = timedelta(days=1)
"""A row without changes is written again before it expires."""


class TargetTables(LargeDocuments[TargetMemory]):
    """By the delivery's id: at most 500 tables, 130 KB of JSON. The row of a deleted delivery expires."""

    table, entity, noun = TargetTableRows, TargetMemory, "target_table"

    def expires_at(self, entity: TargetMemory) -> datetime:
        return entity.checked_at + KEPT_FOR

    def write(self, before: TargetMemory | None, after: TargetMemory) -> None:
        """Store a memory where it has changed. Raises WriteConflict when another look was faster."""
        if before and before.says_the_same(after) and after.checked_at - before.checked_at < REWRITTEN_AFTER:
            return
        with Transaction() as transaction:
            (self.put_new if before is None else self.save)(transaction, after)


class TargetLossStore(LargeDocuments[TargetLosses]):
    """By the destination's id; a destination whose deliveries have never lost anything, nor waited for a lock, has no
    row. A row stays when its destination is deleted, and is never read again.
    """

    table, entity, noun = TargetLossRows, TargetLosses, "target_loss"

    def write(self, before: TargetLosses | None, after: TargetLosses) -> TargetLosses:
        """Store what has changed; returns what is stored. Raises WriteConflict when another look was faster."""
        if not after.losses and not after.lock_waits and before is None:
            return after
        if before and (after.losses, after.lock_waits) == (before.losses, before.lock_waits):
            return after
        with Transaction() as transaction:
            return self.put_new(transaction, after) if before is None else self.save(transaction, after)
