"""Every fault at every call of every operation, then a sample of pairs. Ticks always recover a valid state."""

import random
from collections.abc import Callable, Sequence

import pytest

from tests.faults.cases.connectors import FORGET_PIPELINE, OPERATION_CASES, OperationCase
from tests.faults.failure_modes import FAULTS, Fault
from tests.faults.fault_runs import PreparedCase, inject_at_each_point
from tests.support.call_interceptor import Point, Side
from tests.support.in_process_app import AppSnapshot, InProcessApp

pytestmark = pytest.mark.thorough

PAIRS_EACH = 8
TURNS_OF_A_TICK = 8
SEED = 20260131

PrepareCase = Callable[[OperationCase], PreparedCase]


@pytest.fixture(scope="module")
def prepare_case(app_of_the_module: tuple[InProcessApp, AppSnapshot]) -> PrepareCase:
    """Prepares each case once for the module."""
    app, empty = app_of_the_module
    cases: dict[str, PreparedCase] = {}

    def prepare(operation_case: OperationCase) -> PreparedCase:
        if operation_case.name not in cases:
            cases[operation_case.name] = PreparedCase.prepare(app, operation_case, empty)
        return cases[operation_case.name]

    return prepare


@pytest.mark.parametrize("operation_case", [*OPERATION_CASES, FORGET_PIPELINE], ids=str)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.side.value} {fault.name}")
def test_an_operation_recovers_from_a_fault_at_any_call(
    app: InProcessApp,
    prepare_case: PrepareCase,
    operation_case: OperationCase,
    fault: Fault,
    record_property: Callable[[str, object], None],
) -> None:
    count, wrong = inject_at_each_point(app, prepare_case(operation_case), fault)
    record_property("scenarios", count)
    assert not wrong


@pytest.mark.parametrize("operation_case", OPERATION_CASES, ids=str)
def test_an_operation_writes_its_intent_then_calls_connect_then_writes_the_result(
    prepare_case: PrepareCase, operation_case: OperationCase, record_property: Callable[[str, object], None]
) -> None:
    points = prepare_case(operation_case).points
    record_property("points", len(points))
    writes = [point.side for point in points if point.writes]
    assert writes[0] is Side.STORE
    assert Side.CONNECT in writes
    assert writes.index(Side.CONNECT) < len(writes) - 1 - writes[::-1].index(Side.STORE)


@pytest.mark.parametrize("operation_case", OPERATION_CASES, ids=str)
def test_an_operation_recovers_from_two_faults(
    app: InProcessApp,
    prepare_case: PrepareCase,
    operation_case: OperationCase,
    record_property: Callable[[str, object], None],
) -> None:
    """The second fault is later in the same request, or in the tick that takes over."""
    prepared_case, generator = prepare_case(operation_case), random.Random(f"{SEED} {operation_case}")
    wrong = {}
    for _ in range(PAIRS_EACH):
        first = _random_fault(generator, prepared_case.points)
        rest = [point for point in prepared_case.points if point.number > first[0].number]
        now, later = [first], []
        if rest and generator.random() < 0.5:
            now.append(_random_fault(generator, rest))
        else:
            later.append(_random_fault(generator, TICK))
        if found := prepared_case.run(app, now, later):
            wrong[str([f"{point} {fault.name}" for point, fault in [*now, *later]])] = found
    record_property("pairs", PAIRS_EACH)
    assert not wrong


def _random_fault(generator: random.Random, points: Sequence[Point]) -> tuple[Point, Fault]:
    point = generator.choice(points)
    return point, generator.choice([fault for fault in FAULTS if fault.applies_to(point)])


TICK = [
    Point(number=turn, number_on_side=turn, side=side, operation="in the tick", writes=True)
    for side in Side
    for turn in range(TURNS_OF_A_TICK)
]
"""Possible calls of a tick that takes over an operation. Which of them write is not known in advance."""
