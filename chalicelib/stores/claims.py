"""Claims, which guarantee uniqueness: of a name, of the open job of a resource, of the targets of a delivery."""

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pynamodb.attributes import JSONAttribute, NumberAttribute, UnicodeAttribute

from chalicelib.stores.rows import read_rows
from chalicelib.stores.tables import Table, meta
from chalicelib.stores.transaction import Transaction

TARGET_BUCKETS = 16
"""Rows per place of targets, such as a schema at one name of its server: two schemas of 500 mappings each, under two
names, are 64 items of a transaction, and a schema of 18,000 tables stays below the 4 MB of a transaction that writes to
all of its rows.
"""


class ClaimRow(Table):
    """The claim of one `holder`. A target row (`TargetRow`) has `targets` instead: delivery ids by target."""

    Meta = meta("claims")  # type: ignore[assignment]
    id = UnicodeAttribute(hash_key=True)
    holder = UnicodeAttribute(null=True)
    targets = JSONAttribute(null=True)
    version = NumberAttribute(default=1)
    write_id = UnicodeAttribute()


class Claims:
    """Exclusive claims on a key. Keys start with the kind of claim, such as `name/source/...`.

    `row` has the columns `id`, `holder` and `write_id`: a store of claims may have a table of its own.
    """

    row: ClassVar[Any] = ClaimRow

    def find(self, key: str) -> str | None:
        return self.holders([key]).get(key)

    def holders(self, keys: Sequence[str]) -> dict[str, str]:
        """The holders by key, without the free keys: one call for each hundred."""
        rows = read_rows(*((self.row, key) for key in keys))
        return {key: row.holder for key, row in zip(keys, rows, strict=True) if row}

    def take(self, transaction: Transaction, key: str, holder: str, *, label: str) -> None:
        """Claim a free key. `label` is the conflict label."""
        row = self.row(key, holder=holder, write_id=transaction.write_id)
        transaction.put(row, condition=self.row.id.does_not_exist(), label=label)

    def release(self, transaction: Transaction, key: str, holder: str) -> None:
        """Delete the claim, if it still exists. Conflict label when it has another holder: `claim.other_holder`."""
        # A release may be repeated after a lost reply, when the claim is gone already.
        condition = (self.row.holder == holder) | self.row.id.does_not_exist()
        transaction.delete(self.row(key), condition=condition, label="claim.other_holder")


@dataclass(frozen=True, slots=True)
class TargetRow:
    """A share of the targets at one place, such as a schema, and the ids of the deliveries that write them.

    `version` is 0 when there is no row yet.
    """

    key: str
    holders: Mapping[str, str]
    version: int


class Targets:
    """The delivery of each target, in `TARGET_BUCKETS` rows per place.

    With a row per target, a delivery of hundreds of tables would exceed the 100 items of a transaction. With one row
    per place, thousands of tables would exceed the 400 KB of an item.
    """

    def read(self, keys: Sequence[str]) -> list[TargetRow]:
        """In the order of the keys: one call for each hundred."""
        rows = read_rows(*((ClaimRow, key) for key in keys))
        return [
            TargetRow(key, dict(row.targets or {}), int(row.version)) if row else TargetRow(key, {}, 0)
            for key, row in zip(keys, rows, strict=True)
        ]

    def replace(self, transaction: Transaction, before: TargetRow, holders: Mapping[str, str]) -> None:
        """Store other holders, if the row was not written since it was read. Conflict label: `targets.version`."""
        key, expected_version = before.key, before.version
        row = ClaimRow(key, targets=dict(holders), version=expected_version + 1, write_id=transaction.write_id)
        unchanged = ClaimRow.version == expected_version if expected_version else ClaimRow.id.does_not_exist()
        transaction.put(row, condition=unchanged, label="targets.version")


def with_targets(holders: Mapping[str, str], targets: Iterable[str], delivery_id: str) -> dict[str, str]:
    """The holders by target after the delivery has got exactly these targets."""
    others = {target: holder for target, holder in holders.items() if holder != delivery_id}
    return others | dict.fromkeys(targets, delivery_id)


def target_key(place: Sequence[object], name: str) -> str:
    """The key of the row of one target, the same for every destination that names this place."""
    return "target/" + json.dumps((*place, zlib.crc32(name.encode()) % TARGET_BUCKETS))
