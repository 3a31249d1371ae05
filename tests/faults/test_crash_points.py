"""Every fault at every call of every operation on a connector, then a sample of pairs. Ticks always recover a valid
state.
"""

from collections.abc import Callable

import pytest

from tests.faults.cases.connectors import OPERATION_CASES, OTHER_CASES
from tests.faults.cases.operation_case import OperationCase
from tests.faults.harness.matrix import CaseMatrix
from tests.support.call_interceptor import Side

pytestmark = pytest.mark.thorough

PAIRS_EACH = 8
MatrixOf = Callable[[OperationCase], CaseMatrix]


@pytest.mark.parametrize("operation_case", [*OPERATION_CASES, *OTHER_CASES], ids=str)
def test_an_operation_recovers_from_a_fault_at_any_call(
    matrix_of: MatrixOf, operation_case: OperationCase, record_property: Callable[[str, object], None]
) -> None:
    matrix = matrix_of(operation_case)
    matrix.run_singles()
    record_property("points", matrix.report.points.total())
    record_property("single faults", matrix.report.runs.total())
    assert matrix.report.violations == []


@pytest.mark.parametrize("operation_case", OPERATION_CASES, ids=str)
def test_an_operation_writes_its_intent_then_calls_connect_then_writes_the_result(
    matrix_of: MatrixOf, operation_case: OperationCase
) -> None:
    writes = [point.side for point in matrix_of(operation_case).case.points if point.writes]
    assert writes[0] is Side.STORE
    assert Side.CONNECT in writes
    assert writes.index(Side.CONNECT) < len(writes) - 1 - writes[::-1].index(Side.STORE)


@pytest.mark.parametrize("operation_case", [*OPERATION_CASES, *OTHER_CASES], ids=str)
def test_an_operation_recovers_from_two_faults(
    matrix_of: MatrixOf, operation_case: OperationCase, record_property: Callable[[str, object], None]
) -> None:
    """The second fault is later in the same request, or in the tick that takes over."""
    matrix = matrix_of(operation_case)
    matrix.run_pairs(PAIRS_EACH)
    record_property("pairs", matrix.report.pairs.total())
    assert matrix.report.violations == []
