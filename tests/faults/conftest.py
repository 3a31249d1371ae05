"""The in-process app for every test here, and a summary line with the number of cases that were run."""

from typing import Any

from tests.support.in_process_app import app, app_of_the_module

__all__ = ["app", "app_of_the_module"]


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
