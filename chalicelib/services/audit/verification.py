"""Verifies the audit trail, a part at a time: the blocks of each shard with their records, up to the last anchor, and
then the anchors.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice

from chalicelib.domain.audit.chain import NO_ANCHOR, SHARDS, SIGNED_WITHIN, Anchor, Block, End, Link, last_position
from chalicelib.domain.audit.problems import AuditChanged, Problem, ProblemCode
from chalicelib.errors import Invalid
from chalicelib.kit.clock import Clock, Deadline, rfc3339
from chalicelib.services.audit.anchors import Anchors
from chalicelib.stores.audit.chain import AuditChain
from chalicelib.stores.audit.group import AuditStores
from chalicelib.stores.audit.records import Audit, StoredRecord

_MAX_BLOCKS = 100
_MAX_LATER_BLOCKS = 300
"""Where a record is looked for that was written after its time was signed: a clock was set back by some hours."""

_ANCHORS = "anchors"
"""In a cursor: behind the shards."""

_MAX_ANCHORS = 500
"""That one call reads: about half a megabyte."""


@dataclass(slots=True, kw_only=True)
class Verification:
    """The result of one part. `checked` counts records that are as signed, `unsigned` those that wait for a signature.

    The part is of what lies behind `start`. `next_key` is where the next part begins; None: all of that was verified.
    """

    anchor: Anchor | None = None
    start: Link = NO_ANCHOR
    checked: int = 0
    unsigned: dict[str, int] = field(default_factory=dict)
    first_problem: Problem | None = None
    next_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditVerifier:
    stores: AuditStores
    anchors: Anchors
    clock: Clock

    def verify(
        self, *, after: str | None, limit: int, deadline: Deadline, from_anchor: int | None = None
    ) -> Verification:
        """Verify about `limit` records behind `after` (a `next_key`), fewer when the deadline is near.

        It begins at the beginning of the kept trail, or behind an anchor. Raises Invalid for an anchor behind which it
        cannot begin.
        """
        result = Verification()
        try:
            result.anchor = self.anchors.last().anchor
            start, starts = self._start(result.anchor, from_anchor)
            result.start = start
            walk = _Walk(
                audit=self.stores.records,
                chain=self.stores.chain,
                result=result,
                starts=starts,
                limit=limit,
                deadline=deadline,
                now=self.clock(),
            )
            walk.go(after or "")
        except AuditChanged as changed:
            result.first_problem, result.next_key = changed.problem, None
            if result.anchor is None:  # who accepts restored tables has to name it
                stored = self.stores.chain.anchor()
                result.anchor = stored if stored and self.anchors.is_genuine(stored) else None
        return result

    def _start(self, last: Anchor | None, number: int | None) -> tuple[Link, Mapping[str, End]]:
        """The anchor behind which to begin, and where it says that the shards ended."""
        if last is None or not number or number == last.first.number:
            return (last.first, last.starts) if last else (NO_ANCHOR, {})
        anchor = self.anchors.numbered(number) if last.first.number < number <= last.number else None
        if anchor is None:
            message = f"There is no such anchor. They have numbers from {last.first.number + 1} to {last.number}."
            raise Invalid.at("query", "from_anchor", type_="not_found", message=message)
        return anchor.link, anchor.ends


@dataclass(slots=True, kw_only=True)
class _Walk:
    """`starts`: behind these ends of shards it begins."""

    audit: Audit
    chain: AuditChain
    result: Verification
    starts: Mapping[str, End]
    limit: int
    deadline: Deadline
    now: datetime

    def go(self, after: str) -> None:
        """`after` is `<shard>/<number of a block>`, or `anchors/<number of an anchor>`."""
        first, _, number = after.partition("/")
        for shard in SHARDS:
            if shard >= first and not self._shard(shard, int(number) if shard == first else 0):
                return
        self._anchors(int(number) if first == _ANCHORS else 0)

    def _shard(self, shard: str, number: int) -> bool:
        """Verify a shard behind that block; False when there was no time for its end."""
        end = self.result.anchor.end(shard) if self.result.anchor else End()
        before = self._end_of(shard, number) if number else self.starts.get(shard, End())
        while before.blocks < end.blocks:
            blocks = self._next_blocks(shard, before, end)
            self._records(before, blocks, end)
            before = blocks[-1].end
            if self.result.checked >= self.limit or self.deadline.passed:
                self.result.next_key = f"{shard}/{before.blocks}"
                return False
        rows = list(islice(self.audit.between(shard, before.until, "~"), self.limit))
        self._unlisted(shard, rows, ProblemCode.ANCHOR_MISSING)
        return True

    def _end_of(self, shard: str, number: int) -> End:
        """The end of a shard with that block as the last one."""
        (block,) = self.chain.blocks([(shard, number)])
        if block is None:
            raise AuditChanged(Problem(code=ProblemCode.BLOCK_MISSING, shard=shard, number=number))
        return block.end

    def _next_blocks(self, shard: str, before: End, end: End) -> list[Block]:
        """Some blocks behind that one, of about `limit` records. Each is what the next one, or the anchor, says."""
        blocks, room = list[Block](), self.limit
        number, digest = before.blocks, before.digest
        count = min(_MAX_BLOCKS, end.blocks - number)
        for block in self.chain.blocks_behind(shard, number, count):
            if block.number != number + 1:
                break
            # own-rule secrets-compared: both were stored
            if block.previous != digest:
                raise AuditChanged(Problem(code=ProblemCode.BLOCK_CHANGED, shard=shard, number=number))
            number, digest = block.number, block.digest
            if number == end.blocks and block.end != end:
                raise AuditChanged(Problem(code=ProblemCode.ANCHOR_DIFFERS, shard=shard, number=number))
            blocks.append(block)
            room -= len(block.records)
            if room <= 0:
                break
        if not blocks:
            raise AuditChanged(Problem(code=ProblemCode.BLOCK_MISSING, shard=shard, number=number + 1))
        return blocks

    def _records(self, before: End, blocks: Sequence[Block], end: End) -> None:
        """Compare the records that these blocks list with those that exist, and find those that they do not list."""
        last = blocks[-1]
        existing = self.audit.between(last.shard, before.until, last.until)
        rows = {row.position: row for row in existing}
        listed = {position for block in blocks for position in block.records}
        rows |= {row.position: row for row in self.audit.at(last.shard, sorted(listed - rows.keys()))}
        for block in blocks:
            for number, (position, digest) in enumerate(sorted(block.records.items()), block.first):
                self._record(block, number, position, digest, rows.pop(position, None))
        if rows:
            unlisted = rows.keys() - self._listed_later(last, end, set(rows))
            self._unlisted(
                last.shard, [rows[position] for position in sorted(unlisted)], ProblemCode.RECORD_NOT_CHAINED
            )

    def _record(self, block: Block, number: int, position: str, digest: str, row: StoredRecord | None) -> None:
        if row is None:
            if block.kept_until and block.kept_until < self.now:
                return  # it may have expired
            raise _problem(ProblemCode.RECORD_MISSING, block.shard, position, number)
        # own-rule secrets-compared: both were stored
        if row.digest != digest:
            raise _problem(ProblemCode.RECORD_CHANGED, block.shard, position, number)
        self.result.checked += 1

    def _listed_later(self, last: Block, end: End, positions: set[str]) -> set[str]:
        """Those of these positions that signed blocks behind the last one list."""
        listed, count = set[str](), min(_MAX_LATER_BLOCKS, end.blocks - last.number)
        for block in self.chain.blocks_behind(last.shard, last.number, count) if count else ():
            listed |= block.records.keys() & positions
            if listed == positions:
                break
        return listed

    def _unlisted(self, shard: str, rows: Sequence[StoredRecord], code: ProblemCode) -> None:
        """Records that no block lists: they are new, or something is wrong."""
        for row in rows:
            if row.position < rfc3339(self.now - SIGNED_WITHIN):
                raise _problem(code, shard, row.position)
            if row.position > last_position(self.now + SIGNED_WITHIN):
                raise _problem(ProblemCode.RECORD_NOT_CHAINED, shard, row.position)
        if rows:
            self.result.unsigned[shard] = self.result.unsigned.get(shard, 0) + len(rows)

    def _anchors(self, number: int) -> None:
        """Verify that each anchor behind that one names the one before it, up to the last one, which is signed."""
        last = self.result.anchor
        if last is None:
            return
        before = self._link(number) if number else self.result.start
        while before.number < last.number:
            read = list(self.chain.anchors_behind(before.number, _MAX_ANCHORS))
            for anchor in read:
                before = _next_link(before, anchor)
                if before.number == last.number:
                    break
            if not read:
                raise AuditChanged(Problem(code=ProblemCode.ANCHOR_REMOVED, number=before.number + 1))
            if before.number < last.number and self.deadline.passed:
                self.result.next_key = f"{_ANCHORS}/{before.number}"
                return
        if before != last.link:
            raise AuditChanged(Problem(code=ProblemCode.ANCHOR_CHANGED, number=last.number))

    def _link(self, number: int) -> Link:
        anchor = self.chain.numbered(number)
        if anchor is None:
            raise AuditChanged(Problem(code=ProblemCode.ANCHOR_REMOVED, number=number))
        return anchor.link


def _next_link(before: Link, anchor: Anchor) -> Link:
    """The link of the anchor that was read behind another one."""
    if anchor.number != before.number + 1 and not anchor.restored:
        # A row that cannot be read has no number.
        code = ProblemCode.ANCHOR_REMOVED if anchor.number else ProblemCode.ANCHOR_CHANGED
        raise AuditChanged(Problem(code=code, number=before.number + 1))
    # own-rule secrets-compared: both were stored
    if anchor.previous != before.digest:
        raise AuditChanged(Problem(code=ProblemCode.ANCHOR_CHANGED, number=before.number))
    return anchor.link


def _problem(code: ProblemCode, shard: str, position: str, number: int | None = None) -> AuditChanged:
    at, _, record_id = position.partition("#")
    return AuditChanged(Problem(code=code, shard=shard, number=number, record_id=record_id, at=at))
