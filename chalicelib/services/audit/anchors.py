"""The anchors of the audit trail: which is the last one, and whether that is the one which was signed last."""

from dataclasses import dataclass
from typing import NamedTuple

from chalicelib.clients.anchor_copies import AnchorCopy
from chalicelib.domain.audit.chain import Anchor, Block, Link
from chalicelib.domain.audit.problems import AuditChanged, Problem, ProblemCode
from chalicelib.kit.clock import rfc3339
from chalicelib.secrets.macs import Mac
from chalicelib.stores.audit.chain import AuditChain


class Last(NamedTuple):
    """The last anchor, and the copy of it or of an earlier one."""

    anchor: Anchor | None
    copy: Link | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchors:
    """Reads anchors and compares them with their signatures, and the last one with its copy, where one is kept."""

    chain: AuditChain
    mac: Mac
    copy: AnchorCopy | None

    def last(self) -> Last:
        """The anchor that was signed last; none before the first signature.

        Raises AuditChanged when the tables end with another one, or have none although there was one.
        """
        # The copy first: an anchor that is signed meanwhile is newer than the copy, never older.
        copy = self.copied()
        anchor = self.stored()
        if anchor is None and (copy or self.chain.has_begun()):
            anchor = self.stored()  # another process may have stored the first one between the two reads
            if anchor is None:
                raise AuditChanged(Problem(code=ProblemCode.TRAIL_MISSING))
        if anchor is not None and self.copy is not None:
            self._compare(anchor, copy, self.copy.place)
        return Last(anchor, copy)

    def stored(self) -> Anchor | None:
        """The last anchor in the table, whatever the copy says. Raises AuditChanged when nobody has signed it, or it is
        missing behind its blocks.
        """
        anchor = self.chain.anchor()
        if anchor is None and self.chain.has_blocks():
            # Another process may have stored the first anchor, with its blocks, between the two reads.
            anchor = self.chain.anchor()
            if anchor is None:
                raise AuditChanged(Problem(code=ProblemCode.ANCHOR_MISSING))
        if anchor is not None and not self.is_genuine(anchor):
            raise AuditChanged(Problem(code=ProblemCode.ANCHOR_CHANGED, number=anchor.number, at=rfc3339(anchor.at)))
        return anchor

    def numbered(self, number: int) -> Anchor | None:
        """The anchor with this number; None when it does not exist or nobody has signed it."""
        anchor = self.chain.numbered(number)
        return anchor if anchor and self.is_genuine(anchor) else None

    def copied(self) -> Link | None:
        """The copy of the last anchor. Raises StoreUnavailable."""
        return self.copy.read() if self.copy else None

    def keep(self, anchor: Anchor) -> None:
        """Keep a copy of the anchor. Raises StoreUnavailable."""
        if self.copy:
            self.copy.write(anchor.link)

    def is_genuine(self, anchor: Anchor) -> bool:
        try:
            signature = bytes.fromhex(anchor.signature)
        except ValueError:
            return False
        return self.mac.verify(anchor.text, signature)

    def last_blocks(self, anchor: Anchor) -> dict[str, Block]:
        """The blocks that the anchor names. Raises AuditChanged when one of them is not what was signed.

        A shard of which everything has expired may have lost its last block.
        """
        blocks = self.chain.blocks([(shard, end.blocks) for shard, end in anchor.ends.items()])
        last = {shard: block for shard, block in zip(anchor.ends, blocks, strict=True) if block}
        for shard, end in anchor.ends.items():
            if shard not in last and end == anchor.start(shard):
                continue
            if shard not in last or last[shard].end != end:
                raise AuditChanged(Problem(code=ProblemCode.ANCHOR_DIFFERS, shard=shard, number=end.blocks))
        return last

    def _compare(self, anchor: Anchor, copy: Link | None, place: str) -> None:
        if copy is None:
            if anchor.copied_to == place:
                raise AuditChanged(Problem(code=ProblemCode.COPY_MISSING, number=anchor.number))
            return
        if copy.number > anchor.number:
            raise AuditChanged(Problem(code=ProblemCode.TRAIL_ROLLED_BACK, number=copy.number))
        if 0 < copy.number <= anchor.first.number or anchor.restored:
            return  # that anchor may have expired, or was among those which the restored tables lack
        # The process that has signed the last ones may have ended before it could keep the copy.
        same = anchor if copy.number == anchor.number else self.chain.numbered(copy.number)
        # own-rule secrets-compared: both were stored
        if same is None or same.link.digest != copy.digest:
            raise AuditChanged(Problem(code=ProblemCode.COPY_DIFFERS, number=copy.number))
