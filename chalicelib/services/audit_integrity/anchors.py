"""Signs how far the audit trail has come: once a minute, by the one function that may."""

from dataclasses import dataclass, replace

from chalicelib.domain.integrity.anchors import Anchor, anchor_of, changed_shards
from chalicelib.errors import WriteConflict
from chalicelib.kit.clock import Clock, rfc3339
from chalicelib.kit.log import get_logger
from chalicelib.secrets.macs import Mac
from chalicelib.stores.audit_chain import AnchorStore, AuditChain


class AuditChanged(Exception):
    """The audit trail does not have any more what was signed: somebody has tampered with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditAnchors:
    """Makes anchors. `infra/decisions/020-audit-integrity.md` says what they prove."""

    chain: AuditChain
    store: AnchorStore
    mac: Mac
    clock: Clock

    def sign(self) -> int:
        """Sign what was appended since the last anchor; returns how many anchors were made, 0 or 1.

        Each is also logged, so that the log is a second place that has it. Raises AuditChanged, and signs nothing, when
        the chains do not have any more what the last anchor says.
        """
        last, heads = self.store.last(), self.chain.heads()
        if last is not None:
            self._compare(last)
        made = anchor_of(heads, self.clock())
        if made.heads == (last.heads if last else {}):
            return 0
        made = replace(made, signature=self.mac.sign(made.text).hex())
        try:
            self.store.add(made)
        except WriteConflict:
            return 0  # another process was faster
        shown = {shard: f"{sequence} {mac}" for shard, (sequence, mac) in made.heads.items()}
        fields = {"anchored_at": rfc3339(made.at), "shards": shown, "mac": made.signature}
        get_logger().info("audit anchored", extra=fields)
        return 1

    def is_genuine(self, anchor: Anchor) -> bool:
        """Whether it was signed with the key for anchors."""
        return self.mac.verify(anchor.text, bytes.fromhex(anchor.signature))

    def _compare(self, last: Anchor) -> None:
        links = self.chain.links([(shard, sequence) for shard, (sequence, _) in last.heads.items()])
        changed = changed_shards(last, links)
        if changed or not self.is_genuine(last):
            raise AuditChanged(f"The audit trail is not what was signed: shards {', '.join(changed) or 'none'}.")
