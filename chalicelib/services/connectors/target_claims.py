"""Which delivery writes which target, such as a table: at most one each, wherever the destination is registered."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from chalicelib.domain.delivery import Delivery, Writing
from chalicelib.domain.destination import Destination
from chalicelib.domain.providers.registry import target_provider
from chalicelib.domain.usage import MAX_NAMED
from chalicelib.errors import Conflict
from chalicelib.stores.claims import TargetRow, Targets, target_key, with_targets
from chalicelib.stores.transaction import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetClaims:
    """Claims on the targets of deliveries. What a delivery claims at a destination, the provider knows."""

    targets: Targets

    def claim(self, transaction: Transaction, delivery: Delivery, destination: Destination, *writings: Writing) -> None:
        """Claim exactly the targets of these writings; those of the delivery's own become free.

        Raises Conflict TARGET_TABLE_CONFLICT when another delivery writes one of them.
        """
        claimed = _by_row(destination, writings)
        for row in self._rows(destination, delivery.writing, *writings):
            targets = claimed.get(row.key, ())
            _require_free(row, targets, delivery.id)
            self._write(transaction, row, with_targets(row.holders, targets, delivery.id))

    def keep(self, transaction: Transaction, delivery: Delivery, destination: Destination, *writings: Writing) -> None:
        """Of the delivery's claims keep those of these writings: the others become free, and none is added."""
        self._free(transaction, delivery, destination, (delivery.writing, *writings), kept=writings)

    def release(
        self, transaction: Transaction, delivery: Delivery, destination: Destination, *pending: Writing
    ) -> None:
        """Make all of the delivery's targets free, and those of changes that are pending."""
        self._free(transaction, delivery, destination, (delivery.writing, *pending), kept=())

    def require_free(self, delivery: Delivery, destination: Destination) -> None:
        """Raise Conflict TARGET_TABLE_CONFLICT when another delivery writes one of its targets. Claims nothing."""
        self.claim(Transaction(), delivery, destination, delivery.writing)

    def _free(
        self,
        transaction: Transaction,
        delivery: Delivery,
        destination: Destination,
        writings: Iterable[Writing],
        *,
        kept: Iterable[Writing],
    ) -> None:
        still_claimed = _by_row(destination, kept)
        for row in self._rows(destination, *writings):
            still = still_claimed.get(row.key, ())
            after = {name: holder for name, holder in row.holders.items() if holder != delivery.id or name in still}
            self._write(transaction, row, after)

    def _rows(self, destination: Destination, *writings: Writing) -> list[TargetRow]:
        return self.targets.read(list(_by_row(destination, writings)))

    def _write(self, transaction: Transaction, row: TargetRow, after: Mapping[str, str]) -> None:
        if after != row.holders:
            self.targets.replace(transaction, row, after)


def _by_row(destination: Destination, writings: Iterable[Writing]) -> Mapping[str, Collection[str]]:
    """Names of targets by the key of their row."""
    address = destination.address
    claimed_targets = target_provider(address.provider).claimed_targets
    rows: dict[str, set[str]] = defaultdict(set)
    for writing in writings:
        for target in claimed_targets(writing, address, destination.server_identity):
            rows[target_key(target.place, target.name)].add(target.name)
    return rows


def _require_free(row: TargetRow, names: Collection[str], delivery_id: str) -> None:
    taken = {name: row.holders[name] for name in names if row.holders.get(name, delivery_id) != delivery_id}
    if taken:
        raise Conflict(
            "Another delivery writes to one of these target tables. Two writers would undo each other's rows. Choose "
            "another table, or take it out of that delivery's mappings first.",
            code="TARGET_TABLE_CONFLICT",
            details={"delivery_ids": sorted(set(taken.values()))[:MAX_NAMED]},
        )
