"""Which delivery writes which target table: at most one each, wherever the database is registered."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from chalicelib.domain.delivery import Delivery
from chalicelib.domain.delivery import Mapping as TopicMapping
from chalicelib.domain.destination import Destination
from chalicelib.errors import Conflict
from chalicelib.stores.claims import TargetRow, Targets, target_key, with_tables
from chalicelib.stores.transaction import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetClaims:
    """Claims on the tables of database destinations."""

    targets: Targets

    def claim(
        self, transaction: Transaction, delivery: Delivery, destination: Destination, mappings: Sequence[TopicMapping]
    ) -> None:
        """Claim exactly the target tables of these mappings; those of the delivery's own mappings become free.

        Raises Conflict TARGET_TABLE_CONFLICT when another delivery writes one of them.
        """
        identity = destination.address.identity
        buckets: dict[str, set[str]] = defaultdict(set)
        former_rows: dict[str, set[str]] = defaultdict(set)
        chosen = frozenset(mappings)
        for mapping in chosen.union(delivery.mappings):
            claimed = {mapping.table_name} if mapping in chosen else set[str]()
            buckets[target_key(*identity, mapping.schema_name, table=mapping.table_name)] |= claimed
            former_rows[target_key(*identity, mapping.schema_name)] |= claimed
        for row in self.targets.read([*buckets, *former_rows]):
            _require_free(row, {**buckets, **former_rows}[row.key], delivery.id)
            after = with_tables(row.holders, buckets.get(row.key, ()), delivery.id)
            if after != row.holders:
                self.targets.replace(transaction, row, after)

    def release(self, transaction: Transaction, delivery: Delivery, destination: Destination) -> None:
        """Make all of the delivery's target tables free."""
        self.claim(transaction, delivery, destination, ())

    def require_free(self, delivery: Delivery, destination: Destination) -> None:
        """Raise Conflict TARGET_TABLE_CONFLICT when another delivery writes one of its tables. Claims nothing."""
        self.claim(Transaction(), delivery, destination, delivery.mappings)


def _require_free(row: TargetRow, tables: Collection[str], delivery_id: str) -> None:
    if any(row.holders.get(table, delivery_id) != delivery_id for table in tables):
        raise Conflict(
            "Another delivery writes to one of these target tables. Two writers would undo each other's rows.",
            code="TARGET_TABLE_CONFLICT",
        )
