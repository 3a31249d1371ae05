"""Which delivery writes which target table: at most one each, wherever the database is registered."""

from collections.abc import Sequence
from dataclasses import dataclass

from chalicelib.domain.delivery import Delivery
from chalicelib.domain.delivery import Mapping as TopicMapping
from chalicelib.domain.destination import Destination
from chalicelib.errors import Conflict
from chalicelib.stores.claims import Targets, target_key, with_tables
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
        schemas = dict.fromkeys(mapping.schema_name for mapping in (*delivery.mappings, *mappings))
        for schema in schemas:
            key = target_key(*destination.address.identity, schema)
            tables = [mapping.table_name for mapping in mappings if mapping.schema_name == schema]
            self._claim_schema(transaction, key, tables, delivery.id)

    def release(self, transaction: Transaction, delivery: Delivery, destination: Destination) -> None:
        """Make all of the delivery's target tables free."""
        self.claim(transaction, delivery, destination, ())

    def require_free(self, delivery: Delivery, destination: Destination) -> None:
        """Raise Conflict TARGET_TABLE_CONFLICT when another delivery writes one of its tables. Claims nothing."""
        self.claim(Transaction(), delivery, destination, delivery.mappings)

    def _claim_schema(self, transaction: Transaction, key: str, tables: Sequence[str], delivery_id: str) -> None:
        holders, version = self.targets.holders(key)
        if any(holders.get(table, delivery_id) != delivery_id for table in tables):
            raise Conflict(
                "Another delivery writes to one of these target tables. Two writers would undo each other's rows.",
                code="TARGET_TABLE_CONFLICT",
            )
        self.targets.replace(transaction, key, with_tables(holders, tables, delivery_id), expected_version=version)
