"""The list of seeded bugs fits the code: else a bug that is not planted would count as missed, or as another one."""

import pytest

from infra.local.stack.layout import ROOT
from tests.seeded_bugs.bug import Bug
from tests.seeded_bugs.bugs import BUGS


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_the_edit_is_possible_and_its_tests_exist(bug: Bug) -> None:
    assert (ROOT / bug.file).read_text().count(bug.before) == 1
    assert bug.before != bug.after
    assert all((ROOT / test).exists() for test in bug.tests)


def test_there_are_forty_bugs_of_different_names() -> None:
    assert len({bug.name for bug in BUGS}) == len(BUGS) >= 40
