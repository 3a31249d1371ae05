"""Many people want the same thing at the same moment."""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context

import httpx
import pytest

from chalicelib.domain.cluster import ConnectCluster
from chalicelib.domain.observation import DesiredState
from chalicelib.errors import Conflict, HeadgateError, NotFound, Unavailable
from chalicelib.kit.clock import Deadline
from infra.local.doubles.connect_faults import FaultEffect
from infra.local.doubles.kafka import KafkaDouble
from tests.faults.invariants import violations
from tests.faults.operations import DEPLOY_DELIVERY, REMAP_DELIVERY, Scene
from tests.faults.scenario import recover
from tests.support.call_interceptor import InterceptedCall, Point, Side
from tests.support.in_process_app import InProcessApp, changed_input

CROWD = 10


def at_once(acts: Sequence[Callable[[], object]]) -> list[object]:
    """What each request gives, or the error of ours that it raises; all of them begin at the same moment."""
    start = threading.Barrier(len(acts))

    def run(act: Callable[[], object]) -> object:
        start.wait()
        try:
            return act()
        except HeadgateError as error:
            return error

    with ThreadPoolExecutor(len(acts)) as crowd:
        return list(crowd.map(run, acts))


def codes(answers: Sequence[object]) -> Counter[str]:
    """How often there was which error; "ok" for none."""
    return Counter(answer.code if isinstance(answer, HeadgateError) else "ok" for answer in answers)


def test_ten_deploys_of_one_pipeline_make_one_connector(app: InProcessApp) -> None:
    pipeline = app.pipeline()
    answers = at_once([lambda: app.services.pipelines.deploy(app.context(), pipeline.id)] * CROWD)
    assert codes(answers).keys() <= {"ok", "OPERATION_IN_PROGRESS"}
    assert codes(answers)["ok"] >= 1
    app.connect.settle()
    assert app.connect.names() == [pipeline.connector_name]
    assert app.connect.calls.count("POST", "/connectors$") == 1
    assert len(app.tables.rows("operations")) == 1
    assert violations(app) == []


def test_of_ten_deliveries_to_one_table_one_wins(app: InProcessApp) -> None:
    pipeline, destination = app.deployed_pipeline(), app.destination()
    inputs = [app.delivery_input(pipeline, "orders") for _ in range(CROWD)]
    answers = at_once(
        [lambda one=one: app.services.deliveries.deploy(app.context(), destination.id, one) for one in inputs]  # type: ignore[misc]
    )
    assert codes(answers) == {"ok": 1, "TARGET_TABLE_CONFLICT": CROWD - 1}
    app.connect.settle()
    assert violations(app) == []


def test_ten_deliveries_to_ten_tables_of_one_schema_do_not_harm_each_other(app: InProcessApp) -> None:
    """They share a row of claims: who comes too late tries again, and may after many tries be told to repeat."""
    pipeline, destination = app.deployed_pipeline(), app.destination()
    inputs = [app.delivery_input(pipeline, f"orders{number}") for number in range(CROWD)]
    answers = at_once(
        [lambda one=one: app.services.deliveries.deploy(app.context(), destination.id, one) for one in inputs]  # type: ignore[misc]
    )
    assert codes(answers).keys() <= {"ok", "OPERATION_IN_PROGRESS"}
    for one, answer in zip(inputs, answers, strict=True):
        if isinstance(answer, HeadgateError):
            app.services.deliveries.deploy(app.context(), destination.id, one)
    app.connect.settle()
    assert len(app.tables.rows("deliveries")) == CROWD
    assert violations(app) == []


@pytest.mark.parametrize("scene", [DEPLOY_DELIVERY, REMAP_DELIVERY], ids=str)
def test_what_fails_while_a_neighbour_takes_a_table_of_the_schema_has_failed(app: InProcessApp, scene: Scene) -> None:
    """Both write the row of the schema's tables: giving back what was taken must not get in each other's way."""
    ready = scene.prepare(app)
    stores, neighbour = app.services.stores, list[Point]()
    pipeline, destination = stores.pipelines.list(limit=1).items[0], stores.destinations.list(limit=1).items[0]

    def first_the_neighbour(point: Point, call: InterceptedCall) -> object:
        if point.side is not Side.CONNECT or neighbour:
            return call()
        neighbour.append(point)
        given = app.delivery_input(pipeline, "neighbours")
        Context().run(app.services.deliveries.deploy, app.context(), destination.id, given)
        raise httpx.ConnectError("refused")

    ready.before()
    app.interceptor.watch(first_the_neighbour)
    try:
        with pytest.raises(Unavailable):
            ready.act()
    finally:
        app.interceptor.unwatch()
    assert not ready.done()
    assert recover(app) == []
    assert not ready.done()


def test_ten_deliveries_of_one_schema_are_deleted_at_once(app: InProcessApp) -> None:
    pipeline, destination = app.deployed_pipeline(), app.destination()
    deliveries = [
        app.services.deliveries.deploy(app.context(), destination.id, app.delivery_input(pipeline, f"orders{number}"))
        for number in range(CROWD)
    ]
    at_once([lambda one=one: app.services.deliveries.delete(app.context(), one.id) for one in deliveries])  # type: ignore[misc]
    assert recover(app) == []
    assert app.tables.rows("deliveries") == []
    assert app.connect.names() == [pipeline.connector_name]


@pytest.mark.parametrize("attempt", range(5))
def test_a_pipeline_is_deleted_while_a_delivery_is_deployed(app: InProcessApp, attempt: int) -> None:
    """One of them wins; there is never a delivery without its pipeline."""
    pipeline, destination = app.deployed_pipeline(), app.destination()
    given = app.delivery_input(pipeline)
    deleted, delivered = at_once(
        [
            lambda: app.services.pipelines.delete(app.context(), pipeline.id),
            lambda: app.services.deliveries.deploy(app.context(), destination.id, given),
        ]
    )
    assert recover(app) == []
    stored = app.services.stores.pipelines.find(pipeline.id)
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
    inputs = [app.delivery_input(pipeline, f"orders{number}") for number in range(CROWD)]
    deleted, *_ = at_once(
        [
            lambda: app.services.destinations.delete(app.context(), destination.id),
            *(lambda one=one: app.services.deliveries.deploy(app.context(), destination.id, one) for one in inputs),  # type: ignore[misc]
        ]
    )
    assert recover(app) == []
    deliveries = app.tables.rows("deliveries")
    assert bool(deliveries) == isinstance(deleted, Conflict)


def test_a_stream_cluster_stays_where_connect_workers_are_registered_on_it_at_that_moment(app: InProcessApp) -> None:
    stream, registered = app.stream, list[ConnectCluster]()

    def first_the_workers(point: Point, call: InterceptedCall) -> object:
        if point.writes and not registered:
            app.interceptor.unwatch()
            registered.append(app.register_connect(app.connect.url))
        return call()

    another = KafkaDouble(cluster_id="another").start()
    try:
        app.interceptor.watch(first_the_workers)
        moved = app.stream_input(another.address)
        with pytest.raises(Conflict) as refused:
            app.services.stream_clusters.update(app.context(), stream.id, moved)
    finally:
        app.interceptor.unwatch()
        another.stop()
    assert refused.value.code == "RESOURCE_IN_USE"
    assert app.services.stream_clusters.get(stream.id).bootstrap_servers == stream.bootstrap_servers
    assert [one.stream_cluster_id for one in registered] == [stream.id]


def test_of_ten_changes_with_the_same_if_match_one_wins(app: InProcessApp) -> None:
    destination = app.destination()
    inputs = [changed_input(destination, name=f"{destination.name} {number}") for number in range(CROWD)]
    answers = at_once(
        [
            lambda one=one: app.services.destinations.update(  # type: ignore[misc]
                app.context(if_match=destination.version), destination.id, one
            )
            for one in inputs
        ]
    )
    assert codes(answers) == {"ok": 1, "VERSION_MISMATCH": CROWD - 1}
    assert app.services.destinations.get(destination.id).version == destination.version + 1
    assert violations(app) == []


def test_pause_and_resume_at_once_leave_what_is_desired_and_what_runs_in_agreement(app: InProcessApp) -> None:
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


def test_ten_deletes_of_one_pipeline_are_one(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    answers = at_once([lambda: app.services.pipelines.delete(app.context(), pipeline.id)] * CROWD)
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
    at_once([lambda: app.services.tick.run(cluster_id, Deadline.after(25))] * CROWD)
    assert recover(app) == []
    assert app.services.stores.pipelines.get(pipeline.id).desired_state is DesiredState.RUNNING
    assert app.connect.calls.count("POST", "/connectors$") == 1
