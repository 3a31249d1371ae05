"""The parts of the suite leave no test out and run none twice."""

from collections import Counter
from pathlib import Path

import pytest

from infra.local.stack.layout import ROOT
from infra.quality.suite import Part, Scope, table

PARTS = [part for part in table() if part.tests]


def files(parts: list[Part]) -> Counter[Path]:
    return Counter(file for part in parts for file in set(part.files()) if file.name.startswith("test_"))


def test_every_file_of_tests_is_in_one_part_without_the_real_stack() -> None:
    assert files([part for part in PARTS if not part.real]) == Counter((ROOT / "tests").rglob("test_*.py"))


def test_every_file_with_tests_on_the_real_stack_is_in_one_real_part() -> None:
    counts = files([part for part in PARTS if part.real])
    with_real_tests = [file for file in (ROOT / "tests").rglob("test_*.py") if "mark.real" in file.read_text()]
    assert {file: counts[file] for file in with_real_tests} == dict.fromkeys(with_real_tests, 1)


@pytest.mark.parametrize("part", table(), ids=lambda part: part.name)
def test_a_part_names_files_that_exist_or_is_a_command(part: Part) -> None:
    assert bool(part.tests) != bool(part.command)
    assert all(list(ROOT.glob(pattern)) for pattern in part.tests)


def test_a_scope_without_a_budget_of_its_own_has_that_of_the_one_before() -> None:
    part = Part.of({"name": "x", "tests": ["tests/unit"], "default": 10})
    assert part.budgets == {Scope.DEFAULT: 10, Scope.ALL: 10}
