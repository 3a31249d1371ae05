"""The chain of the audit trail. `infra/decisions/020-audit-integrity.md` says why it is as it is.

Records are written without a link. The signer lists those that are new in blocks, for each shard of its own, with a
digest of each record; each block has the digest of the one before. An anchor signs where the blocks of all shards end,
and has the digest of the anchor before. So no signed record can be changed, removed, added or moved without the key of
the anchors.

Records that are kept for a time only expire by themselves, and later so do blocks and anchors. The kept trail begins
behind the newest anchor up to which every record has expired; the last anchor says where that is.
"""

import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from chalicelib.kit.clock import rfc3339

SHARDS = tuple("01234567")
"""Partitions of the trail. One takes 1,000 write units a second, and a record of 4 KB costs 8 in a transaction: all of
them take 1,000 such records a second, which is as many as the indexes of the lists take.
"""

MAX_RECORDS = 1_000
"""Of a block: about 60 KB, compressed."""

CHAIN_OUTLIVES = timedelta(days=30)
"""How long blocks and anchors are kept after the last of their records has expired. DynamoDB removes what has expired
within a few days, and the signer has to see an expired anchor before it moves the beginning of the trail there.
"""

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
    The first of its records expires at `kept_until`, the last at `expires_at`; None: never.
    """

    shard: str
    number: int
    first: int
    until: str
    previous: str
    records: Mapping[str, str]
    kept_until: datetime | None = None
    expires_at: datetime | None = None

    @property
    def end(self) -> "End":
        records = self.first + len(self.records) - 1
        return End(blocks=self.number, records=records, digest=self.digest, until=self.until)

    @property
    def digest(self) -> str:
        start = [self.shard, self.number, self.first, self.until, self.previous]
        return _digest([*start, _text(self.kept_until), _text(self.expires_at), sorted(self.records.items())])


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """Where the blocks of a shard end: how many there are and records in them, and `digest` and `until` of the last."""

    blocks: int = 0
    records: int = 0
    digest: str = ""
    until: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """The name of an anchor: its number, time and digest. Number 0: before the first one."""

    number: int = 0
    at: datetime | None = None
    digest: str = ""


NO_ANCHOR = Link()


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """The signed ends of the shards that have blocks; `number` counts the signatures, `previous` is the digest of the
    anchor before.

    `unfinished`: shards with more new records than a block takes, and the position of the last one that it took.
    The kept trail begins behind the anchor `first`, with what follows on `starts`. `expires_at`: every record up to
    here has expired then; None: never. `copied_to`: where copies of the last anchor are kept. `accepted` is the
    position of the last record by which somebody accepts a restored trail; `restored`: this anchor was made by it, and
    numbers between this one and the one before may be missing.
    """

    number: int
    at: datetime
    previous: str = ""
    ends: Mapping[str, End] = field(default_factory=dict)
    unfinished: Mapping[str, str] = field(default_factory=dict)
    first: Link = NO_ANCHOR
    starts: Mapping[str, End] = field(default_factory=dict)
    expires_at: datetime | None = None
    copied_to: str = ""
    accepted: str = ""
    restored: bool = False
    signature: str = ""

    @property
    def text(self) -> bytes:
        """The text that is signed: less than the 4 KB that the key service takes."""
        first = [self.first.number, _text(self.first.at), self.first.digest]
        parts = [
            *(self.number, rfc3339(self.at), self.previous, _texts(self.ends), sorted(self.unfinished.items())),
            *(first, _texts(self.starts), _text(self.expires_at), self.copied_to, self.accepted, self.restored),
        ]
        return json.dumps(parts, separators=(",", ":")).encode()

    @property
    def link(self) -> Link:
        return Link(number=self.number, at=self.at, digest=hashlib.sha256(self.text).hexdigest())

    def end(self, shard: str) -> End:
        """The end of a shard, which may have no blocks."""
        return self.ends.get(shard, End())

    def start(self, shard: str) -> End:
        """Behind this the kept trail of a shard begins."""
        return self.starts.get(shard, End())

    def beginning_behind(self, other: "Anchor") -> "Anchor":
        """The same, with another beginning of the kept trail."""
        return replace(self, first=other.link, starts=other.ends)


def shard_of(record_id: str) -> str:
    return SHARDS[zlib.crc32(record_id.encode()) % len(SHARDS)]


def record_digest(columns: Mapping[str, Any]) -> str:
    """The digest of everything in the row of a record."""
    return _digest(sorted(columns.items()))


def next_block(
    shard: str, end: End, records: Mapping[str, str], until: str, expire_at: Iterable[datetime | None] = ()
) -> Block:
    """The block with these records behind the end of the shard. `expire_at`: when each of them expires; None: never."""
    times = list(expire_at)
    finite = [time for time in times if time is not None]
    return Block(
        shard=shard,
        number=end.blocks + 1,
        first=end.records + 1,
        until=max(until, end.until, *records),
        previous=end.digest,
        records=records,
        kept_until=min(finite, default=None),
        expires_at=latest(times),
    )


def next_anchor(before: Anchor | None, new: Iterable[Block], at: datetime) -> Anchor:
    """The anchor behind the one before, of shards some of which have `new` blocks. It is not signed yet."""
    blocks = list(new)
    expire_at = [block.expires_at for block in blocks]
    unfinished = {block.shard: max(block.records) for block in blocks if len(block.records) == MAX_RECORDS}
    ends = {block.shard: block.end for block in blocks}
    if before is None:
        return Anchor(number=1, at=at, ends=ends, unfinished=unfinished, expires_at=latest(expire_at))
    return replace(
        before,
        number=before.number + 1,
        at=at,
        previous=before.link.digest,
        ends={**before.ends, **ends},
        unfinished=unfinished,
        expires_at=latest([before.expires_at, *expire_at]),
        restored=False,
        signature="",
    )


def latest(times: Iterable[datetime | None]) -> datetime | None:
    """The latest of some times, of which None is never."""
    known = list(times)
    return None if None in known else max((time for time in known if time), default=None)


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


def _texts(ends: Mapping[str, End]) -> list[list[Any]]:
    return [[shard, end.blocks, end.records, end.digest, end.until] for shard, end in sorted(ends.items())]


def _text(at: datetime | None) -> str:
    return rfc3339(at) if at else ""


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, separators=(",", ":")).encode()).hexdigest()
