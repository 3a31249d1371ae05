"""Readiness of a source: checks that a provider lists in a table, what each one found, and the verdict.

Kafka Connect's own validation sees few of these faults: the connector is created, and then fails, stays silent or loses
changes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, Protocol, TypeVar

from chalicelib.domain.names import SHOWN_NAMES, name_list
from chalicelib.domain.table import IssueSeverity, TableName
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
Judge = Callable[[Facts, Plan], Judgement | None]
"""Judges for the plan of a capture, or for None in general. Returns None when there is nothing to judge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check(Generic[Facts, Plan]):
    """A check that a provider makes. Without a plan, what depends on the choices of a capture is at most a warning."""

    key: str
    name: str
    description: str
    judge: Judge[Facts, Plan]
    severity: IssueSeverity = IssueSeverity.FAIL


def passed(current: str, expected: str) -> Judgement:
    return Judgement(CheckOutcome.PASS, current, expected)


def warned(current: str, expected: str, action: str) -> Judgement:
    """A capture would work; a person should know."""
    return Judgement(CheckOutcome.WARN, current, expected, action)


def failed(current: str, expected: str, action: str) -> Judgement:
    """A capture would stop, stay silent or lose changes."""
    return Judgement(CheckOutcome.FAIL, current, expected, action)


def readiness_check(
    key: str, *, name: str, description: str, severity: IssueSeverity = IssueSeverity.FAIL
) -> Callable[[Judge[Facts, Plan]], Check[Facts, Plan]]:
    """Makes a check of its judge, as a decorator."""
    return lambda judge: Check(key=key, name=name, description=description, judge=judge, severity=severity)


def for_plan(judge: Callable[[Facts, Plan], Judgement | None]) -> Judge[Facts, Plan | None]:
    """A judge that has nothing to say without a plan."""
    return lambda facts, plan: None if plan is None else judge(facts, plan)


class NamedTable(Protocol):
    """A table as the facts of a provider have it."""

    @property
    def name(self) -> TableName: ...


Table = TypeVar("Table", bound=NamedTable)


def table_check(
    key: str,
    *,
    name: str,
    description: str,
    tables: Callable[[Facts, Plan], Sequence[Table]],
    expected: str,
    fix: Callable[[Table, Facts], str],
    note: str = "",
    severity: IssueSeverity = IssueSeverity.FAIL,
) -> Callable[[Callable[[Table], str | None]], Check[Facts, Plan]]:
    """Makes a check of each captured table from a function that says what is wrong with one, as a decorator.

    The function returns None for a table without the fault, and "" where the table's name says it all. `note` comes
    below the fixes.
    """

    def decorate(fault: Callable[[Table], str | None]) -> Check[Facts, Plan]:
        def judge(facts: Facts, plan: Plan) -> Judgement | None:
            captured = tables(facts, plan)
            if not captured:
                return None
            faults = [(table, text) for table in captured if (text := fault(table)) is not None]
            if not faults:
                return passed("all tables", expected)
            named = name_list(f"{table.name}{f' ({text})' if text else ''}" for table, text in faults)
            current = named if plan is not None else f"{len(faults)} of {len(captured)} tables: {named}"
            action = f"{statements([fix(table, facts) for table, _ in faults])}\n{note}".rstrip()
            # Without a plan these are all tables of the source, and a capture may leave the faulty ones out.
            only_warns = severity is IssueSeverity.WARN or plan is None
            return (warned if only_warns else failed)(current, expected, action)

        return Check(key=key, name=name, description=description, judge=judge, severity=severity)

    return decorate


CONNECTION: Check[Any, Any] = Check(
    key="connection",
    name="Connection",
    judge=lambda _facts, _plan: passed("connected", "connected"),
    description="The server can be reached, lets the role in and can be read.",
)
"""The first check of every provider: facts exist only where it passes."""


def judge(checks: Sequence[Check[Facts, Plan]], facts: Facts, plan: Plan, now: datetime) -> ReadinessReport:
    """Judge what was read, for one capture or, without a plan, in general; what has nothing to judge is not shown."""
    judgements = ((check, check.judge(facts, plan)) for check in checks)
    return _report([_shown(check, judgement) for check, judgement in judgements if judgement is not None], now)


def unreachable(checks: Sequence[Check[Any, Any]], error: HeadgateError, now: datetime) -> ReadinessReport:
    """The report on a source that could not be read: `error` says why, in our own words; all else is unknown."""
    connection = failed(error.code, "connected", f"{error.message} Then ask again; a connection test shows each step.")
    unknown = Judgement(CheckOutcome.UNKNOWN, "", "")
    return _report([_shown(check, connection if check is CONNECTION else unknown) for check in checks], now)


def joined(report: ReadinessReport, more: ReadinessReport) -> ReadinessReport:
    """One report of two; it was made when the first one was."""
    return _report([*report.checks, *more.checks], report.checked_at)


def listed(named: Mapping[str, Sequence[object]]) -> str:
    """Each kind that has names, with its names."""
    return "; ".join(f"{kind}: {name_list(names)}" for kind, names in named.items() if names)


def statements(lines: Sequence[str]) -> str:
    """SQL to run, one statement a line; at most `SHOWN_NAMES` of them."""
    more = [f"-- and the same for {len(lines) - SHOWN_NAMES} more"] if len(lines) > SHOWN_NAMES else []
    return "\n".join([*lines[:SHOWN_NAMES], *more])


def _shown(check: Check[Any, Any], judgement: Judgement) -> ReadinessCheck:
    return ReadinessCheck(
        key=check.key,
        name=check.name,
        status=judgement.status,
        severity=check.severity,
        description=check.description,
        current_value=judgement.current or None,
        expected_value=judgement.expected or None,
        recommended_action=judgement.action,
    )


def _report(checks: Sequence[ReadinessCheck], now: datetime) -> ReadinessReport:
    outcomes = {check.status for check in checks}
    status = ReadinessStatus.WARNING if outcomes - {CheckOutcome.PASS} else ReadinessStatus.READY
    if CheckOutcome.FAIL in outcomes:
        status = ReadinessStatus.NOT_READY
    return ReadinessReport(status=status, checked_at=now, checks=tuple(checks))
