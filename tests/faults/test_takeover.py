"""A worker that is delayed for longer than its lease continues after another worker has taken its operation over."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count

import httpx
import pytest

from chalicelib.domain.destination import Destination
from chalicelib.domain.observation import DesiredState
from chalicelib.stores.claims import target_key
from tests.faults.fault_runs import recover
from tests.faults.invariants import violations
from tests.support.apps.call_interceptor import InterceptedCall, Point, Side
from tests.support.apps.in_process_app import InProcessApp


class DelayedWorker:
    """A request that stops before the first call for which `stops` is true, until `continue_request`."""

    def __init__(self, app: InProcessApp, request: Callable[[], object], stops: Callable[[Point], bool]) -> None:
        self._app, self._stops = app, stops
        self._reached, self._continue = threading.Event(), threading.Event()
        self._failing = False
        self._pool = ThreadPoolExecutor(1)
        self._answer: Future[object] = self._pool.submit(self._work, request)
        assert self._reached.wait(20)

    def continue_request(self, *, failing: bool = False) -> object:
        """The answer of the request; `failing`: the call at which it stopped does not reach Connect."""
        self._failing = failing
        self._continue.set()
        answer = self._answer.result(20)
        self._pool.shutdown()
        return answer

    def _work(self, request: Callable[[], object]) -> object:
        self._app.interceptor.watch(self._stop)
        try:
            return request()
        finally:
            self._app.interceptor.unwatch()

    def _stop(self, point: Point, call: InterceptedCall) -> object:
        if self._stops(point) and not self._reached.is_set():
            self._reached.set()
            self._continue.wait(20)
            if self._failing:
                raise httpx.ConnectError("refused")
        return call()


def creates(point: Point) -> bool:
    return point.operation == "POST /connectors"


def commits_the_result() -> Callable[[Point], bool]:
    """The second transaction of a request."""
    seen: list[Point] = []

    def second(point: Point) -> bool:
        if point.side is Side.STORE and point.writes:
            seen.append(point)
        return len(seen) == 2

    return second


def test_a_delayed_worker_does_not_undo_what_another_worker_has_finished(app: InProcessApp) -> None:
    pipeline = app.pipeline()
    worker = DelayedWorker(app, lambda: app.services.pipelines.deploy(app.context(), pipeline.id), creates)
    app.tick(after=31)
    assert app.services.pipelines.get(pipeline.id).desired_state is DesiredState.RUNNING
    answer = worker.continue_request(failing=True)
    assert getattr(answer, "open_operation", None)
    assert app.connect.names() == [pipeline.connector_name]
    assert recover(app) == []


def test_a_delayed_worker_adopts_the_connector_that_another_worker_has_created(app: InProcessApp) -> None:
    pipeline = app.pipeline()
    worker = DelayedWorker(app, lambda: app.services.pipelines.deploy(app.context(), pipeline.id), creates)
    app.tick(after=31)
    answer = worker.continue_request()
    assert getattr(answer, "desired_state", None) is DesiredState.RUNNING
    app.connect.settle()
    assert violations(app) == []


@pytest.mark.parametrize("pauses", [False, True])
def test_a_delayed_worker_does_not_change_an_operation_that_was_settled_meanwhile(
    app: InProcessApp, pauses: bool
) -> None:
    pipeline = app.pipeline()
    worker = DelayedWorker(app, lambda: app.services.pipelines.deploy(app.context(), pipeline.id), commits_the_result())
    app.tick(after=31)
    if pauses:
        app.services.pipelines.pause(app.context(), pipeline.id)
    worker.continue_request()
    app.connect.settle()
    assert violations(app) == []
    desired = DesiredState.PAUSED if pauses else DesiredState.RUNNING
    assert app.services.pipelines.get(pipeline.id).desired_state is desired


def test_a_delayed_delete_of_a_pipeline_that_is_already_deleted_succeeds(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    worker = DelayedWorker(
        app,
        lambda: app.services.pipelines.delete(app.context(), pipeline.id),
        lambda point: point.operation[:6] == "DELETE",
    )
    app.tick(after=31)
    assert app.tables.rows("pipelines") == []
    assert worker.continue_request() is None
    assert violations(app) == []


def tables_claimed_beside(destination: Destination, table: str) -> Iterator[str]:
    """Tables whose claims are in the same row."""
    place = (*destination.address.identity, "target")
    names = (f"other{number}" for number in count())
    return (name for name in names if target_key(place, name) == target_key(place, table))


def test_new_mappings_are_settled_despite_many_other_changes_to_the_same_claims(app: InProcessApp) -> None:
    """What Connect has accepted is never reported as failed because other requests changed the claims first."""
    pipeline, destination = app.deployed_pipeline(), app.destination()
    data = app.delivery_input(pipeline, "orders")
    delivery = app.services.deliveries.deploy(app.context(), destination.id, data)
    others = (app.delivery_input(pipeline, table) for table in tables_claimed_beside(destination, "orders"))
    deploys = threading.local()

    def another_request_is_faster(point: Point, call: InterceptedCall) -> object:
        written = point.operation == "TransactWriteItems" and point.number > 6
        if written and not getattr(deploys, "busy", False) and point.number_on_side < 40:
            with ThreadPoolExecutor(1) as other:
                other.submit(
                    lambda: app.services.deliveries.deploy(app.context(), destination.id, next(others))
                ).result()
        return call()

    moved = (type(delivery.mappings[0])(topic=data.mappings[0].topic, schema_name="target", table_name="moved"),)
    app.interceptor.watch(another_request_is_faster)
    try:
        answer = app.services.deliveries.update_mappings(app.context(), delivery.id, moved)
    finally:
        app.interceptor.unwatch()
    assert answer.open_operation
    assert recover(app) == []
    assert app.services.deliveries.get(delivery.id).mappings == moved
