"""Concurrent requests for the same resources."""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context
from functools import partial

import httpx
import pytest

from chalicelib.domain.cluster import ConnectCluster
from chalicelib.domain.destination import Destination
from chalicelib.domain.observation import DesiredState
from chalicelib.errors import Conflict, HeadgateError, NotFound, Unavailable
from chalicelib.kit.clock import Deadline
from chalicelib.services.deliveries import DeliveryInput
from infra.local.doubles.connect_faults import FaultEffect
from infra.local.doubles.kafka import KafkaDouble
from tests.faults.cases.connectors import DEPLOY_DELIVERY, REMAP_DELIVERY
from tests.faults.cases.operation_case import OperationCase
from tests.faults.fault_runs import recover
from tests.faults.invariants import violations
from tests.support.apps.call_interceptor import InterceptedCall, Point, Side
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.inputs import changed_input

CALLERS = 10


def at_once(requests: Sequence[Callable[[], object]]) -> list[object]:
    """The result of each request, or our error that it raises. All of them start at the same time."""
    start = threading.Barrier(len(requests))

    def run(request: Callable[[], object]) -> object:
        start.wait()
        try:
            return request()
        except HeadgateError as error:
            return error

    with ThreadPoolExecutor(len(requests)) as pool:
        return list(pool.map(run, requests))


def codes(answers: Sequence[object]) -> Counter[str]:
    """The number of answers by error code; "ok" for success."""
    return Counter(answer.code if isinstance(answer, HeadgateError) else "ok" for answer in answers)


def deploys(app: InProcessApp, destination: Destination, inputs: Sequence[DeliveryInput]) -> list[Callable[[], object]]:
    """Requests that deploy these deliveries."""
    return [partial(app.services.deliveries.deploy, app.context(), destination.id, data) for data in inputs]


def test_ten_deploys_of_one_pipeline_make_one_connector(app: InProcessApp) -> None:
    pipeline = app.pipeline()
    answers = at_once([lambda: app.services.pipelines.deploy(app.context(), pipeline.id)] * CALLERS)
    assert codes(answers).keys() <= {"ok", "OPERATION_IN_PROGRESS"}
    assert codes(answers)["ok"] >= 1
    app.connect.settle()
    assert app.connect.names() == [pipeline.connector_name]
    assert app.connect.calls.count("POST", "/connectors$") == 1
    assert len(app.tables.rows("operations")) == 1
    assert violations(app) == []


def test_of_ten_deliveries_to_one_table_one_succeeds(app: InProcessApp) -> None:
    pipeline, destination = app.deployed_pipeline(), app.destination()
    inputs = [app.delivery_input(pipeline, "orders") for _ in range(CALLERS)]
    answers = at_once(deploys(app, destination, inputs))
    assert codes(answers) == {"ok": 1, "TARGET_TABLE_CONFLICT": CALLERS - 1}
    app.connect.settle()
    assert violations(app) == []


def test_ten_deliveries_to_ten_tables_of_one_schema_all_succeed(app: InProcessApp) -> None:
    """They share a row of claims: the later ones try again, and ask the client to repeat after many tries."""
    pipeline, destination = app.deployed_pipeline(), app.destination()
    inputs = [app.delivery_input(pipeline, f"orders{number}") for number in range(CALLERS)]
    answers = at_once(deploys(app, destination, inputs))
    assert codes(answers).keys() <= {"ok", "OPERATION_IN_PROGRESS"}
    for data, answer in zip(inputs, answers, strict=True):
        if isinstance(answer, HeadgateError):
            app.services.deliveries.deploy(app.context(), destination.id, data)
    app.connect.settle()
    assert len(app.tables.rows("deliveries")) == CALLERS
    assert violations(app) == []


@pytest.mark.parametrize("operation_case", [DEPLOY_DELIVERY, REMAP_DELIVERY], ids=str)
def test_a_failure_is_settled_while_another_delivery_claims_a_table_of_the_schema(
    app: InProcessApp, operation_case: OperationCase
) -> None:
    """Both write the row with the claims of that schema: the release must not fail because of the other claim."""
    operation = operation_case.prepare(app)
    stores, neighbour = app.services.stores, list[Point]()
    pipeline, destination = (
        stores.resources.pipelines.list(limit=1).items[0],
        stores.resources.destinations.list(limit=1).items[0],
    )

    def neighbour_first(point: Point, call: InterceptedCall) -> object:
        if point.side is not Side.CONNECT or neighbour:
            return call()
        neighbour.append(point)
        data = app.delivery_input(pipeline, "neighbours")
        Context().run(app.services.deliveries.deploy, app.context(), destination.id, data)
        raise httpx.ConnectError("refused")

    operation.warm_up()
    app.interceptor.watch(neighbour_first)
    try:
        with pytest.raises(Unavailable):
            operation.request()
    finally:
        app.interceptor.unwatch()
    assert not operation.is_done()
    assert recover(app) == []
    assert not operation.is_done()


def test_ten_deliveries_of_one_schema_are_deleted_at_once(app: InProcessApp) -> None:
    pipeline, destination = app.deployed_pipeline(), app.destination()
    deliveries = [
        app.services.deliveries.deploy(app.context(), destination.id, app.delivery_input(pipeline, f"orders{number}"))
        for number in range(CALLERS)
    ]
    at_once([partial(app.services.deliveries.delete, app.context(), delivery.id) for delivery in deliveries])
    assert recover(app) == []
    assert app.tables.rows("deliveries") == []
    assert app.connect.names() == [pipeline.connector_name]


@pytest.mark.parametrize("attempt", range(5))
def test_a_pipeline_is_deleted_while_a_delivery_is_deployed(app: InProcessApp, attempt: int) -> None:
    """One of them succeeds; there is never a delivery without its pipeline."""
    pipeline, destination = app.deployed_pipeline(), app.destination()
    data = app.delivery_input(pipeline)
    deleted, delivered = at_once(
        [
            lambda: app.services.pipelines.delete(app.context(), pipeline.id),
            lambda: app.services.deliveries.deploy(app.context(), destination.id, data),
        ]
    )
    assert recover(app) == []
    stored = app.services.stores.resources.pipelines.find(pipeline.id)
    if stored is None:
        assert deleted is None
        assert isinstance(delivered, HeadgateError)
        assert app.connect.names() == []
    else:
        assert isinstance(deleted, Conflict)
        assert deleted.code == "RESOURCE_IN_USE"
        assert len(app.connect.names()) == 2


def test_a_destination_is_deleted_while_ten_deliveries_to_it_are_deployed(app: InProcessApp) -> None:
    pipeline, destination = app.deployed_pipeline(), app.destination()
    inputs = [app.delivery_input(pipeline, f"orders{number}") for number in range(CALLERS)]
    delete = partial(app.services.destinations.delete, app.context(), destination.id)
    deleted, *_ = at_once([delete, *deploys(app, destination, inputs)])
    assert recover(app) == []
    deliveries = app.tables.rows("deliveries")
    assert bool(deliveries) == isinstance(deleted, Conflict)


def test_a_stream_cluster_keeps_its_brokers_when_workers_are_registered_at_the_same_time(app: InProcessApp) -> None:
    stream, registered = app.stream, list[ConnectCluster]()

    def workers_first(point: Point, call: InterceptedCall) -> object:
        if point.writes and not registered:
            app.interceptor.unwatch()
            registered.append(app.register_connect(app.connect.url))
        return call()

    another = KafkaDouble(cluster_id="another").start()
    try:
        app.interceptor.watch(workers_first)
        moved = app.stream_input(another.address)
        with pytest.raises(Conflict) as refused:
            app.services.stream_clusters.update(app.context(), stream.id, moved)
    finally:
        app.interceptor.unwatch()
        another.stop()
    assert refused.value.code == "RESOURCE_IN_USE"
    assert app.services.stream_clusters.get(stream.id).address == stream.address
    assert [one.stream_cluster_id for one in registered] == [stream.id]


def test_of_ten_changes_with_the_same_if_match_one_succeeds(app: InProcessApp) -> None:
    destination = app.destination()
    inputs = [changed_input(destination, name=f"{destination.name} {number}") for number in range(CALLERS)]
    context = app.context(if_match=destination.version)
    answers = at_once([partial(app.services.destinations.update, context, destination.id, data) for data in inputs])
    assert codes(answers) == {"ok": 1, "VERSION_MISMATCH": CALLERS - 1}
    assert app.services.destinations.get(destination.id).version == destination.version + 1
    assert violations(app) == []


def test_the_connector_has_the_desired_state_after_concurrent_pauses_and_resumes(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    pipelines = app.services.pipelines
    answers = at_once(
        [
            *[lambda: pipelines.pause(app.context(), pipeline.id)] * 5,
            *[lambda: pipelines.resume(app.context(), pipeline.id)] * 5,
        ]
    )
    assert codes(answers).keys() <= {"ok", "OPERATION_IN_PROGRESS"}
    app.connect.settle()
    assert violations(app) == []


def test_ten_deletes_of_one_pipeline_delete_it_once(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    answers = at_once([lambda: app.services.pipelines.delete(app.context(), pipeline.id)] * CALLERS)
    assert codes(answers).keys() <= {"ok", "OPERATION_IN_PROGRESS", "NOT_FOUND"}
    assert any(answer is None for answer in answers)
    assert violations(app) == []
    with pytest.raises(NotFound):
        app.services.pipelines.get(pipeline.id)


def test_ten_ticks_at_once_settle_an_open_operation_once(app: InProcessApp) -> None:
    """Lambda may run ticks of one cluster side by side."""
    pipeline = app.pipeline()
    app.connect.plant(FaultEffect.LOSE_REPLY, "POST", "/connectors$")
    app.connect.plant(FaultEffect.NOT_READY, "GET", "/config$", skip=1)
    assert app.services.pipelines.deploy(app.context(), pipeline.id).open_operation
    app.clock.advance(31)
    cluster_id = app.cluster.id
    at_once([lambda: app.services.tick.run(cluster_id, Deadline.after(25))] * CALLERS)
    assert recover(app) == []
    assert app.services.stores.resources.pipelines.get(pipeline.id).desired_state is DesiredState.RUNNING
    assert app.connect.calls.count("POST", "/connectors$") == 1
