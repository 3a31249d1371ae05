"""A worker that was held up for longer than its lease comes back, and finds that another one has gone on without it."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import httpx
import pytest

from chalicelib.domain.observation import DesiredState
from tests.faults.invariants import violations
from tests.faults.scenario import recover
from tests.support.call_interceptor import InterceptedCall, Point, Side
from tests.support.in_process_app import InProcessApp


class HeldUp:
    """A request whose worker stops at the first call of a kind, until it is let go."""

    def __init__(self, app: InProcessApp, act: Callable[[], object], stops: Callable[[Point], bool]) -> None:
        self._house, self._stops = app, stops
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
        self._house.interceptor.watch(self._stop)
        try:
            return act()
        finally:
            self._house.interceptor.unwatch()

    def _stop(self, point: Point, call: InterceptedCall) -> object:
        if self._stops(point) and not self._reached.is_set():
            self._reached.set()
            self._free.wait(20)
            if self._failing:
                raise httpx.ConnectError("refused")
        return call()


def creates(point: Point) -> bool:
    return point.operation == "POST /connectors"


def commits_what_was_done() -> Callable[[Point], bool]:
    """The second transaction of a request."""
    seen: list[Point] = []

    def second(point: Point) -> bool:
        if point.side is Side.STORE and point.writes:
            seen.append(point)
        return len(seen) == 2

    return second


def test_a_late_worker_does_not_undo_what_another_has_finished(app: InProcessApp) -> None:
    pipeline = app.pipeline()
    worker = HeldUp(app, lambda: app.services.pipelines.deploy(app.context(), pipeline.id), creates)
    app.tick(after=31)
    assert app.services.pipelines.get(pipeline.id).desired_state is DesiredState.RUNNING
    answer = worker.let_go(failing=True)
    assert getattr(answer, "open_operation", None)
    assert app.connect.names() == [pipeline.connector_name]
    assert recover(app) == []


def test_a_late_worker_adopts_the_connector_that_another_has_made(app: InProcessApp) -> None:
    pipeline = app.pipeline()
    worker = HeldUp(app, lambda: app.services.pipelines.deploy(app.context(), pipeline.id), creates)
    app.tick(after=31)
    answer = worker.let_go()
    assert getattr(answer, "desired_state", None) is DesiredState.RUNNING
    app.connect.settle()
    assert violations(app) == []


@pytest.mark.parametrize("pauses", [False, True])
def test_a_late_worker_leaves_what_was_settled_and_steered_meanwhile(app: InProcessApp, pauses: bool) -> None:
    pipeline = app.pipeline()
    worker = HeldUp(app, lambda: app.services.pipelines.deploy(app.context(), pipeline.id), commits_what_was_done())
    app.tick(after=31)
    if pauses:
        app.services.pipelines.pause(app.context(), pipeline.id)
    worker.let_go()
    app.connect.settle()
    assert violations(app) == []
    wanted = DesiredState.PAUSED if pauses else DesiredState.RUNNING
    assert app.services.pipelines.get(pipeline.id).desired_state is wanted


def test_a_late_delete_of_what_is_gone_is_done(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    worker = HeldUp(
        app,
        lambda: app.services.pipelines.delete(app.context(), pipeline.id),
        lambda point: point.operation[:6] == "DELETE",
    )
    app.tick(after=31)
    assert app.tables.rows("pipelines") == []
    assert worker.let_go() is None
    assert violations(app) == []


def test_mappings_are_settled_in_spite_of_many_other_changes_to_the_same_schema(app: InProcessApp) -> None:
    """What Connect has accepted is never reported as failed because others were faster at the table of claims."""
    pipeline, destination = app.deployed_pipeline(), app.destination()
    given = app.delivery_input(pipeline, "orders")
    delivery = app.services.deliveries.deploy(app.context(), destination.id, given)
    others = iter(app.delivery_input(pipeline, f"other{number}") for number in range(99))
    deploys = threading.local()

    def somebody_is_faster(point: Point, call: InterceptedCall) -> object:
        written = point.operation == "TransactWriteItems" and point.number > 6
        if written and not getattr(deploys, "busy", False) and point.number_on_side < 40:
            with ThreadPoolExecutor(1) as other:
                other.submit(
                    lambda: app.services.deliveries.deploy(app.context(), destination.id, next(others))
                ).result()
        return call()

    moved = (type(delivery.mappings[0])(topic=given.mappings[0].topic, schema_name="target", table_name="moved"),)
    app.interceptor.watch(somebody_is_faster)
    try:
        answer = app.services.deliveries.update_mappings(app.context(), delivery.id, moved)
    finally:
        app.interceptor.unwatch()
    assert answer.open_operation
    assert recover(app) == []
    assert app.services.deliveries.get(delivery.id).mappings == moved
