"""A worker that was held up for longer than its lease comes back, and finds that another one has gone on without it."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import httpx
import pytest

from chalicelib.domain.observation import DesiredState
from tests.faults.invariants import violations
from tests.faults.scenario import recover
from tests.support.call_interceptor import Call, Point, Side
from tests.support.in_process_app import House


class HeldUp:
    """A request whose worker stops at the first call of a kind, until it is let go."""

    def __init__(self, house: House, act: Callable[[], object], stops: Callable[[Point], bool]) -> None:
        self._house, self._stops = house, stops
        self._reached, self._free = threading.Event(), threading.Event()
        self._failing = False
        self._pool = ThreadPoolExecutor(1)
        self._answer: Future[object] = self._pool.submit(self._work, act)
        assert self._reached.wait(20)

    def let_go(self, *, failing: bool = False) -> object:
        """The answer of the request; `failing`: the call that it stopped at cannot reach Connect."""
        self._failing = failing
        self._free.set()
        answer = self._answer.result(20)
        self._pool.shutdown()
        return answer

    def _work(self, act: Callable[[], object]) -> object:
        self._house.gate.watch(self._stop)
        try:
            return act()
        finally:
            self._house.gate.unwatch()

    def _stop(self, point: Point, call: Call) -> object:
        if self._stops(point) and not self._reached.is_set():
            self._reached.set()
            self._free.wait(20)
            if self._failing:
                raise httpx.ConnectError("refused")
        return call()


def creates(point: Point) -> bool:
    return point.what == "POST /connectors"


def commits_what_was_done() -> Callable[[Point], bool]:
    """The second transaction of a request."""
    seen: list[Point] = []

    def second(point: Point) -> bool:
        if point.side is Side.STORE and point.writes:
            seen.append(point)
        return len(seen) == 2

    return second


def test_a_late_worker_does_not_undo_what_another_has_finished(house: House) -> None:
    pipeline = house.pipeline()
    worker = HeldUp(house, lambda: house.services.pipelines.deploy(house.call(), pipeline.id), creates)
    house.tick(after=31)
    assert house.services.pipelines.get(pipeline.id).desired_state is DesiredState.RUNNING
    answer = worker.let_go(failing=True)
    assert getattr(answer, "open_operation", None)
    assert house.connect.names() == [pipeline.connector_name]
    assert recover(house) == []


def test_a_late_worker_adopts_the_connector_that_another_has_made(house: House) -> None:
    pipeline = house.pipeline()
    worker = HeldUp(house, lambda: house.services.pipelines.deploy(house.call(), pipeline.id), creates)
    house.tick(after=31)
    answer = worker.let_go()
    assert getattr(answer, "desired_state", None) is DesiredState.RUNNING
    house.connect.settle()
    assert violations(house) == []


@pytest.mark.parametrize("pauses", [False, True])
def test_a_late_worker_leaves_what_was_settled_and_steered_meanwhile(house: House, pauses: bool) -> None:
    pipeline = house.pipeline()
    worker = HeldUp(house, lambda: house.services.pipelines.deploy(house.call(), pipeline.id), commits_what_was_done())
    house.tick(after=31)
    if pauses:
        house.services.pipelines.pause(house.call(), pipeline.id)
    worker.let_go()
    house.connect.settle()
    assert violations(house) == []
    wanted = DesiredState.PAUSED if pauses else DesiredState.RUNNING
    assert house.services.pipelines.get(pipeline.id).desired_state is wanted


def test_a_late_delete_of_what_is_gone_is_done(house: House) -> None:
    pipeline = house.deployed_pipeline()
    worker = HeldUp(
        house,
        lambda: house.services.pipelines.delete(house.call(), pipeline.id),
        lambda point: point.what[:6] == "DELETE",
    )
    house.tick(after=31)
    assert house.tables.rows("pipelines") == []
    assert worker.let_go() is None
    assert violations(house) == []


def test_mappings_are_settled_in_spite_of_many_other_changes_to_the_same_schema(house: House) -> None:
    """What Connect has accepted is never reported as failed because others were faster at the table of claims."""
    pipeline, destination = house.deployed_pipeline(), house.destination()
    given = house.delivery_input(pipeline, "orders")
    delivery = house.services.deliveries.deploy(house.call(), destination.id, given)
    others = iter(house.delivery_input(pipeline, f"other{number}") for number in range(99))
    deploys = threading.local()

    def somebody_is_faster(point: Point, call: Call) -> object:
        written = point.what == "TransactWriteItems" and point.number > 6
        if written and not getattr(deploys, "busy", False) and point.turn < 40:
            with ThreadPoolExecutor(1) as other:
                other.submit(
                    lambda: house.services.deliveries.deploy(house.call(), destination.id, next(others))
                ).result()
        return call()

    moved = (type(delivery.mappings[0])(topic=given.mappings[0].topic, schema_name="target", table_name="moved"),)
    house.gate.watch(somebody_is_faster)
    try:
        answer = house.services.deliveries.update_mappings(house.call(), delivery.id, moved)
    finally:
        house.gate.unwatch()
    assert answer.open_operation
    assert recover(house) == []
    assert house.services.deliveries.get(delivery.id).mappings == moved
