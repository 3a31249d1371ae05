"""Runs the parts of the suite, several at a time: python -m infra.quality.suite SCOPE (fast, default or all)

infra/quality/suite.toml lists the parts. Each is a process of its own that writes to .headgate/reports; what a failed
one wrote is printed when it ends. Then come the seconds of each part beside its budget, and the closing line. Ends with
1 when something failed. HEADGATE_REQUIRE_REAL=1 makes a missing real stack a failure. A part fails that takes more than
twice its budget; HEADGATE_BUDGET_FACTOR=4 is for a slower machine.

A few tests that failed run once more when everything else has ended. If they pass then, their part passes (036).
"""

import os
import shlex
import signal
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from infra.local.stack.java import missing
from infra.local.stack.layout import ROOT
from infra.quality.totals import closing_line, failures, totals

TABLE = ROOT / "infra" / "quality" / "suite.toml"
REPORTS = ROOT / ".headgate" / "reports"
REAL_PARTS_AT_A_TIME = 3
"""They mostly wait. Each has servers of its own, which take 2 GB."""

OTHER_PARTS_AT_A_TIME = (os.cpu_count() or 2) + 1
"""Some of them wait for doubles."""

MAX_FAILED_TO_RUN_AGAIN = 5
"""Of a part: tests that share a pipeline fail with the first of them. One more failure makes all of them final."""

TESTS_FAILED, NO_TESTS = 1, 5
"""Pytest ends with them: tests failed; the scope leaves out all tests of the part."""


class Scope(StrEnum):
    """How much is run; each contains the one before."""

    FAST = "fast"
    DEFAULT = "default"
    ALL = "all"


SCOPES = tuple(Scope)
MARKS: Mapping[Scope, str] = {
    Scope.FAST: "not thorough and not long",
    Scope.DEFAULT: "not long",
    Scope.ALL: "",
}


@dataclass(frozen=True, kw_only=True)
class Part:
    """Folders or files of tests (a pattern may stand for many), or another command.

    `budgets` are seconds of processor time, which do not depend on what else the machine does, by scope.
    """

    name: str
    budgets: Mapping[Scope, int]
    tests: tuple[str, ...] = ()
    command: str = ""
    real: bool = False

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Part":
        """A row of the table. A scope without a budget of its own has that of the one before."""
        budgets: dict[Scope, int] = {}
        for at, scope in enumerate(SCOPES):
            budget = row.get(scope, budgets.get(SCOPES[at - 1]) if at else None)
            if budget is not None:
                budgets[scope] = budget
        return cls(
            name=row["name"],
            budgets=budgets,
            tests=tuple(row.get("tests", ())),
            command=row.get("command", ""),
            real=row.get("real", False),
        )

    def files(self) -> list[Path]:
        named = [path for pattern in self.tests for path in ROOT.glob(pattern)]
        return sorted(file for path in named for file in (path.rglob("test_*.py") if path.is_dir() else [path]))

    def arguments(self, scope: Scope, *, only_failed: bool = False) -> list[str]:
        """The command; `only_failed` runs the tests again that failed last."""
        if self.command:
            return shlex.split(self.command.replace("python", sys.executable, 1))
        marks = " and ".join(filter(None, ("real" if self.real else "not real", MARKS[scope])))
        paths = [str(path.relative_to(ROOT)) for pattern in self.tests for path in sorted(ROOT.glob(pattern))]
        report = ["--junit-xml", str(self.report), "-o", "junit_family=xunit1"]
        memory = ["-o", f"cache_dir={self.memory}", "--last-failed" if only_failed else "--cache-clear"]
        options = ["-q", *memory, *([] if only_failed else report), "-m", marks]
        return [sys.executable, "-m", "pytest", "-c", "tests/pytest.ini", *options, *paths]

    @property
    def report(self) -> Path:
        return REPORTS / f"{self.name}.xml"

    @property
    def memory(self) -> Path:
        """Where pytest keeps which tests failed."""
        return REPORTS / f"{self.name}.cache"

    @property
    def output(self) -> Path:
        return REPORTS / f"{self.name}.txt"


@dataclass(frozen=True, kw_only=True)
class Result:
    """How a part ended: the status of its process, and the seconds that passed and that the processors worked."""

    part: Part
    status: int
    seconds: float
    processor_seconds: float
    passed_again: bool = False
    """Whether the tests that failed passed in their second run."""

    @property
    def passed(self) -> bool:
        return self.passed_again or self.status in ((0, NO_TESTS) if self.part.tests else (0,))

    @property
    def failed_tests(self) -> int:
        return totals([self.part.report])["failed"] if self.part.tests else 0

    @property
    def may_run_again(self) -> bool:
        return self.status == TESTS_FAILED and 0 < self.failed_tests <= MAX_FAILED_TO_RUN_AGAIN

    @property
    def output(self) -> str:
        return self.part.output.read_text(errors="replace").rstrip()

    def line(self, scope: Scope) -> str:
        """A line of the table at the end."""
        outcome = "passed" if self.passed else "FAILED"
        budget = self.part.budgets[scope]
        over = "  over its budget" if self.processor_seconds > budget else ""
        return f"{self.part.name:<28}{outcome:<8}{self.seconds:>6.0f}{self.processor_seconds:>10.0f}{budget:>9}{over}"


@dataclass
class Runner:
    """Runs parts in processes, which end with this one."""

    scope: Scope
    _running: set[int] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _stopped: bool = False

    def run_all(self, parts: Iterable[Part]) -> list[Result]:
        """Run the parts that have a budget in this scope, the longest first."""
        chosen = sorted(
            (part for part in parts if self.scope in part.budgets), key=lambda part: -part.budgets[self.scope]
        )
        with (
            ThreadPoolExecutor(OTHER_PARTS_AT_A_TIME) as working,
            ThreadPoolExecutor(REAL_PARTS_AT_A_TIME) as waiting,
        ):
            started: list[Future[Result | None]] = []
            try:
                started = [(waiting if part.real else working).submit(self._run, part) for part in chosen]
                return [result for future in started if (result := future.result())]
            except BaseException:
                self._stop()
                for future in started:
                    future.cancel()
                raise

    def run_again(self, results: Iterable[Result]) -> list[Result]:
        """The results, after second runs of the few tests that failed, one part after another."""
        return [self._again(result) if result.may_run_again else result for result in results]

    def _again(self, result: Result) -> Result:
        second = self._run(result.part, only_failed=True)
        return replace(result, passed_again=second is not None and second.status == 0)

    def _run(self, part: Part, *, only_failed: bool = False) -> Result | None:
        """None when this runner was stopped."""
        began = time.monotonic()
        if not only_failed:
            part.report.unlink(missing_ok=True)
        with part.output.open("wb") as output:
            with self._lock:
                if self._stopped:
                    return None
                # What computes gives way to what waits for servers, and has time limits.
                command = [
                    *(() if part.real else ("nice", "-n", "5")),
                    *part.arguments(self.scope, only_failed=only_failed),
                ]
                process = subprocess.Popen(
                    command,
                    cwd=ROOT,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    process_group=0,
                )
                self._running.add(process.pid)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        with self._lock:
            self._running.discard(process.pid)
            result = Result(
                part=part,
                status=process.returncode,
                seconds=time.monotonic() - began,
                processor_seconds=used.ru_utime + used.ru_stime,
            )
            _print(result)
        return result

    def _stop(self) -> None:
        with self._lock:
            self._stopped = True
            for pid in self._running:
                os.killpg(pid, signal.SIGTERM)


def _print(result: Result) -> None:
    """The last line of a part that passed at once, and the whole output of another."""
    output = result.output
    text = output.rpartition("\n")[2] if result.passed else output
    outcome = "passed" if result.passed else "failed"
    print(f"\n----- {result.part.name}: {outcome}, {result.seconds:.0f} s\n{text}", flush=True)


def table() -> list[Part]:
    return [Part.of(row) for row in tomllib.loads(TABLE.read_text())["part"]]


def main(scope: Scope) -> int:
    """Run it; 1 when something failed."""
    began = time.monotonic()
    REPORTS.mkdir(parents=True, exist_ok=True)
    lacking = missing() if scope is not Scope.FAST else None
    parts = [part for part in table() if not (part.real and lacking)]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    runner = Runner(scope)
    results = runner.run_again(runner.run_all(parts))
    print(f"\n{'part':<28}{'':<8}{'s':>6}{'s of CPU':>10}{'budget':>9}")
    for result in results:
        print(result.line(scope))
    failed = [result.part.name for result in results if result.part.command and not result.passed]
    if lacking:
        print(f"\nLEFT OUT: what needs the real stack: {lacking}")
        failed += ["real stack missing"] if os.environ.get("HEADGATE_REQUIRE_REAL") else []
    failed += _over_budget(results, scope)
    for failure in failures(result.part.report for result in results if result.part.tests and result.status):
        print(f"\nFAILED AT FIRST: {failure}")
    counted = totals(result.part.report for result in results if result.part.tests and result.status != NO_TESTS)
    for result in results:
        if result.passed_again:
            print(f"\nPASSED ONLY WHEN RUN ONCE MORE: {result.failed_tests} of {result.part.name}; see above")
            counted.update(passed=result.failed_tests, failed=-result.failed_tests)
    print(f"\n{closing_line(counted, round(time.monotonic() - began), ', '.join(failed))}")
    return int(bool(failed) or not all(result.passed for result in results))


def _over_budget(results: Sequence[Result], scope: Scope) -> list[str]:
    """The parts that took too long."""
    # The same work takes up to half as much processor time again beside other work, or on another machine.
    factor = float(os.environ.get("HEADGATE_BUDGET_FACTOR", "2"))
    slow = [result for result in results if result.processor_seconds > factor * result.part.budgets[scope]]
    return [f"{result.part.name} takes too long" for result in slow]


if __name__ == "__main__":
    sys.exit(main(Scope(sys.argv[1])))
