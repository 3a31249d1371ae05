"""All faults of a case: each at every call where it can happen, and pairs of them; what was run, and what cannot be."""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from zlib import crc32

from tests.faults.failure_modes import ALL_FAULTS, Fault, Kind
from tests.faults.fault_runs import FaultRun, PreparedCase
from tests.support.apps.call_interceptor import Point
from tests.support.apps.in_process_app import InProcessApp

SEED = 20260131
MAX_TRIES = 20
RUN, SAME, CANNOT = "run", "same as another", "cannot happen"

READ_ONLY = {
    Kind.CRASH_BEFORE: "a read changes nothing: the same as a crash before the next write, or at the end",
    Kind.CRASH_AFTER: "a read changes nothing: the same as a crash before the next write, or at the end",
    Kind.LOST_REPLY: "a read changes nothing: the same as one that fails before",
}
"""Why a kind is not run at a read, although it can happen there."""

CANNOT_HAPPEN = {
    Kind.LATE_APPLY: "a read has no effect that could come late",
    Kind.STALE_READ: "a write; a consistent read; or a system with one server",
    Kind.PARTIAL: "not a batch, and not a query",
}
PlannedFault = tuple[Point, Fault]


@dataclass(kw_only=True)
class CaseReport:
    """What was run of one case. `points` are counted by side, `kinds` by kind and by what became of it at a point."""

    name: str
    points: Counter[str] = field(default_factory=Counter)
    kinds: Counter[tuple[Kind, str]] = field(default_factory=Counter)
    runs: Counter[Kind] = field(default_factory=Counter)
    pairs: Counter[str] = field(default_factory=Counter)
    ticks: Counter[int] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)
    seconds: float = 0

    def add(self, other: "CaseReport") -> None:
        for mine, others in (
            (self.points, other.points),
            (self.kinds, other.kinds),
            (self.runs, other.runs),
            (self.pairs, other.pairs),
            (self.ticks, other.ticks),
        ):
            mine.update(others)  # type: ignore[attr-defined]
        self.violations += other.violations
        self.seconds += other.seconds


class CaseMatrix:
    """Runs the faults of one case, and counts them."""

    def __init__(self, app: InProcessApp, case: PreparedCase) -> None:
        self._app, self.case = app, case
        self._single_runs: dict[PlannedFault, FaultRun] = {}
        self.report = CaseReport(name=case.name)
        self.report.points.update(point.side.value for point in case.points)
        for kind in Kind:
            for point in case.points:
                self.report.kinds[kind, _possible(kind, point)] += 1

    @property
    def singles(self) -> list[PlannedFault]:
        """Every fault at every call where it can happen."""
        return [(point, fault) for point in self.case.points for fault in ALL_FAULTS if fault.applies_to(point)]

    @property
    def one_of_each_kind(self) -> list[PlannedFault]:
        """Every kind at every call where it can be told apart, as one of its faults: at the next call as the next one.

        A crash before a write leaves what a crash after the write before it has left. A read whose answer does not
        change is as one without a fault.
        """
        first = crc32(self.case.name.encode())
        chosen: list[PlannedFault] = []
        writes_before = False
        for number, point in enumerate(self.case.points, first):
            for kind in Kind:
                if kind is Kind.CRASH_BEFORE and writes_before:
                    continue
                faults = [fault for fault in ALL_FAULTS if fault.kind is kind and self._has_effect(fault, point)]
                chosen += [(point, faults[number % len(faults)])] if faults else []
            writes_before = writes_before or point.writes
        return chosen

    def _has_effect(self, fault: Fault, point: Point) -> bool:
        return fault.applies_to(point) and (point.number, fault) not in self.case.without_effect

    def run_singles(self, singles: Iterable[PlannedFault] | None = None) -> None:
        """A run for each of these single faults, by default for all, and one without any."""
        self._note((), self.case.run(self._app, []))
        for single in self.singles if singles is None else singles:
            self._single_run(single)

    def run_pairs(self, count: int) -> None:
        """So many pairs, each once: both in the request, or the second one in the first tick after it.

        First one pair for each two calls of the request, then any. Which ones is always the same.
        """
        chosen = random.Random(f"{SEED} {self.case.name}")
        done: set[str] = set()
        for first, second, where in self._pairs(chosen):
            if len(done) >= count:
                return
            name = f"{_named(first)}; then {where} {_named(second)}"
            if name in done:
                continue
            done.add(name)
            self.report.pairs[where] += 1
            now, later = ([first, second], []) if where == "in the request" else ([first], [second])
            found = self.case.run(self._app, now, later)
            self._note((name,), found)

    def check_each_kind(self, record: Callable[[str, object], None]) -> None:
        """Assert that each kind of fault is recovered from at every call; `record` the numbers."""
        self.run_singles(self.one_of_each_kind)
        record("points", self.report.points.total())
        record("single faults", self.report.runs.total())
        assert not self.report.violations, "\n".join(self.report.violations)

    def check_everything(self, record: Callable[[str, object], None], pairs: int = 8) -> None:
        """Assert that every fault at every call is recovered from, and so many pairs of them."""
        self.run_singles()
        self.run_pairs(pairs)
        record("single faults", self.report.runs.total())
        record("pairs", self.report.pairs.total())
        assert not self.report.violations, "\n".join(self.report.violations)

    def _pairs(self, chosen: random.Random) -> Iterator[tuple[PlannedFault, PlannedFault, str]]:
        singles, tries = self.singles, 0
        for first_point, _ in combinations(self.case.points, 2):
            here = [single for single in singles if single[0] == first_point]
            yield from self._completed(chosen, chosen.choice(here), recovering=False)
        while tries < MAX_TRIES * len(singles):
            tries += 1
            yield from self._completed(chosen, chosen.choice(singles), recovering=chosen.random() < 0.5)

    def _completed(
        self, chosen: random.Random, first: PlannedFault, *, recovering: bool
    ) -> Iterator[tuple[PlannedFault, PlannedFault, str]]:
        """A pair that begins with this one. The second is at a call that was seen to follow the first fault."""
        run = self._single_run(first)
        later = [point for point in run.points if point.number > first[0].number]
        points: Sequence[Point] = run.tick_points if recovering or not later else later
        if points:
            point = chosen.choice(points)
            faults = [fault for fault in ALL_FAULTS if fault.applies_to(point)]
            where = "in the request" if points is later else "in the recovery"
            yield first, (point, chosen.choice(faults)), where

    def _single_run(self, single: PlannedFault) -> FaultRun:
        if single not in self._single_runs:
            found = self._single_runs[single] = self.case.run(self._app, [single])
            self.report.runs[single[1].kind] += 1
            self._note((_named(single),), found)
        return self._single_runs[single]

    def _note(self, what: Sequence[str], found: FaultRun) -> None:
        self.report.ticks[found.ticks] += 1
        if found.wrong:
            self.report.violations.append(f"{self.case.name}: {'; '.join(what) or 'no fault'}: {list(found.wrong)}")


def _named(planned: PlannedFault) -> str:
    point, fault = planned
    return f"{point} {fault.kind} ({fault.name})"


def _possible(kind: Kind, point: Point) -> str:
    if any(fault.kind is kind and fault.applies_to(point) for fault in ALL_FAULTS):
        return RUN
    return SAME if kind in READ_ONLY and not point.writes else CANNOT


def table(report: CaseReport) -> list[str]:
    points, singles, pairs = report.points.total(), report.runs.total(), report.pairs.total()
    lines = [f"points: {points} ({', '.join(f'{count} {side}' for side, count in report.points.most_common())})"]
    lines.append(f"{'kind':<14}{RUN:>8}{SAME:>18}{CANNOT:>15}{'runs':>8}")
    for kind in Kind:
        counts = [report.kinds[kind, status] for status in (RUN, SAME, CANNOT)]
        lines.append(f"{kind:<14}{counts[0]:>8}{counts[1]:>18}{counts[2]:>15}{report.runs[kind]:>8}")
    lines.append(f"single faults: {singles} runs of {points} points x {len(Kind)} kinds")
    lines.append(f"pairs: {pairs} ({', '.join(f'{count} {where}' for where, count in sorted(report.pairs.items()))})")
    ticks = ", ".join(f"{ticks}: {count}" for ticks, count in sorted(report.ticks.items()))
    lines.append(f"ticks until every invariant was true: {ticks}")
    lines.append(f"violations: {len(report.violations)}")
    return lines
