"""The house for every test here, and a line at the end that says how much was tried."""

from typing import Any

from tests.support.in_process_app import app, app_of_the_module

__all__ = ["app", "app_of_the_module"]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Add up what the tests recorded, also across processes."""
    totals: dict[str, int] = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, value in getattr(report, "user_properties", []):
                if report.when == "call" and isinstance(value, int):
                    totals[name] = totals.get(name, 0) + value
    if totals:
        terminalreporter.write_line("faults: " + ", ".join(f"{count} {name}" for name, count in totals.items()))
