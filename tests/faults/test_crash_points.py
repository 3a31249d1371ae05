"""Each kind of fault at every call of every operation on a connector. Ticks always recover a valid state.

A kind is an outcome: not applied, applied without an answer, applied late, in part or twice, read as it was before, and
a process that dies before or after. Faults of one kind differ in how the caller learns of it (a 409, a 500, a refused
connection, a server that stays away); what handles one of them is the same code at every call. So each kind is tried
at each call, with its faults in turn; every fault at every call, and pairs, are `long`: `infra/test all`.
"""

from collections.abc import Callable

import pytest

from tests.faults.cases.connectors import OPERATION_CASES, OTHER_CASES
from tests.faults.cases.operation_case import OperationCase
from tests.faults.harness.matrix import CaseMatrix
from tests.support.apps.call_interceptor import Side

pytestmark = pytest.mark.thorough

MatrixOf = Callable[[OperationCase], CaseMatrix]


@pytest.mark.parametrize("operation_case", [*OPERATION_CASES, *OTHER_CASES], ids=str)
def test_an_operation_recovers_from_each_kind_of_fault_at_any_call(
    matrix_of: MatrixOf, operation_case: OperationCase, record_property: Callable[[str, object], None]
) -> None:
    matrix_of(operation_case).check_each_kind(record_property)


@pytest.mark.parametrize("operation_case", OPERATION_CASES, ids=str)
def test_an_operation_writes_its_intent_then_calls_connect_then_writes_the_result(
    matrix_of: MatrixOf, operation_case: OperationCase
) -> None:
    writes = [point.side for point in matrix_of(operation_case).case.points if point.writes]
    assert writes[0] is Side.STORE
    assert Side.CONNECT in writes
    assert writes.index(Side.CONNECT) < len(writes) - 1 - writes[::-1].index(Side.STORE)


@pytest.mark.long
@pytest.mark.parametrize("operation_case", [*OPERATION_CASES, *OTHER_CASES], ids=str)
def test_an_operation_recovers_from_every_fault_and_from_two(
    matrix_of: MatrixOf, operation_case: OperationCase, record_property: Callable[[str, object], None]
) -> None:
    """The second fault is later in the same request, or in the tick that takes over."""
    matrix_of(operation_case).check_everything(record_property)
