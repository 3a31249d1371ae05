"""The parts of the suite leave no test out and run none twice."""

from collections import Counter
from pathlib import Path

import pytest

from infra.local.stack.layout import ROOT
from infra.quality import suite
from infra.quality.suite import Part, Result, Runner, Scope, table

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


FAILS_ONCE = """
from pathlib import Path

def test_that_fails_{name}():
    ran = Path(__file__).with_name("{name}")
    again = ran.exists()
    ran.touch()
    assert again
"""
ALWAYS_FAILS = "def test_that_always_fails():\n    assert False\n"


def run(folder: Path, monkeypatch: pytest.MonkeyPatch, source: str) -> Result:
    """The result of a part with these tests."""
    (folder / "tests" / "some").mkdir(parents=True)
    (folder / "tests" / "pytest.ini").write_text("[pytest]\nmarkers =\n    real\n    long\n")
    (folder / "tests" / "some" / "test_some.py").write_text(source)
    monkeypatch.setattr(suite, "ROOT", folder)
    monkeypatch.setattr(suite, "REPORTS", folder)
    runner = Runner(Scope.DEFAULT)
    (result,) = runner.run_again(runner.run_all([Part(name="some", budgets={Scope.DEFAULT: 1}, tests=("tests/some",))]))
    return result


def test_a_test_that_passes_in_its_second_run_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = run(tmp_path, monkeypatch, FAILS_ONCE.format(name="once"))
    assert (result.passed, result.passed_again, result.failed_tests) == (True, True, 1)


def test_a_test_that_fails_twice_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not run(tmp_path, monkeypatch, FAILS_ONCE.format(name="once") + ALWAYS_FAILS).passed


def test_many_failures_are_final(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = run(tmp_path, monkeypatch, "".join(FAILS_ONCE.format(name=f"once_{number}") for number in range(6)))
    assert (result.passed, result.passed_again) == (False, False)
