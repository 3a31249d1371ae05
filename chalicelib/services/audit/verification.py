"""Verifies the audit trail, a part at a time: the blocks of each shard with their records, up to the anchor."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice

from chalicelib.domain.audit.chain import SHARDS, SIGNED_WITHIN, Anchor, Block, End, last_position
from chalicelib.kit.clock import Clock, Deadline, rfc3339
from chalicelib.services.audit.signer import AuditSigner
from chalicelib.stores.audit.chain import AuditChain
from chalicelib.stores.audit.group import AuditStores
from chalicelib.stores.audit.records import Audit, StoredRecord

_MAX_BLOCKS = 100
_MAX_LATER_BLOCKS = 300
"""Where a record is looked for that was written after its time was signed: a clock was set back by some hours."""

PROBLEMS: Mapping[str, str] = {
    "RECORD_CHANGED": "The record is not what was signed.",
    "RECORD_MISSING": "The record has been deleted.",
    "RECORD_NOT_CHAINED": "The record's time was signed without it, or has not come: it was added by somebody else.",
    "BLOCK_MISSING": "The block with this number, which lists signed records, has been deleted.",
    "BLOCK_CHANGED": "The block with this number, which lists signed records, is not what was written.",
    "ANCHOR_DIFFERS": "The shard does not end with what was signed: it was rolled back or written anew.",
    "ANCHOR_CHANGED": "The signature of the anchor is not valid.",
    "ANCHOR_MISSING": "Records have not been signed for ten minutes: the schedule fails, or the anchor was deleted.",
}
ADVICE = (
    "Leave the tables as they are. Restore the audit tables of an earlier time into other tables and compare them; "
    "CloudTrail says who has written to them, and the dispatcher's log has each anchor."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """The first thing that is wrong. `number` counts the records of a shard, or its blocks where the problem is a
    block; `record_id` and `at` are the record's.
    """

    code: str
    shard: str | None = None
    number: int | None = None
    record_id: str | None = None
    at: str | None = None

    @property
    def message(self) -> str:
        return f"{PROBLEMS[self.code]} {ADVICE}"


class _ProblemFound(Exception):
    def __init__(self, problem: Problem) -> None:
        self.problem = problem


@dataclass(slots=True, kw_only=True)
class Verification:
    """The result of one part. `checked` counts records that are as signed, `unsigned` those that wait for a signature.

    `next_key` is where the next part begins; None: the trail has been verified whole.
    """

    anchor: Anchor | None
    checked: int = 0
    unsigned: dict[str, int] = field(default_factory=dict)
    first_problem: Problem | None = None
    next_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditVerifier:
    stores: AuditStores
    signer: AuditSigner
    clock: Clock

    def verify(self, *, after: str | None, limit: int, deadline: Deadline) -> Verification:
        """Verify about `limit` records behind `after` (a `next_key`), fewer when the deadline is near."""
        anchor = self.stores.chain.anchor()
        result = Verification(anchor=anchor)
        walk = _Walk(
            audit=self.stores.records,
            chain=self.stores.chain,
            result=result,
            limit=limit,
            deadline=deadline,
            now=self.clock(),
        )
        try:
            if anchor and not self.signer.is_genuine(anchor):
                raise _ProblemFound(Problem(code="ANCHOR_CHANGED", at=rfc3339(anchor.at)))
            if anchor is None and self.stores.chain.has_blocks():
                raise _ProblemFound(Problem(code="ANCHOR_MISSING"))
            walk.go(after or "")
        except _ProblemFound as error:
            result.first_problem, result.next_key = error.problem, None
        return result


@dataclass(slots=True, kw_only=True)
class _Walk:
    audit: Audit
    chain: AuditChain
    result: Verification
    limit: int
    deadline: Deadline
    now: datetime

    def go(self, after: str) -> None:
        """`after` is `<shard>/<number of a block>`."""
        first, _, number = after.partition("/")
        for shard in SHARDS:
            if shard >= first and not self._shard(shard, int(number) if shard == first else 0):
                return

    def _shard(self, shard: str, number: int) -> bool:
        """Verify a shard behind that block; False when there was no time for its end."""
        end = self.result.anchor.end(shard) if self.result.anchor else End()
        (before,) = self.chain.blocks([(shard, number)]) if number else (None,)
        if number and before is None:
            raise _ProblemFound(Problem(code="BLOCK_MISSING", shard=shard, number=number))
        while (before.number if before else 0) < end.blocks:
            blocks = self._next_blocks(shard, before, end)
            self._records(before, blocks, end)
            before = blocks[-1]
            if self.result.checked >= self.limit or self.deadline.passed:
                self.result.next_key = f"{shard}/{before.number}"
                return False
        until = before.until if before else ""
        self._unlisted(shard, list(islice(self.audit.between(shard, until, "~"), self.limit)), "ANCHOR_MISSING")
        return True

    def _next_blocks(self, shard: str, before: Block | None, end: End) -> list[Block]:
        """Some blocks behind that one, of about `limit` records. Each is what the next one, or the anchor, says."""
        blocks, room = list[Block](), self.limit
        number, digest = (before.number, before.digest) if before else (0, "")
        count = min(_MAX_BLOCKS, end.blocks - number)
        for block in self.chain.blocks_behind(shard, number, count):
            if block.number != number + 1:
                break
            # own-rule secrets-compared: both were stored
            if block.previous != digest:
                raise _ProblemFound(Problem(code="BLOCK_CHANGED", shard=shard, number=number))
            number, digest = block.number, block.digest
            if number == end.blocks and block.end != end:
                raise _ProblemFound(Problem(code="ANCHOR_DIFFERS", shard=shard, number=number))
            blocks.append(block)
            room -= len(block.records)
            if room <= 0:
                break
        if not blocks:
            raise _ProblemFound(Problem(code="BLOCK_MISSING", shard=shard, number=number + 1))
        return blocks

    def _records(self, before: Block | None, blocks: Sequence[Block], end: End) -> None:
        """Compare the records that these blocks list with those that exist, and find those that they do not list."""
        last = blocks[-1]
        existing = self.audit.between(last.shard, before.until if before else "", last.until)
        rows = {row.position: row for row in existing}
        listed = {position for block in blocks for position in block.records}
        rows |= {row.position: row for row in self.audit.at(last.shard, sorted(listed - rows.keys()))}
        for block in blocks:
            for number, (position, digest) in enumerate(sorted(block.records.items()), block.first):
                self._record(block.shard, number, position, digest, rows.pop(position, None))
        if rows:
            unlisted = rows.keys() - self._listed_later(last, end, set(rows))
            self._unlisted(last.shard, [rows[position] for position in sorted(unlisted)], "RECORD_NOT_CHAINED")

    def _record(self, shard: str, number: int, position: str, digest: str, row: StoredRecord | None) -> None:
        if row is None:
            raise _problem("RECORD_MISSING", shard, position, number)
        # own-rule secrets-compared: both were stored
        if row.digest != digest:
            raise _problem("RECORD_CHANGED", shard, position, number)
        self.result.checked += 1

    def _listed_later(self, last: Block, end: End, positions: set[str]) -> set[str]:
        """Those of these positions that signed blocks behind the last one list."""
        listed, count = set[str](), min(_MAX_LATER_BLOCKS, end.blocks - last.number)
        for block in self.chain.blocks_behind(last.shard, last.number, count) if count else ():
            listed |= block.records.keys() & positions
            if listed == positions:
                break
        return listed

    def _unlisted(self, shard: str, rows: Sequence[StoredRecord], code: str) -> None:
        """Records that no block lists: they are new, or something is wrong."""
        for row in rows:
            if row.position < rfc3339(self.now - SIGNED_WITHIN):
                raise _problem(code, shard, row.position)
            if row.position > last_position(self.now + SIGNED_WITHIN):
                raise _problem("RECORD_NOT_CHAINED", shard, row.position)
        if rows:
            self.result.unsigned[shard] = self.result.unsigned.get(shard, 0) + len(rows)


def _problem(code: str, shard: str, position: str, number: int | None = None) -> _ProblemFound:
    at, _, record_id = position.partition("#")
    return _ProblemFound(Problem(code=code, shard=shard, number=number, record_id=record_id, at=at))
