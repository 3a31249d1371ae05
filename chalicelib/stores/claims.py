"""Claims of what may exist once: a name, the open job of a resource, the tables that a delivery writes."""

import json
from collections.abc import Iterable

from pynamodb.attributes import JSONAttribute, NumberAttribute, UnicodeAttribute

from chalicelib.stores.documents import store_errors
from chalicelib.stores.rows import Key, read_rows
from chalicelib.stores.tables import Table, meta
from chalicelib.stores.transaction import Transaction


class ClaimRow(Table):
    """One claim, of `holder`. A target row has `tables` instead: which delivery writes which table of one schema."""

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

    def take(self, transaction: Transaction, key: str, holder: str, *, label: str) -> None:
        """Claim a free key. Conflict label: `label`."""
        row = ClaimRow(key, holder=holder, write_id=transaction.write_id)
        transaction.put(row, condition=ClaimRow.id.does_not_exist(), label=label)

    def release(self, transaction: Transaction, key: str, holder: str) -> None:
        """Give the claim back, if it still exists. Conflict label, when another holder has it: `claim.other_holder`."""
        condition = (ClaimRow.holder == holder) | ClaimRow.id.does_not_exist()
        transaction.delete(ClaimRow(key), condition=condition, label="claim.other_holder")


class Targets:
    """Which delivery writes which table, in one row per schema: a delivery may map hundreds of tables."""

    @staticmethod
    def key(key: str) -> Key:
        """The key of its row, for a read across tables."""
        return ClaimRow, key

    def holders(self, key: str) -> tuple[dict[str, str], int]:
        """Table name -> delivery id, and the version of the row (0 when there is none yet)."""
        with store_errors():
            (row,) = read_rows(self.key(key))
        return (dict(row.tables or {}), int(row.version)) if row else ({}, 0)

    def replace(self, transaction: Transaction, key: str, holders: dict[str, str], *, expected_version: int) -> None:
        """Store them, if nobody has changed the row since it was read. Conflict label: `targets.version`."""
        row = ClaimRow(key, tables=holders, version=expected_version + 1, write_id=transaction.write_id)
        unchanged = ClaimRow.version == expected_version if expected_version else ClaimRow.id.does_not_exist()
        transaction.put(row, condition=unchanged, label="targets.version")


def with_tables(holders: dict[str, str], tables: Iterable[str], delivery_id: str) -> dict[str, str]:
    """The same holders, but with exactly these tables for the delivery."""
    others = {table: holder for table, holder in holders.items() if holder != delivery_id}
    return others | dict.fromkeys(tables, delivery_id)


def target_key(*identity: object) -> str:
    """The key of one schema of one database, the same for every destination that names this database."""
    return "target/" + json.dumps(identity)
