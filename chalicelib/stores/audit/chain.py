"""The blocks and the anchors of the audit trail. Only the signer writes them; it and the verification read them."""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeVar

from pynamodb.attributes import TTLAttribute, UnicodeAttribute

from chalicelib.domain.audit.chain import CHAIN_OUTLIVES, SHARDS, Anchor, Block
from chalicelib.kit.adapters import adapter
from chalicelib.stores.counts import CountRow
from chalicelib.stores.rows import read_rows
from chalicelib.stores.tables import BytesAttribute, Table, meta, store_errors
from chalicelib.stores.transaction import Transaction

C = TypeVar("C", Anchor, Block)

_ANCHORS = "anchor"
_BEGUN = ("audit", "begun")
_VERIFIED = ("audit", "verified")
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)
_DIGITS = 12
"""Of a number in a key. Leading zeros make the order of the texts that of the numbers."""


class ChainRow(Table):
    """A block of a shard, or an anchor (in place of the shard: `anchor`), by its number. `body` is compressed."""

    Meta = meta("audit-chain")  # type: ignore[assignment]
    shard = UnicodeAttribute(hash_key=True)
    number = UnicodeAttribute(range_key=True)
    body = BytesAttribute()
    write_id = UnicodeAttribute()
    expires_at = TTLAttribute(null=True)


class VerifiedPart(NamedTuple):
    """A part of the trail was verified: it began behind the anchor `start`, and the next one begins at `next_key`."""

    start: int
    next_key: str


class AuditChain:
    """Reads are consistent. No row is ever changed."""

    def anchor(self) -> Anchor | None:
        """The last one; None before the first signature."""
        with store_errors():
            rows = ChainRow.query(_ANCHORS, limit=1, scan_index_forward=False, consistent_read=True)
            return next(map(_anchor, rows), None)

    def numbered(self, number: int) -> Anchor | None:
        """The anchor with this number."""
        (row,) = read_rows((ChainRow, _ANCHORS, _key(number)))
        return _anchor(row) if row else None

    def anchors_behind(self, number: int, limit: int) -> Iterator[Anchor]:
        """At most `limit` anchors with greater numbers, in their order."""
        yield from map(_anchor, _behind(_ANCHORS, number, limit))

    def blocks(self, names: Sequence[tuple[str, int]]) -> list[Block | None]:
        """The blocks with these shards and numbers, None for each that does not exist."""
        rows = read_rows(*((ChainRow, shard, _key(number)) for shard, number in names))
        return [_block(row) if row else None for row in rows]

    def has_blocks(self) -> bool:
        """Whether a shard has any block."""
        return any(next(self.blocks_behind(shard, 0, 1), None) for shard in SHARDS)

    def has_begun(self) -> bool:
        """Whether there was an anchor once. That is noted in another table."""
        kind, part = _BEGUN
        with store_errors():
            return next(iter(CountRow.query(kind, CountRow.part == part, consistent_read=True)), None) is not None

    def verified_to(self) -> VerifiedPart | None:
        """How far the schedule has verified the trail in this round; None when a round begins."""
        (row,) = read_rows((CountRow, *_VERIFIED))
        start, _, key = (row.numbers or "").partition(" ") if row else ("", "", "")
        return VerifiedPart(int(start), key) if key else None

    def note_verified(self, part: VerifiedPart | None) -> None:
        """Raises StoreUnavailable."""
        # Two runs at once verify the same twice, whoever is last.
        with store_errors():
            CountRow(*_VERIFIED, numbers=f"{part.start} {part.next_key}" if part else None).save()

    def blocks_behind(self, shard: str, number: int, limit: int) -> Iterator[Block]:
        """At most `limit` blocks of a shard with greater numbers, in their order."""
        yield from map(_block, _behind(shard, number, limit))

    def blocks_before(self, shard: str, number: int) -> Iterator[Block]:
        """The blocks of a shard with smaller numbers, the newest first."""
        smaller = ChainRow.number < _key(number)
        with store_errors():
            rows = ChainRow.query(shard, smaller, page_size=10, scan_index_forward=False, consistent_read=True)
            yield from map(_block, rows)

    def append(self, before: Anchor | None, anchor: Anchor, blocks: Iterable[Block]) -> None:
        """Store blocks and their anchor in one transaction.

        Raises WriteConflict: `anchor.exists` when another process has stored one behind `before`, `block.exists`.
        """
        is_new, expires_at = ChainRow.number.does_not_exist(), _expiry(anchor)
        rows = [(ChainRow(_ANCHORS, _key(anchor.number), body=_encode(anchor)), "anchor.exists")]
        rows += [(ChainRow(block.shard, _key(block.number), body=_encode(block)), "block.exists") for block in blocks]
        with Transaction() as transaction:
            for row, label in rows:
                row.write_id = transaction.write_id
                row.expires_at = expires_at
                transaction.put(row, condition=is_new, label=label)
            if before is None:
                transaction.put(CountRow(*_BEGUN, at=anchor.at), condition=None, label="audit.begun")


def _expiry(anchor: Anchor) -> datetime | None:
    # While nothing is recorded, each anchor has been up to expired records from the beginning.
    return max(anchor.expires_at, anchor.at) + CHAIN_OUTLIVES if anchor.expires_at else None


def _behind(shard: str, number: int, limit: int) -> Iterator[ChainRow]:
    greater = ChainRow.number > _key(number)
    with store_errors():
        yield from ChainRow.query(shard, greater, limit=limit, page_size=limit, consistent_read=True)


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
    return entity if row.number == _key(entity.number) else unreadable


def _anchor(row: ChainRow) -> Anchor:
    return _decode(row, Anchor(number=0, at=_NEVER))


def _block(row: ChainRow) -> Block:
    return _decode(row, Block(shard=row.shard, number=0, first=0, until="", previous="", records={}))


def _key(number: int) -> str:
    return f"{number:0{_DIGITS}}"
