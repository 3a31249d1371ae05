"""Every fault at every call of the requests that change no connector, then a sample of pairs."""

from collections.abc import Callable

import pytest

from tests.faults.cases.alerting import ALERTING_CASES
from tests.faults.cases.operation_case import OperationCase
from tests.faults.cases.people import PEOPLE_CASES
from tests.faults.cases.registered import REGISTERED_CASES
from tests.faults.harness.matrix import CaseMatrix

pytestmark = pytest.mark.thorough

PAIRS_EACH = 8
CASES = (*REGISTERED_CASES, *PEOPLE_CASES, *ALERTING_CASES)
MatrixOf = Callable[[OperationCase], CaseMatrix]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_fault_at_any_call_is_recovered_from(
    matrix_of: MatrixOf, case: OperationCase, record_property: Callable[[str, object], None]
) -> None:
    matrix = matrix_of(case)
    matrix.run_singles()
    record_property("points", matrix.report.points.total())
    record_property("single faults", matrix.report.runs.total())
    assert matrix.report.violations == []


@pytest.mark.parametrize("case", CASES, ids=str)
def test_two_faults_are_recovered_from(
    matrix_of: MatrixOf, case: OperationCase, record_property: Callable[[str, object], None]
) -> None:
    matrix = matrix_of(case)
    matrix.run_pairs(PAIRS_EACH)
    record_property("pairs", matrix.report.pairs.total())
    assert matrix.report.violations == []
