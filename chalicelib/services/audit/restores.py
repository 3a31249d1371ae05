"""The way back after the tables of the audit trail were restored: an Admin accepts them as they are, by a record.

The signer, which cannot write records, finds the record and signs the next anchor behind the accepted one. From then on
the verification begins there. What was before stays in the lists, and is not verified any more.
"""

from dataclasses import dataclass
from datetime import timedelta

from chalicelib.domain.access import RequestContext
from chalicelib.domain.audit.chain import Anchor
from chalicelib.domain.audit.problems import AuditChanged
from chalicelib.domain.audit.record import Outcome
from chalicelib.errors import Conflict
from chalicelib.kit.clock import Clock
from chalicelib.kit.ids import id_from
from chalicelib.services.audit.anchors import Anchors
from chalicelib.services.audit.trail import AuditTrail
from chalicelib.stores.tables import position

AUDIT_ID = id_from("installation", "audit")
"""The id of the audit trail itself, as a resource of records and incidents."""

ACCEPTED_FOR = timedelta(hours=1)
"""How long an acceptance waits for the signer: a restored table may contain an older one."""

_ACTION = "audit.accept_restored"
_RECORDS_READ = 10
_NO_NUMBER = -1
"""Of a record that somebody has written without the product."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """What a person has accepted: tables that end with this anchor (0: without any), while the copy was of that one.

    `position` is of the record.
    """

    position: str
    anchor: int
    digest: str
    copy: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Restores:
    audit: AuditTrail
    anchors: Anchors
    clock: Clock

    def accept(self, context: RequestContext, anchor: int, reason: str) -> None:
        """Record that the tables are accepted as they are, up to their last anchor.

        Raises Conflict STATE_CONFLICT when that is another one, or when nobody has signed it.
        """
        try:
            last, copy = self.anchors.stored(), self.anchors.copied()
            if last:
                self.anchors.last_blocks(last)
        except AuditChanged as changed:
            message = f"{changed.problem.message} This cannot be accepted: restore the table audit-chain first."
            raise Conflict(message) from changed
        number = last.number if last else 0
        if anchor != number:
            raise Conflict(f"The tables end with the anchor {number}. Verify them again, and accept that number.")
        shown = {"anchor": number, "digest": last.link.digest if last else "", "reason": reason}
        shown |= {"copy": copy.number if copy else None}
        self.audit.record_alone(context, _ACTION, AUDIT_ID, after=shown)

    def latest(self) -> Acceptance | None:
        """The last acceptance that is not too old. Raises StoreUnavailable."""
        for record in self.audit.list(limit=_RECORDS_READ, resource_id=AUDIT_ID).items:
            is_valid = abs(self.clock() - record.at) < ACCEPTED_FOR
            if record.action == _ACTION and record.outcome is Outcome.SUCCESS and record.after and is_valid:
                accepted = record.after
                return Acceptance(
                    position=position(record.at, record.id),
                    anchor=accepted.get("anchor", _NO_NUMBER),
                    digest=accepted.get("digest", ""),
                    copy=accepted.get("copy"),
                )
        return None

    def applies(self, acceptance: Acceptance, last: Anchor | None) -> bool:
        """Whether it is about the tables that end with this anchor, and was not carried out yet."""
        if last is None:
            return acceptance.anchor == 0
        accepted = self.anchors.numbered(acceptance.anchor) if acceptance.anchor else None
        # own-rule secrets-compared: both were stored
        return (
            acceptance.position > last.accepted and accepted is not None and accepted.link.digest == acceptance.digest
        )
