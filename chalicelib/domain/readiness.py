"""Readiness of a source: checks that a provider lists in a table, what each one found, and the verdict.

Kafka Connect's own validation sees few of these faults: the connector is created, and then fails, stays silent or loses
changes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, TypeVar

from chalicelib.domain.names import SHOWN_NAMES, name_list
from chalicelib.domain.table import IssueSeverity
from chalicelib.errors import HeadgateError


class CheckOutcome(StrEnum):
    """How one readiness check ended. `unknown` means that the source could not be read."""

    PASS = "pass"  # noqa: S105
    WARN = "warn"
    FAIL = "fail"
    UNKNOWN = "unknown"


class ReadinessStatus(StrEnum):
    """The verdict: NOT_READY when a check fails, WARNING when one warns or could not be made."""

    READY = "READY"
    WARNING = "WARNING"
    NOT_READY = "NOT_READY"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadinessCheck:
    """One check as it is shown. `severity` is the worst that it can ever become; the action is null on `pass`."""

    key: str
    name: str
    status: CheckOutcome
    severity: IssueSeverity
    description: str
    current_value: str | None
    expected_value: str | None
    recommended_action: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadinessReport:
    """The verdict with every check that was made."""

    status: ReadinessStatus
    checked_at: datetime
    checks: tuple[ReadinessCheck, ...]

    @property
    def failures(self) -> tuple[ReadinessCheck, ...]:
        return tuple(check for check in self.checks if check.status is CheckOutcome.FAIL)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one check saw, what it expects, and the exact thing to do about the difference."""

    status: CheckOutcome
    current: str
    expected: str
    action: str | None = None


Facts = TypeVar("Facts")
Plan = TypeVar("Plan")
Judge = Callable[[Facts, Plan | None], Judgement | None]
"""Returns None when there is nothing to judge: no plan of a capture, or no table of the kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check(Generic[Facts, Plan]):
    """A row of a provider's table of checks. `by_plan`: it depends on what one capture has chosen."""

    key: str
    name: str
    description: str
    judge: Judge[Facts, Plan]
    severity: IssueSeverity = IssueSeverity.FAIL
    by_plan: bool = True


def passed(current: str, expected: str) -> Judgement:
    """As it should be."""
    return Judgement(CheckOutcome.PASS, current, expected)


def warned(current: str, expected: str, action: str) -> Judgement:
    """A capture would work; a person should know."""
    return Judgement(CheckOutcome.WARN, current, expected, action)


def failed(current: str, expected: str, action: str) -> Judgement:
    """A capture would stop, stay silent or lose changes."""
    return Judgement(CheckOutcome.FAIL, current, expected, action)


def for_server(judge: Callable[[Facts], Judgement | None]) -> Judge[Facts, Any]:
    """A judge of the server alone, for any plan."""
    return lambda facts, _plan: judge(facts)


def for_plan(judge: Callable[[Facts, Plan], Judgement | None]) -> Judge[Facts, Plan]:
    """A judge that has nothing to say without a plan."""
    return lambda facts, plan: None if plan is None else judge(facts, plan)


CONNECTION: Check[Any, Any] = Check(
    key="connection",
    name="Connection",
    judge=lambda _facts, _plan: passed("connected", "connected"),
    by_plan=False,
    description="The server can be reached, lets the role in and can be read.",
)
"""The first check of every provider: facts exist only where it passes."""


def judge(checks: Sequence[Check[Facts, Plan]], facts: Facts, plan: Plan | None, now: datetime) -> ReadinessReport:
    """Judge what was read, for one capture or, without a plan, in general.

    Without a plan, what depends on the choices of a capture is at most a warning. Checks with nothing to judge are not
    shown.
    """
    shown = []
    for check in checks:
        judgement = check.judge(facts, plan)
        if judgement is not None:
            shown.append(_shown(check, judgement, at_most_warn=plan is None and check.by_plan))
    return ReadinessReport(status=_verdict(shown), checked_at=now, checks=tuple(shown))


def unreachable(checks: Sequence[Check[Any, Any]], error: HeadgateError, now: datetime) -> ReadinessReport:
    """The verdict on a source that could not be read: `error` says why, in our own words; all else is unknown."""
    first = failed(error.code, "connected", f"{error.message} Then ask again; a connection test shows each step.")
    unknown = Judgement(CheckOutcome.UNKNOWN, "", "")
    shown = [_shown(check, first if check is CONNECTION else unknown) for check in checks]
    return ReadinessReport(status=ReadinessStatus.NOT_READY, checked_at=now, checks=tuple(shown))


def listed(named: Mapping[str, Sequence[object]]) -> str:
    """What was found: each kind that has names, with its names."""
    return "; ".join(f"{kind}: {name_list(names)}" for kind, names in named.items() if names)


def statements(lines: Sequence[str]) -> str:
    """SQL to run, one statement a line; at most `SHOWN_NAMES` of them."""
    more = [f"-- and the same for {len(lines) - SHOWN_NAMES} more"] if len(lines) > SHOWN_NAMES else []
    return "\n".join([*lines[:SHOWN_NAMES], *more])


def _shown(check: Check[Any, Any], judgement: Judgement, *, at_most_warn: bool = False) -> ReadinessCheck:
    demoted = at_most_warn and judgement.status is CheckOutcome.FAIL
    return ReadinessCheck(
        key=check.key,
        name=check.name,
        status=CheckOutcome.WARN if demoted else judgement.status,
        severity=check.severity,
        description=check.description,
        current_value=judgement.current or None,
        expected_value=judgement.expected or None,
        recommended_action=judgement.action,
    )


def _verdict(checks: Sequence[ReadinessCheck]) -> ReadinessStatus:
    found = {check.status for check in checks}
    if CheckOutcome.FAIL in found:
        return ReadinessStatus.NOT_READY
    return ReadinessStatus.WARNING if found - {CheckOutcome.PASS} else ReadinessStatus.READY
