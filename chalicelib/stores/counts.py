"""How many resources are in which state.

A number changes in the transaction that changes the state, so it is right whenever that transaction is, and no list
has to be read to know it. `infra/decisions/016-overview.md` says why.
"""

import zlib
from collections.abc import Mapping

from pynamodb.attributes import (
    NumberAttribute,
    TTLAttribute,
    UnicodeAttribute,
    UnicodeSetAttribute,
    UTCDateTimeAttribute,
)

from chalicelib.stores.rows import Key
from chalicelib.stores.tables import Table, meta
from chalicelib.stores.transaction import Transaction

SHARDS = tuple("0123")
"""Rows for each noun. Two transactions that change one row at the same time conflict, and one of them is repeated."""

STATES = (
    *("UNKNOWN", "HEALTHY", "UNHEALTHY", "DRAFT", "RUNNING", "PAUSED", "OPEN", "ACKNOWLEDGED"),
    *("CRITICAL", "WARNING", "INFO"),
)


class CountRow(Table):
    """What the overview reads: `<noun>/<shard>` has a number for each of `STATES`.

    Rows of other kinds are those of `stores/monitoring`; `user/active-admins` has the number of those.
    """

    Meta = meta("counts")  # type: ignore[assignment]
    kind = UnicodeAttribute(hash_key=True)
    part = UnicodeAttribute(range_key=True)
    UNKNOWN = NumberAttribute(null=True)
    HEALTHY = NumberAttribute(null=True)
    UNHEALTHY = NumberAttribute(null=True)
    DRAFT = NumberAttribute(null=True)
    RUNNING = NumberAttribute(null=True)
    PAUSED = NumberAttribute(null=True)
    OPEN = NumberAttribute(null=True)
    ACKNOWLEDGED = NumberAttribute(null=True)
    CRITICAL = NumberAttribute(null=True)
    WARNING = NumberAttribute(null=True)
    INFO = NumberAttribute(null=True)
    ADMINS = NumberAttribute(null=True)
    at = UTCDateTimeAttribute(null=True)
    pipelines = UnicodeSetAttribute(null=True)
    resource_type = UnicodeAttribute(null=True)
    connector = UnicodeAttribute(null=True)
    connect_cluster_id = UnicodeAttribute(null=True)
    state = UnicodeAttribute(null=True)
    expires_at = TTLAttribute(null=True)


class Counts:
    """The numbers, by noun and shard: `source/0` ... `source/3`."""

    @staticmethod
    def add(transaction: Transaction, noun: str, changes: Mapping[str, int]) -> None:
        """Add to the numbers of these states. All changes of one noun are one item of the transaction, however many.

        Only the sums over all shards mean something, so any shard will do.
        """
        shard = SHARDS[zlib.crc32(transaction.write_id.encode()) % len(SHARDS)]
        transaction.add(CountRow(noun, shard), changes)

    @staticmethod
    def key(entity_id: str) -> Key:
        """The key of `<noun>/<shard>`, for a read across tables."""
        noun, _, shard = entity_id.partition("/")
        return CountRow, noun, shard

    @staticmethod
    def found(row: CountRow | None) -> Mapping[str, int]:
        """The numbers in the row of a read across tables."""
        return {state: int(getattr(row, state) or 0) for state in STATES} if row else {}
