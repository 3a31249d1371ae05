"""Claims of what may exist once: a name, the open job of a resource, the tables that a delivery writes."""

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pynamodb.attributes import JSONAttribute, NumberAttribute, UnicodeAttribute

from chalicelib.stores.documents import store_errors
from chalicelib.stores.rows import read_rows
from chalicelib.stores.tables import Table, meta
from chalicelib.stores.transaction import Transaction

TARGET_BUCKETS = 16
"""Rows per target schema and name of its server: two schemas of 500 mappings each, under two names, are 64 items of a
transaction, and a schema of 18,000 tables stays below the 4 MB of a transaction that writes to all of its rows.
"""


class ClaimRow(Table):
    """One claim, of `holder`. A target row has `tables` instead: which delivery writes which table (`TargetRow`)."""

    Meta = meta("claims")  # type: ignore[assignment]
    id = UnicodeAttribute(hash_key=True)
    holder = UnicodeAttribute(null=True)
    tables = JSONAttribute(null=True)
    version = NumberAttribute(default=1)
    write_id = UnicodeAttribute()


class Claims:
    """Exclusive claims on a key. Keys start with the kind of claim, such as `name/source/...`."""

    def find(self, key: str) -> str | None:
        """The holder, or None."""
        with store_errors():
            (row,) = read_rows((ClaimRow, key))
        return row.holder if row else None

    def holders(self, keys: Sequence[str]) -> dict[str, str]:
        """The holders by key, without the keys that are free: one call for each hundred."""
        with store_errors():
            rows = read_rows(*((ClaimRow, key) for key in keys))
        return {key: row.holder for key, row in zip(keys, rows, strict=True) if row}

    def take(self, transaction: Transaction, key: str, holder: str, *, label: str) -> None:
        """Claim a free key. Conflict label: `label`."""
        row = ClaimRow(key, holder=holder, write_id=transaction.write_id)
        transaction.put(row, condition=ClaimRow.id.does_not_exist(), label=label)

    def release(self, transaction: Transaction, key: str, holder: str) -> None:
        """Give the claim back, if it still exists. Conflict label, when another holder has it: `claim.other_holder`."""
        condition = (ClaimRow.holder == holder) | ClaimRow.id.does_not_exist()
        transaction.delete(ClaimRow(key), condition=condition, label="claim.other_holder")


@dataclass(frozen=True, slots=True)
class TargetRow:
    """Some tables of one schema and the deliveries that write them. `version` is 0 when there is no row yet."""

    key: str
    holders: Mapping[str, str]
    version: int


class Targets:
    """Which delivery writes which table, in `TARGET_BUCKETS` rows per schema.

    A row per table would be more than the 100 items of a transaction for a delivery of hundreds of tables, one row per
    schema more than the 400 KB of an item for thousands.
    """

    def read(self, keys: Sequence[str]) -> list[TargetRow]:
        """The rows of these keys, in their order: one call for each hundred."""
        with store_errors():
            rows = read_rows(*((ClaimRow, key) for key in keys))
        return [
            TargetRow(key, dict(row.tables or {}), int(row.version)) if row else TargetRow(key, {}, 0)
            for key, row in zip(keys, rows, strict=True)
        ]

    def replace(self, transaction: Transaction, before: TargetRow, holders: Mapping[str, str]) -> None:
        """Store other holders, if nobody has changed the row since it was read. Conflict label: `targets.version`."""
        key, expected_version = before.key, before.version
        row = ClaimRow(key, tables=dict(holders), version=expected_version + 1, write_id=transaction.write_id)
        unchanged = ClaimRow.version == expected_version if expected_version else ClaimRow.id.does_not_exist()
        transaction.put(row, condition=unchanged, label="targets.version")


def with_tables(holders: Mapping[str, str], tables: Iterable[str], delivery_id: str) -> dict[str, str]:
    """The same holders, but with exactly these tables for the delivery."""
    others = {table: holder for table, holder in holders.items() if holder != delivery_id}
    return others | dict.fromkeys(tables, delivery_id)


def target_key(*identity: object, table: str | None = None) -> str:
    """The key of the row of one table of a schema, the same for every destination that names this database.

    `identity` is host, port, database and schema. Without a table it is the one row that a schema had in versions
    before the buckets: it is read and emptied, and nothing is added to it any more.
    """
    bucket = () if table is None else (zlib.crc32(table.encode()) % TARGET_BUCKETS,)
    return "target/" + json.dumps((*identity, *bucket))
