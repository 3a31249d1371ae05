"""Every case of the test plan has a test, and every test that the table names is there."""

import ast
from functools import cache
from pathlib import Path

import pytest

from tests.integration.api.alerting.cases import CASES, MORE

TESTS = Path(__file__).parents[3]


@cache
def functions(module: str) -> frozenset[str]:
    """The functions of a module, by its path below `tests`."""
    tree = ast.parse((TESTS / f"{module}.py").read_text())
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


def test_there_is_a_test_for_each_of_the_forty_cases() -> None:
    assert sorted(CASES) == list(range(1, 41))
    assert all(CASES.values())
    assert all(name.startswith("integration/api/") for names in CASES.values() for name in names)


@pytest.mark.parametrize(
    "name", sorted({name for table in (CASES, MORE) for names in table.values() for name in names})
)
def test_each_test_of_the_table_exists(name: str) -> None:
    module, _, function = name.partition("::")
    assert function.startswith("test_")
    assert function in functions(module)
