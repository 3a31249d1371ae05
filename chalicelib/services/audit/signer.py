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
    last_position,
    next_anchor,
    next_block,
    search_start,
)
from chalicelib.errors import WriteConflict
from chalicelib.kit.clock import Clock, Deadline, rfc3339
from chalicelib.kit.log import get_logger
from chalicelib.secrets.macs import Mac
from chalicelib.stores.audit.group import AuditStores
from chalicelib.stores.audit.records import StoredRecord


class AuditChanged(Exception):
    """The chain of the audit trail is not what was signed: somebody has tampered with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSigner:
    """Chains and signs new records. `infra/decisions/020-audit-integrity.md` says what that proves."""

    stores: AuditStores
    mac: Mac
    clock: Clock

    def sign(self, deadline: Deadline) -> int:
        """Sign the records that are new, until the deadline; what is left has its turn in the next minute.

        Returns how many anchors were made. Each is also logged, so that the log is a second place that has it. Raises
        AuditChanged, and signs nothing, when the chain is not what the last anchor says.
        """
        before, count = self._anchor(), 0
        last = self._last_blocks(before) if before else {}
        while not count or (before and before.unfinished and not deadline.passed):
            blocks = [block for shard in SHARDS if (block := self._next_block(shard, before, last.get(shard)))]
            now = self.clock()
            if not blocks and (before is None or now - before.at < SIGNED_WITHIN):
                break
            last.update({block.shard: block for block in blocks})
            anchor = next_anchor(before, last, blocks, now)
            anchor = replace(anchor, signature=self.mac.sign(anchor.text).hex())
            try:
                self.stores.chain.append(before, anchor, blocks)
            except WriteConflict as conflict:
                if conflict.label == "block.exists":
                    raise AuditChanged("The audit trail has a block behind the one that was signed last.") from None
                break  # another process was faster
            _log(anchor)
            before, count = anchor, count + 1
        return count

    def unsigned_seconds(self) -> float:
        """How long ago the last signature was made; 0 before the first one."""
        anchor = self.stores.chain.anchor()
        return (self.clock() - anchor.at).total_seconds() if anchor else 0.0

    def is_genuine(self, anchor: Anchor) -> bool:
        try:
            signature = bytes.fromhex(anchor.signature)
        except ValueError:
            return False
        return self.mac.verify(anchor.text, signature)

    def _anchor(self) -> Anchor | None:
        """The last anchor. Raises AuditChanged when there are blocks, and none."""
        anchor = self.stores.chain.anchor()
        if anchor is None and self.stores.chain.has_blocks():
            # Another process may have stored the first anchor, with its blocks, between the two reads.
            anchor = self.stores.chain.anchor()
            if anchor is None:
                raise AuditChanged("The anchor of the audit trail is missing.")
        return anchor

    def _last_blocks(self, anchor: Anchor) -> dict[str, Block]:
        """The blocks that the anchor names. Raises AuditChanged when one of them is not what was signed."""
        blocks = self.stores.chain.blocks([(shard, end.blocks) for shard, end in anchor.ends.items()])
        last = {shard: block for shard, block in zip(anchor.ends, blocks, strict=True) if block}
        changed = [shard for shard, end in anchor.ends.items() if shard not in last or last[shard].end != end]
        if changed or not self.is_genuine(anchor):
            raise AuditChanged(f"The audit trail is not what was signed: shards {', '.join(changed) or 'none'}.")
        return last

    def _next_block(self, shard: str, anchor: Anchor | None, last: Block | None) -> Block | None:
        """The block of the new records of a shard; None when there are none."""
        now = self.clock()
        new = list(islice(self._new_records(shard, search_start(anchor, shard, now), last, now), MAX_RECORDS))
        until = new[-1].position if len(new) == MAX_RECORDS else last_position(now)
        return next_block(shard, last, {record.position: record.digest for record in new}, until) if new else None

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
    get_logger().info("audit anchored", extra=fields)
