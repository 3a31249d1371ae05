"""The blocks and the anchor of the audit trail. Only the signer writes them; it and the verification read them."""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from pynamodb.attributes import BinaryAttribute, NumberAttribute, UnicodeAttribute

from chalicelib.domain.audit.chain import SHARDS, Anchor, Block
from chalicelib.kit.adapters import adapter
from chalicelib.stores.rows import read_rows
from chalicelib.stores.tables import Table, meta, store_errors
from chalicelib.stores.transaction import Transaction

C = TypeVar("C", Anchor, Block)

_ANCHOR = ("anchor", "last")
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)
_DIGITS = 12
"""Of a number in a key. Leading zeros make the order of the texts that of the numbers."""


class ChainRow(Table):
    """A block of a shard, by its number; or the anchor, which is overwritten and has its number in `version`.

    `body` is compressed.
    """

    Meta = meta("audit-chain")  # type: ignore[assignment]
    shard = UnicodeAttribute(hash_key=True)
    number = UnicodeAttribute(range_key=True)
    body = BinaryAttribute(legacy_encoding=False)
    version = NumberAttribute(null=True)
    write_id = UnicodeAttribute()


class AuditChain:
    """Reads are consistent."""

    def anchor(self) -> Anchor | None:
        """The last one; None before the first signature."""
        (row,) = read_rows((ChainRow, *_ANCHOR))
        return _decode(row, Anchor(number=0, at=_NEVER)) if row else None

    def blocks(self, names: Sequence[tuple[str, int]]) -> list[Block | None]:
        """The blocks with these shards and numbers, None for each that does not exist."""
        rows = read_rows(*((ChainRow, shard, _key(number)) for shard, number in names))
        return [_block(row) if row else None for row in rows]

    def has_blocks(self) -> bool:
        """Whether a shard has its first block."""
        return any(self.blocks([(shard, 1) for shard in SHARDS]))

    def blocks_behind(self, shard: str, number: int, limit: int) -> Iterator[Block]:
        """At most `limit` blocks of a shard with greater numbers, in their order."""
        greater = ChainRow.number > _key(number)
        with store_errors():
            rows = ChainRow.query(shard, greater, limit=limit, page_size=limit, consistent_read=True)
            yield from map(_block, rows)

    def blocks_before(self, shard: str, number: int) -> Iterator[Block]:
        """The blocks of a shard with smaller numbers, the newest first."""
        smaller = ChainRow.number < _key(number)
        with store_errors():
            rows = ChainRow.query(shard, smaller, page_size=10, scan_index_forward=False, consistent_read=True)
            yield from map(_block, rows)

    def append(self, before: Anchor | None, anchor: Anchor, blocks: Iterable[Block]) -> None:
        """Store blocks and their anchor in one transaction.

        Raises WriteConflict: `anchor.changed` when `before` is no longer the anchor, `block.exists`.
        """
        with Transaction() as transaction:
            write_id, is_new = transaction.write_id, ChainRow.number.does_not_exist()
            row = ChainRow(*_ANCHOR, body=_encode(anchor), version=anchor.number, write_id=write_id)
            unchanged = ChainRow.version == before.number if before else is_new
            transaction.put(row, condition=unchanged, label="anchor.changed")
            for block in blocks:
                row = ChainRow(block.shard, _key(block.number), body=_encode(block), write_id=write_id)
                transaction.put(row, condition=is_new, label="block.exists")


def _encode(entity: Anchor | Block) -> bytes:
    kind: Any = type(entity)
    return zlib.compress(adapter(kind).dump_json(entity))


def _decode(row: ChainRow, unreadable: C) -> C:
    """The content of a row; `unreadable`, which no signature fits, for a row that was damaged."""
    try:
        kind: Any = type(unreadable)
        entity: C = adapter(kind).validate_json(zlib.decompress(row.body))
    except (ValueError, TypeError, zlib.error):
        return unreadable
    return entity


def _block(row: ChainRow) -> Block:
    return _decode(row, Block(shard=row.shard, number=0, first=0, until="", previous="", records={}))


def _key(number: int) -> str:
    return f"{number:0{_DIGITS}}"
