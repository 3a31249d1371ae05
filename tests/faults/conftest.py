"""The in-process app for every test here, and a summary line with the number of cases that were run."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.faults.cases.operation_case import OperationCase
from tests.faults.fault_runs import PreparedCase
from tests.faults.harness.matrix import CaseMatrix
from tests.faults.harness.whole_app import entries_on
from tests.support.apps.in_process_app import AppSnapshot, InProcessApp, app, app_of_the_module

__all__ = ["app", "app_of_the_module"]


@pytest.fixture(scope="module")
def matrix_of(app_of_the_module: tuple[InProcessApp, AppSnapshot]) -> Iterator[Callable[[OperationCase], CaseMatrix]]:
    """The faults of a case, which is prepared once for the module."""
    app, empty = app_of_the_module
    prepared: dict[str, CaseMatrix] = {}

    def prepare(case: OperationCase) -> CaseMatrix:
        if case.name not in prepared:
            prepared[case.name] = CaseMatrix(app, PreparedCase.prepare(app, case, empty))
        return prepared[case.name]

    with entries_on(app):
        yield prepare


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Add up the counts that the tests recorded, also across processes."""
    totals: dict[str, int] = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, value in getattr(report, "user_properties", []):
                if report.when == "call" and isinstance(value, int):
                    totals[name] = totals.get(name, 0) + value
    if totals:
        terminalreporter.write_line("faults: " + ", ".join(f"{count} {name}" for name, count in totals.items()))
