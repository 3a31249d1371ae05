"""Whether a source can be captured from: every fault that a read-only connection can foresee, before Connect is asked.

Connect's own validation sees none of these: the connector is created, and then fails, stays silent or loses changes.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from chalicelib.domain.providers.postgresql.facts import ServerFacts
from chalicelib.domain.providers.postgresql.readiness_check import (
    CapturePlan,
    Check,
    CheckOutcome,
    Finding,
    ReadinessCheck,
    passed,
)
from chalicelib.domain.providers.postgresql.readiness_publication import PUBLICATION_CHECKS
from chalicelib.domain.providers.postgresql.readiness_server import SERVER_CHECKS
from chalicelib.domain.providers.postgresql.readiness_tables import TABLE_CHECKS
from chalicelib.errors import HeadgateError

__all__ = [
    "CHECKS",
    "CapturePlan",
    "CheckOutcome",
    "Readiness",
    "ReadinessCheck",
    "ReadinessStatus",
    "judge_readiness",
    "unreachable_readiness",
]


class ReadinessStatus(StrEnum):
    """The verdict: NOT_READY when a check fails, WARNING when one warns or could not be made."""

    READY = "READY"
    WARNING = "WARNING"
    NOT_READY = "NOT_READY"


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """The verdict with every check that was made."""

    status: ReadinessStatus
    checked_at: datetime
    checks: tuple[ReadinessCheck, ...]

    @property
    def failures(self) -> tuple[ReadinessCheck, ...]:
        """The checks that fail."""
        return tuple(check for check in self.checks if check.status is CheckOutcome.FAIL)


CONNECTION = Check(
    key="connection",
    name="Connection",
    judge=lambda _facts, _plan: passed("connected", "connected"),
    description="The server can be reached, lets the role in and can be read.",
)

CHECKS: tuple[Check, ...] = (CONNECTION, *SERVER_CHECKS, *TABLE_CHECKS, *PUBLICATION_CHECKS)
"""Every check, in the order in which they are shown."""


def judge_readiness(facts: ServerFacts, plan: CapturePlan | None, now: datetime) -> Readiness:
    """Judges what was read, for one capture or, without a plan, in general.

    Without a plan, what depends on the choice of tables, slot and publication is at most a warning. A check that has
    nothing to judge is left out.
    """
    checks = []
    for check in CHECKS:
        finding = check.judge(facts, plan)
        if finding is not None:
            checks.append(_shown(check, finding, at_most_warn=plan is None and check.by_plan))
    return Readiness(status=_verdict(checks), checked_at=now, checks=tuple(checks))


def unreachable_readiness(error: HeadgateError, now: datetime) -> Readiness:
    """The verdict on a source that could not be looked at: `error` says why, in our own words; all else is unknown."""
    first = Finding(
        CheckOutcome.FAIL,
        error.code,
        "connected",
        f"{error.message} Then ask again; a connection test shows each step.",
    )
    unknown = Finding(CheckOutcome.UNKNOWN, "", "")
    checks = [_shown(check, first if check is CONNECTION else unknown) for check in CHECKS]
    return Readiness(status=ReadinessStatus.NOT_READY, checked_at=now, checks=tuple(checks))


def _shown(check: Check, finding: Finding, *, at_most_warn: bool = False) -> ReadinessCheck:
    demoted = at_most_warn and finding.status is CheckOutcome.FAIL
    return ReadinessCheck(
        key=check.key,
        name=check.name,
        status=CheckOutcome.WARN if demoted else finding.status,
        severity=check.severity,
        description=check.description,
        current_value=finding.current or None,
        expected_value=finding.expected or None,
        recommended_action=finding.action,
    )


def _verdict(checks: list[ReadinessCheck]) -> ReadinessStatus:
    found = {check.status for check in checks}
    if CheckOutcome.FAIL in found:
        return ReadinessStatus.NOT_READY
    return ReadinessStatus.WARNING if found - {CheckOutcome.PASS} else ReadinessStatus.READY
