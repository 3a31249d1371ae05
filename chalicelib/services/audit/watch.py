"""Signs the audit trail by the schedule, and reports when it is not what was signed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from chalicelib.domain.audit.problems import PROBLEMS, AuditChanged
from chalicelib.domain.monitoring.condition import Condition, ConditionCode
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.services.audit.restores import AUDIT_ID
from chalicelib.services.audit.signer import AuditSigner

_ORIGIN = "audit"

Publish = Callable[[str, datetime, Sequence[Condition]], bool]
"""Publishes the report of an origin, of that time, with everything that is wrong there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditWatch:
    signer: AuditSigner
    publish: Publish
    clock: Clock

    def sign(self, deadline: Deadline) -> int:
        """See `AuditSigner.sign`. When it raises AuditChanged there is an incident, which ends with the next signature
        that is made.
        """
        at = self.clock()
        try:
            signed = self.signer.sign(deadline)
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
