"""The chain of the audit trail. `infra/decisions/020-audit-integrity.md` says why it is as it is.

Records are written without a link. The signer lists those that are new in blocks, for each shard of its own, with a
digest of each record; each block has the digest of the one before. The anchor signs where the blocks of all shards end.
So no signed record can be changed, removed, added or moved without the key of the anchor.
"""

import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from chalicelib.kit.clock import rfc3339

SHARDS = tuple("01234567")
"""Partitions of the trail. One takes 1,000 write units a second, and a record of 4 KB costs 8 in a transaction: all of
them take 1,000 such records a second, which is as many as the indexes of the lists take.
"""

MAX_RECORDS = 1_000
"""Of a block: about 60 KB, compressed."""

MAX_DELAY = timedelta(seconds=60)
"""How long after its time a record may be written and is still found by the signer: longer than any transaction takes.
"""

SIGNED_WITHIN = timedelta(minutes=10)
"""A record that no block lists so long after it was written: the schedule fails, or somebody has tampered. An anchor is
made at least so often, so that no record can be added with an older time.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Some records of one shard: digests by position. `first` is the number of its first record, counted from 1.

    `until`: up to this position nothing else was new when it was made. `previous` is the digest of the block before.
    """

    shard: str
    number: int
    first: int
    until: str
    previous: str
    records: Mapping[str, str]

    @property
    def end(self) -> "End":
        return End(blocks=self.number, records=self.first + len(self.records) - 1, digest=self.digest)

    @property
    def digest(self) -> str:
        start = [self.shard, self.number, self.first, self.until, self.previous]
        return _digest([*start, sorted(self.records.items())])


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    blocks: int = 0
    records: int = 0
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """The signed ends of the shards that have blocks; `number` counts the signatures.

    `unfinished`: shards with more new records than a block takes, and the position of the last one that it took.
    """

    number: int
    at: datetime
    ends: Mapping[str, End] = field(default_factory=dict)
    unfinished: Mapping[str, str] = field(default_factory=dict)
    signature: str = ""

    @property
    def text(self) -> bytes:
        """The text that is signed: less than 2 KB (the key service takes 4 KB)."""
        ends = [[shard, end.blocks, end.records, end.digest] for shard, end in sorted(self.ends.items())]
        parts = [self.number, rfc3339(self.at), ends, sorted(self.unfinished.items())]
        return json.dumps(parts, separators=(",", ":")).encode()

    def end(self, shard: str) -> End:
        """The end of a shard, which may have no blocks."""
        return self.ends.get(shard, End())


def shard_of(record_id: str) -> str:
    return SHARDS[zlib.crc32(record_id.encode()) % len(SHARDS)]


def record_digest(columns: Mapping[str, Any]) -> str:
    """The digest of everything in the row of a record."""
    return _digest(sorted(columns.items()))


def next_block(shard: str, before: Block | None, records: Mapping[str, str], until: str) -> Block:
    """The block with these records behind the last one of the shard."""
    end = before.end if before else End()
    return Block(
        shard=shard,
        number=end.blocks + 1,
        first=end.records + 1,
        until=max(until, before.until if before else "", *records),
        previous=end.digest,
        records=records,
    )


def next_anchor(before: Anchor | None, last: Mapping[str, Block], new: Iterable[Block], at: datetime) -> Anchor:
    """The anchor of shards that end with these blocks, of which some are `new`. It is not signed yet."""
    number = before.number + 1 if before else 1
    unfinished = {block.shard: max(block.records) for block in new if len(block.records) == MAX_RECORDS}
    return Anchor(number=number, at=at, ends={shard: block.end for shard, block in last.items()}, unfinished=unfinished)


def last_position(at: datetime) -> str:
    """Behind all records of that millisecond."""
    return f"{rfc3339(at)}#~"


def search_start(anchor: Anchor | None, shard: str, now: datetime) -> str:
    """The position behind which records of a shard may be new: some are written later than others with a later time.
    When the clock was set back, all new ones have times that were signed before.
    """
    if anchor is None:
        return ""
    unfinished = anchor.unfinished.get(shard)
    signed = datetime.fromisoformat(unfinished.partition("#")[0]) if unfinished else anchor.at
    return rfc3339(min(signed, now) - MAX_DELAY)


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, separators=(",", ":")).encode()).hexdigest()
