"""The words of readiness: one check, what it found, and the capture that it is judged for."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from chalicelib.domain.pipeline import Pipeline, PublicationMode
from chalicelib.domain.providers.postgresql.facts import ServerFacts
from chalicelib.domain.providers.postgresql.properties import PARTITION_ROOT_PROPERTY
from chalicelib.domain.table import Severity, TableName

SHOWN_NAMES = 10
"""At most so many names stand in one sentence or fix; the rest is counted."""


class CheckOutcome(StrEnum):
    """How one readiness check ended. `unknown` means that nobody could look."""

    PASS = "pass"  # noqa: S105
    WARN = "warn"
    FAIL = "fail"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadinessCheck:
    """One check as it is shown. `severity` is the worst that it can ever become; the action is null on `pass`."""

    key: str
    name: str
    status: CheckOutcome
    severity: Severity
    description: str
    current_value: str | None
    expected_value: str | None
    recommended_action: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturePlan:
    """The choices that a capture makes on the source. `deployed`: its own connector uses slot and publication."""

    tables: tuple[TableName, ...]
    slot_name: str
    publication_name: str
    publication_mode: PublicationMode = PublicationMode.FILTERED
    publishes_partition_root: bool = True
    deployed: bool = False

    @classmethod
    def of(cls, pipeline: Pipeline, *, deployed: bool) -> "CapturePlan":
        """The plan of a pipeline. `deployed` says that its connector exists and may be running now."""
        properties = pipeline.capture.properties
        return cls(
            tables=pipeline.capture.tables,
            slot_name=pipeline.slot_name,
            publication_name=pipeline.publication_name,
            publication_mode=pipeline.capture.options.publication_mode,
            publishes_partition_root=properties.get(PARTITION_ROOT_PROPERTY, "true") == "true",
            deployed=deployed,
        )


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check saw, what it would like to see, and the exact thing to do about the difference."""

    status: CheckOutcome
    current: str
    expected: str
    action: str | None = None


Judge = Callable[[ServerFacts, CapturePlan | None], Finding | None]
"""Gives None when there is nothing to judge: no plan, or no table of the kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A row of the table of checks. `by_plan`: it depends on the chosen tables, slot or publication."""

    key: str
    name: str
    description: str
    judge: Judge
    severity: Severity = Severity.FAIL
    by_plan: bool = False


def passed(current: str, expected: str) -> Finding:
    """As it should be."""
    return Finding(CheckOutcome.PASS, current, expected)


def warned(current: str, expected: str, action: str) -> Finding:
    """Works, and deserves a look."""
    return Finding(CheckOutcome.WARN, current, expected, action)


def failed(current: str, expected: str, action: str) -> Finding:
    """A capture would stop, stay silent or lose changes."""
    return Finding(CheckOutcome.FAIL, current, expected, action)


def for_server(judge: Callable[[ServerFacts], Finding | None]) -> Judge:
    """A judge of the server alone, whatever the plan."""
    return lambda facts, _plan: judge(facts)


def for_plan(judge: Callable[[ServerFacts, CapturePlan], Finding | None]) -> Judge:
    """A judge that has nothing to say without a plan."""
    return lambda facts, plan: None if plan is None else judge(facts, plan)


def quoted(name: str) -> str:
    """An identifier for SQL, quoted."""
    return '"' + name.replace('"', '""') + '"'


def quoted_table(name: TableName) -> str:
    """A table's full name for SQL, quoted."""
    return f"{quoted(name.schema_name)}.{quoted(name.table_name)}"


def named(names: Iterable[object]) -> str:
    """Names for a sentence: the first ones, and how many more there are."""
    listed = [str(name) for name in names]
    more = f" and {len(listed) - SHOWN_NAMES} more" if len(listed) > SHOWN_NAMES else ""
    return ", ".join(listed[:SHOWN_NAMES]) + more


def statements(lines: Sequence[str]) -> str:
    """SQL to run, one statement a line, bounded like the names beside it."""
    more = [f"-- and the same for {len(lines) - SHOWN_NAMES} more"] if len(lines) > SHOWN_NAMES else []
    return "\n".join([*lines[:SHOWN_NAMES], *more])
