"""The table of OWASP's ASVS 5.0 is complete, and every test that it names exists."""

import ast
from functools import cache

import pytest

from infra.local.stack.layout import ROOT
from infra.quality.asvs import rows, shares


def test_every_requirement_of_levels_1_and_2_is_in_the_table() -> None:
    counts = [sum(row.level == level for row in rows()) for level in (1, 2)]
    # ASVS 5.0.0: 70 requirements of level 1, and 183 that level 2 adds.
    assert counts == [70, 183]


def test_every_requirement_says_what_we_do_or_why_it_does_not_apply() -> None:
    assert [row.id for row in rows() if bool(row.measure) == bool(row.why_not)] == []


@pytest.mark.parametrize("test", sorted({row.test for row in rows() if row.test}))
def test_a_test_that_the_table_names_exists(test: str) -> None:
    file, _, name = test.partition("::")
    assert name in _tests_in(file)


@cache
def _tests_in(file: str) -> set[str]:
    parsed = ast.parse((ROOT / "tests" / file).read_text())
    return {node.name for node in parsed.body if isinstance(node, ast.FunctionDef)}


def test_all_of_level_1_that_applies_has_a_test() -> None:
    assert shares(1).share == 1


def test_nearly_all_of_level_2_that_applies_has_a_test() -> None:
    assert shares(2).share >= 0.95
