"""Adds up the reports that pytest wrote (JUnit XML) into one closing line of the same form.

python infra/quality/totals.py SECONDS "FAILED CHECKS" REPORT...
"""

import sys
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

MAX_MESSAGE = 400
"""Characters of the message of a failed test."""


def totals(reports: Iterable[Path]) -> Counter[str]:
    """How many tests passed, failed and were skipped, over all reports. A missing report counts as one failure."""
    counted: Counter[str] = Counter()
    for report in reports:
        counted += _of(report) if report.exists() else Counter(failed=1)
    return counted


def failures(reports: Iterable[Path]) -> list[str]:
    """The tests that failed, each with the beginning of what it says."""
    # Written by pytest just now, on this machine.
    roots = [ET.parse(report).getroot() for report in reports if report.exists()]  # noqa: S314  # nosec B314
    return [
        f"{test.get('file')}::{test.get('name')}: {(failure.get('message') or '')[:MAX_MESSAGE]}"
        for root in roots
        for test in root.iter("testcase")
        for failure in (*test.findall("failure"), *test.findall("error"))
    ]


def closing_line(counted: Counter[str], seconds: int, failed_checks: str) -> str:
    """For example `812 passed, 0 failed, 2 skipped in 95s`, and the checks that failed, if any did."""
    skipped = f", {counted['skipped']} skipped" if counted["skipped"] else ""
    checks = f"; failed checks: {failed_checks}" if failed_checks else ""
    return f"===== {counted['passed']} passed, {counted['failed']} failed{skipped} in {seconds}s{checks} ====="


def _of(report: Path) -> Counter[str]:
    counted: Counter[str] = Counter()
    # Written by pytest just now, on this machine.
    for suite in ET.parse(report).getroot().iter("testsuite"):  # noqa: S314  # nosec B314
        failed = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        skipped = int(suite.get("skipped", 0))
        counted.update(failed=failed, skipped=skipped, passed=int(suite.get("tests", 0)) - failed - skipped)
    return counted


if __name__ == "__main__":
    print(closing_line(totals(map(Path, sys.argv[3:])), int(sys.argv[1]), sys.argv[2]))
