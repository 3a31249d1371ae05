"""Signs how far the audit trail has come: once a minute, by the one function that may."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from itertools import islice, takewhile

from chalicelib.domain.audit.chain import (
    MAX_RECORDS,
    SHARDS,
    SIGNED_WITHIN,
    Anchor,
    Block,
    End,
    last_position,
    next_anchor,
    next_block,
    search_start,
)
from chalicelib.domain.audit.problems import AuditChanged, Problem, ProblemCode
from chalicelib.errors import WriteConflict
from chalicelib.kit.clock import Clock, Deadline, rfc3339
from chalicelib.kit.log import get_logger
from chalicelib.services.audit.anchors import Anchors
from chalicelib.services.audit.restores import Acceptance, Restores
from chalicelib.stores.audit.group import AuditStores
from chalicelib.stores.audit.records import StoredRecord

_MAX_EXPIRED = 20
"""So many expired anchors are passed by one signature. There is one for each minute at the most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSigner:
    """Chains and signs new records. `infra/decisions/020-audit-integrity.md` says what that proves."""

    stores: AuditStores
    anchors: Anchors
    restores: Restores
    clock: Clock

    def sign(self, deadline: Deadline) -> int:
        """Sign the records that are new, until the deadline; what is left has its turn in the next minute.

        Returns how many anchors were made. Each is also logged, and a copy of the last one is kept where the
        installation says: places outside of the tables that have it. Raises AuditChanged, and signs nothing, when the
        tables are not what was signed last, unless somebody has accepted that; StoreUnavailable.
        """
        before, acceptance = self._begin()
        count = 0
        last = self.anchors.last_blocks(before) if before else {}
        while not count or (before and before.unfinished and not deadline.passed):
            blocks = [block for shard in SHARDS if (block := self._next_block(shard, before, last.get(shard)))]
            now = self.clock()
            is_due = before is not None and now - before.at >= SIGNED_WITHIN
            if not blocks and not is_due and acceptance is None:
                break
            anchor = self._next_anchor(before, blocks, now, acceptance)
            try:
                self.stores.chain.append(before, anchor, blocks)
            except WriteConflict as conflict:
                if conflict.label == "block.exists":
                    raise AuditChanged(Problem(code=ProblemCode.ANCHOR_MISSING)) from None
                break  # another process was faster
            _log(anchor)
            self.anchors.keep(anchor)
            last |= {block.shard: block for block in blocks}
            before, acceptance, count = anchor, None, count + 1
        return count

    def unsigned_seconds(self) -> float:
        """How long ago the last signature was made; 0 before the first one."""
        anchor = self.anchors.stored()
        return (self.clock() - anchor.at).total_seconds() if anchor else 0.0

    def _begin(self) -> tuple[Anchor | None, Acceptance | None]:
        """The last anchor, and what a person has accepted of the restored tables that end with it."""
        acceptance = self.restores.latest()
        try:
            anchor, copy = self.anchors.last()
        except AuditChanged:
            if acceptance is None:
                raise
            anchor, copy = self.anchors.stored(), self.anchors.copied()
            if acceptance.copy != (copy.number if copy else None) or not self.restores.applies(acceptance, anchor):
                raise
            return anchor, acceptance
        if acceptance and self.restores.applies(acceptance, anchor):
            return anchor, acceptance
        if anchor and copy and copy.number < anchor.number:
            self.anchors.keep(anchor)  # the process that has signed it could not
        return anchor, None

    def _next_anchor(
        self, before: Anchor | None, blocks: list[Block], now: datetime, acceptance: Acceptance | None
    ) -> Anchor:
        """The next anchor, signed. Behind an accepted one its number is greater than that of any copy."""
        anchor = next_anchor(before, blocks, now)
        if acceptance:
            copy, start = self.anchors.copied(), self.anchors.numbered(acceptance.anchor)
            number = max(anchor.number, copy.number + 1 if copy else 0)
            anchor = replace(anchor, number=number, restored=True, accepted=acceptance.position)
            anchor = anchor.beginning_behind(start) if start else anchor
        elif start := self._last_expired(anchor, now):
            anchor = anchor.beginning_behind(start)
        anchor = replace(anchor, copied_to=self.anchors.copy.place if self.anchors.copy else "")
        return replace(anchor, signature=self.anchors.mac.sign(anchor.text).hex())

    def _last_expired(self, anchor: Anchor, now: datetime) -> Anchor | None:
        """The last of the anchors behind the beginning of the trail up to which every record has expired."""
        behind = self.stores.chain.anchors_behind(anchor.first.number, _MAX_EXPIRED)
        expired = list(takewhile(lambda one: one.expires_at is not None and one.expires_at < now, behind))
        return expired[-1] if expired and self.anchors.is_genuine(expired[-1]) else None

    def _next_block(self, shard: str, anchor: Anchor | None, last: Block | None) -> Block | None:
        """The block of the new records of a shard; None when there are none."""
        now = self.clock()
        new = list(islice(self._new_records(shard, search_start(anchor, shard, now), last, now), MAX_RECORDS))
        if not new:
            return None
        until = new[-1].position if len(new) == MAX_RECORDS else last_position(now)
        digests = {record.position: record.digest for record in new}
        end = last.end if last else anchor.end(shard) if anchor else End()
        return next_block(shard, end, digests, until, [record.expires_at for record in new])

    def _new_records(self, shard: str, after: str, last: Block | None, now: datetime) -> Iterator[StoredRecord]:
        """The records of a shard behind that position that no block lists, the oldest first. A process whose clock is
        ahead may have written some of them.
        """
        older, listed = self._blocks_since(after, last), set[str]()
        for record in self.stores.records.between(shard, after, last_position(now + SIGNED_WITHIN)):
            # Older blocks are only read when the newer ones do not have it.
            while record.position not in listed and (block := next(older, None)):
                listed |= block.records.keys()
            if record.position not in listed:
                yield record

    def _blocks_since(self, after: str, last: Block | None) -> Iterator[Block]:
        """The blocks that may list records behind that position, the newest first."""
        if last and last.until > after:
            yield last
            older = self.stores.chain.blocks_before(last.shard, last.number)
            yield from takewhile(lambda block: block.until > after, older)


def _log(anchor: Anchor) -> None:
    ends: Mapping[str, object] = {shard: asdict(end) for shard, end in anchor.ends.items()}
    fields = {"anchor": anchor.number, "anchored_at": rfc3339(anchor.at), "shards": ends, "mac": anchor.signature}
    fields |= {"digest": anchor.link.digest, "previous": anchor.previous, "restored": anchor.restored}
    get_logger().info("audit anchored", extra=fields)
