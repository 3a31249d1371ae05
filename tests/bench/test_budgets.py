"""The budgets of the design that are counts, never times. `python -m tests.bench` prints all of them."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from infra.local.stack.layout import ROOT

pytestmark = pytest.mark.thorough

QUIET_TICK = "1 + 1, 5 + 1 units, 1 Connect"
"""Calls and units of the store (reads + writes), and calls to Connect."""

REPORTING_TICK = "3 + 1, 6 + 1 units, 1 Connect"
"""The one in a minute that reports: the open incidents and the active alerts are read."""


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Every line that does not depend on the machine, measured in a new process."""
    file = tmp_path_factory.mktemp("bench") / "lines.json"
    command = [sys.executable, "-m", "tests.bench", "--counts", "--json", str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert file.exists(), done.stdout[-3000:] + done.stderr[-3000:]
    return {line["name"]: line for line in _read(file)}


def _read(file: Path) -> list[dict[str, Any]]:
    return list(json.loads(file.read_text()))


def test_every_count_is_within_its_budget(lines: dict[str, dict[str, Any]]) -> None:
    assert {name: line["measured"] for name, line in lines.items() if not line["holds"]} == {}


def test_a_read_needs_one_call_for_the_session_one_for_the_entity_and_one_for_its_dependencies(
    lines: dict[str, dict[str, Any]],
) -> None:
    """The detail of a pipeline also lists its deliveries."""
    calls = {"sources": 2, "destinations": 2, "jobs": 2, "deliveries": 3, "pipelines": 4}
    expected = {f"GET /{name}/{{uuid}}": count for name, count in calls.items()}
    assert {name: lines[name]["value"] for name in expected} == expected


@pytest.mark.parametrize("connectors", ["1,000", "10,000"])
def test_a_quiet_tick_needs_one_connect_call_one_read_of_five_units_and_one_write_unit(
    lines: dict[str, dict[str, Any]], connectors: str
) -> None:
    assert lines[f"{connectors} connectors, quiet"]["measured"] == QUIET_TICK
    assert lines[f"{connectors} connectors, quiet, reported to alerting"]["measured"] == REPORTING_TICK


@pytest.mark.parametrize("connectors", ["10", "100"])
def test_a_tick_that_compares_configs_also_reads_what_is_desired(
    lines: dict[str, dict[str, Any]], connectors: str
) -> None:
    measured = lines[f"{connectors} connectors, quiet, configs compared"]["measured"]
    assert measured.startswith("3 + 1, ")
    assert measured.endswith(", 1 Connect")


@pytest.mark.parametrize("connectors", ["1,000", "10,000"])
def test_a_tick_with_a_failed_task_stores_the_snapshot_the_incident_that_it_was_published_and_the_alert(
    lines: dict[str, dict[str, Any]], connectors: str
) -> None:
    calls = lines[f"{connectors} connectors, one task failed"]["measured"].partition(",")[0]
    reads, writes = map(int, calls.split(" + "))
    assert reads <= 14
    assert writes == 4


def test_reads_and_quiet_ticks_do_not_grow_with_what_is_stored(
    lines: dict[str, dict[str, Any]],
) -> None:
    grown = {name: line["value"] for name, line in lines.items() if line["group"].startswith("Growth")}
    assert len(grown) == 8
    assert {name: value for name, value in grown.items() if abs(value) > 0.05} == {}


def test_importing_the_api_loads_no_library_that_only_some_requests_need(lines: dict[str, dict[str, Any]]) -> None:
    assert lines["libraries and wiring loaded before they are needed"]["measured"] == "none"
