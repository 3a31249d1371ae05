"""Signs and verifies the audit trail by the schedule, and reports when it is not what was signed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from chalicelib.domain.audit.problems import PROBLEMS, AuditChanged
from chalicelib.domain.monitoring.condition import Condition, ConditionCode
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.services.audit.restores import AUDIT_ID
from chalicelib.services.audit.signer import AuditSigner
from chalicelib.services.audit.verification import AuditVerifier, Verification
from chalicelib.stores.audit.chain import AuditChain, VerifiedPart

_ORIGIN = "audit"

Publish = Callable[[str, datetime, Sequence[Condition]], bool]
"""Publishes the report of an origin, of that time, with everything that is wrong there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditWatch:
    """`records`: about how many one run verifies. A trail of 700,000 records takes a day."""

    signer: AuditSigner
    verifier: AuditVerifier
    chain: AuditChain
    publish: Publish
    clock: Clock
    records: int = 500

    def sign(self, deadline: Deadline) -> int:
        """See `AuditSigner.sign`. Then the next part of the trail is verified, round after round.

        When it raises AuditChanged there is an incident, until both are done without one.
        """
        at = self.clock()
        try:
            signed = self.signer.sign(deadline)
            self._verify_next(deadline)
        except AuditChanged as changed:
            message = f"The audit trail is not what was signed. {PROBLEMS[changed.problem.code]}"
            condition = Condition(
                code=ConditionCode.AUDIT_TRAIL_CHANGED,
                resource_type="installation",
                resource_id=AUDIT_ID,
                message=message,
            )
            self.publish(_ORIGIN, at, [condition])
            raise
        self.publish(_ORIGIN, at, ())
        return signed

    def _verify_next(self, deadline: Deadline) -> None:
        """Raises AuditChanged, and then stays at that part; StoreUnavailable."""
        before = self.chain.verified_to()
        part = self._part(before, deadline)
        if part.first_problem:
            part = self._part(before, deadline)  # another process may have signed between the reads
        if part.first_problem and before and part.start.number != before.start:
            # What lay before the present beginning has expired, or was given up by who accepted restored tables.
            part = self._part(None, deadline)
        if part.first_problem:
            raise AuditChanged(part.first_problem)
        following = VerifiedPart(part.start.number, part.next_key) if part.next_key else None
        if following or before:
            self.chain.note_verified(following)

    def _part(self, before: VerifiedPart | None, deadline: Deadline) -> Verification:
        return self.verifier.verify(after=before.next_key if before else None, limit=self.records, deadline=deadline)
