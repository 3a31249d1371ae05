"""Claims: rows whose existence is the point. A unique name, the one open job of a source, the tables of a target."""

import json
from collections.abc import Iterable

from pynamodb.attributes import JSONAttribute, NumberAttribute, UnicodeAttribute

from chalicelib.stores.documents import store_errors
from chalicelib.stores.rows import Key, read_rows
from chalicelib.stores.tables import Table, meta
from chalicelib.stores.transaction import Transaction


class ClaimRow(Table):
    """`holder` has the claim; a target row instead holds which delivery writes which table of one schema."""

    Meta = meta("claims")  # type: ignore[assignment]
    id = UnicodeAttribute(hash_key=True)
    holder = UnicodeAttribute(null=True)
    tables = JSONAttribute(null=True)
    version = NumberAttribute(default=1)
    write_id = UnicodeAttribute()


class Claims:
    """Exclusive claims on a key. Keys start with the kind of claim, such as `name/source/...`."""

    def find(self, key: str) -> str | None:
        """Who holds it, if anybody."""
        with store_errors():
            (row,) = read_rows((ClaimRow, key))
        return row.holder if row else None

    def take(self, transaction: Transaction, key: str, holder: str, *, label: str) -> None:
        """Claim a free key."""
        row = ClaimRow(key, holder=holder, write_id=transaction.write_id)
        transaction.put(row, condition=ClaimRow.id.does_not_exist(), label=label)

    def release(self, transaction: Transaction, key: str, holder: str) -> None:
        """Give it back. Nothing happens to a claim that somebody else holds: the transaction fails."""
        condition = (ClaimRow.holder == holder) | ClaimRow.id.does_not_exist()
        transaction.delete(ClaimRow(key), condition=condition, label="claim.held")


class Targets:
    """Which delivery writes which table, for all tables of one schema in one row: a delivery may map hundreds."""

    @staticmethod
    def key(key: str) -> Key:
        """The key of its row, for a read across tables."""
        return ClaimRow, key

    def holders(self, key: str) -> tuple[dict[str, str], int]:
        """Table name -> delivery id, and the version of that knowledge (0 when there is none yet)."""
        with store_errors():
            (row,) = read_rows(self.key(key))
        return (dict(row.tables or {}), int(row.version)) if row else ({}, 0)

    def replace(self, transaction: Transaction, key: str, holders: dict[str, str], *, expected_version: int) -> None:
        """Store who writes what, if nobody changed it meanwhile. Conflict label: `targets.version`."""
        row = ClaimRow(key, tables=holders, version=expected_version + 1, write_id=transaction.write_id)
        known = ClaimRow.version == expected_version if expected_version else ClaimRow.id.does_not_exist()
        transaction.put(row, condition=known, label="targets.version")


def with_tables(holders: dict[str, str], tables: Iterable[str], delivery_id: str) -> dict[str, str]:
    """The same knowledge with exactly these tables held by the delivery."""
    others = {table: holder for table, holder in holders.items() if holder != delivery_id}
    return others | dict.fromkeys(tables, delivery_id)


def target_key(*place: object) -> str:
    """The key of one schema of one database, wherever it is registered."""
    return "target/" + json.dumps(place)
