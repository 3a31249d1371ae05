"""Each kind of fault at every call of what queues and schedules start, and of incidents: see test_crash_points."""

from collections.abc import Callable

import pytest

from tests.faults.cases.incidents import INCIDENT_CASES
from tests.faults.cases.operation_case import OperationCase
from tests.faults.cases.progress import PROGRESS_CASES
from tests.faults.cases.ticks import TICK_CASES
from tests.faults.harness.matrix import CaseMatrix

pytestmark = pytest.mark.thorough

CASES = (*TICK_CASES, *INCIDENT_CASES, *PROGRESS_CASES)
MatrixOf = Callable[[OperationCase], CaseMatrix]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_each_kind_of_fault_at_any_call_is_recovered_from(
    matrix_of: MatrixOf, case: OperationCase, record_property: Callable[[str, object], None]
) -> None:
    matrix_of(case).check_each_kind(record_property)


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_fault_and_two_faults_are_recovered_from(
    matrix_of: MatrixOf, case: OperationCase, record_property: Callable[[str, object], None]
) -> None:
    matrix_of(case).check_everything(record_property)
