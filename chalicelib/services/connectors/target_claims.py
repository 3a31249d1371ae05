"""Which delivery writes which target table: at most one each, wherever the database is registered."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from chalicelib.domain.delivery import Delivery
from chalicelib.domain.delivery import Mapping as TopicMapping
from chalicelib.domain.destination import Destination
from chalicelib.errors import Conflict
from chalicelib.stores.claims import TargetRow, Targets, target_key, with_tables
from chalicelib.stores.transaction import Transaction

_Tables = Mapping[str, Collection[str]]
"""Names of tables by the key of their row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetClaims:
    """Claims on the tables of database destinations.

    A table is claimed at the address of the destination and, where that is known, at the identity of its server: so two
    addresses of one server meet, and so do deliveries of a time when the identity was not known yet.
    """

    targets: Targets

    def claim(
        self, transaction: Transaction, delivery: Delivery, destination: Destination, mappings: Sequence[TopicMapping]
    ) -> None:
        """Claim exactly the target tables of these mappings; those of the delivery's own mappings become free.

        Raises Conflict TARGET_TABLE_CONFLICT when another delivery writes one of them.
        """
        claimed, in_former_rows = _claimed(destination, mappings), _in_former_rows(destination, mappings)
        for row in self._rows(destination, {*delivery.mappings, *mappings}):
            tables = claimed.get(row.key, ())
            _require_free(row, [*tables, *in_former_rows.get(row.key, ())], delivery.id)
            self._write(transaction, row, with_tables(row.holders, tables, delivery.id))

    def keep(
        self, transaction: Transaction, delivery: Delivery, destination: Destination, mappings: Sequence[TopicMapping]
    ) -> None:
        """Of the delivery's claims keep those of these mappings: the others become free, and none is added."""
        kept = _claimed(destination, mappings)
        for row in self._rows(destination, {*delivery.mappings, *mappings}):
            still = kept.get(row.key, ())
            after = {table: one for table, one in row.holders.items() if one != delivery.id or table in still}
            self._write(transaction, row, after)

    def release(self, transaction: Transaction, delivery: Delivery, destination: Destination) -> None:
        """Make all of the delivery's target tables free."""
        self.keep(transaction, delivery, destination, ())

    def require_free(self, delivery: Delivery, destination: Destination) -> None:
        """Raise Conflict TARGET_TABLE_CONFLICT when another delivery writes one of its tables. Claims nothing."""
        self.claim(Transaction(), delivery, destination, delivery.mappings)

    def _rows(self, destination: Destination, mappings: Collection[TopicMapping]) -> Sequence[TargetRow]:
        return self.targets.read([*_claimed(destination, mappings), *_in_former_rows(destination, mappings)])

    def _write(self, transaction: Transaction, row: TargetRow, after: Mapping[str, str]) -> None:
        if after != row.holders:
            self.targets.replace(transaction, row, after)


def _claimed(destination: Destination, mappings: Iterable[TopicMapping]) -> _Tables:
    return _by_row(
        (target_key(*place, mapping.schema_name, table=mapping.table_name), mapping.table_name)
        for mapping in mappings
        for place in destination.places
    )


def _in_former_rows(destination: Destination, mappings: Iterable[TopicMapping]) -> _Tables:
    """The one row that a schema had in earlier versions: it is emptied, and nothing is added to it."""
    place = destination.address.identity
    return _by_row((target_key(*place, mapping.schema_name), mapping.table_name) for mapping in mappings)


def _by_row(tables: Iterator[tuple[str, str]]) -> _Tables:
    rows: dict[str, set[str]] = defaultdict(set)
    for key, table in tables:
        rows[key].add(table)
    return rows


def _require_free(row: TargetRow, tables: Collection[str], delivery_id: str) -> None:
    if any(row.holders.get(table, delivery_id) != delivery_id for table in tables):
        raise Conflict(
            "Another delivery writes to one of these target tables. Two writers would undo each other's rows.",
            code="TARGET_TABLE_CONFLICT",
        )
