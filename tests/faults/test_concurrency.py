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
from chalicelib.stores.rows import one_request
from infra.local.doubles.connect_faults import Effect
from infra.local.doubles.kafka import KafkaDouble
from tests.faults.invariants import violations
from tests.faults.operations import DEPLOY_DELIVERY, REMAP_DELIVERY, Scene
from tests.faults.scenario import recover
from tests.support.call_interceptor import Call, Point, Side
from tests.support.in_process_app import House, changed

CROWD = 10


def at_once(acts: Sequence[Callable[[], object]]) -> list[object]:
    """What each request gives, or the error of ours that it raises; all of them begin at the same moment."""
    start = threading.Barrier(len(acts))

    def run(act: Callable[[], object]) -> object:
        start.wait()
        try:
            with one_request():
                return act()
        except HeadgateError as error:
            return error

    with ThreadPoolExecutor(len(acts)) as crowd:
        return list(crowd.map(run, acts))


def codes(answers: Sequence[object]) -> Counter[str]:
    """How often there was which error; "ok" for none."""
    return Counter(answer.code if isinstance(answer, HeadgateError) else "ok" for answer in answers)


def test_ten_deploys_of_one_pipeline_make_one_connector(house: House) -> None:
    pipeline = house.pipeline()
    answers = at_once([lambda: house.services.pipelines.deploy(house.call(), pipeline.id)] * CROWD)
    assert codes(answers).keys() <= {"ok", "OPERATION_IN_PROGRESS"}
    assert codes(answers)["ok"] >= 1
    house.connect.settle()
    assert house.connect.names() == [pipeline.connector_name]
    assert house.connect.calls.count("POST", "/connectors$") == 1
    assert len(house.tables.rows("operations")) == 1
    assert violations(house) == []


def test_of_ten_deliveries_to_one_table_one_wins(house: House) -> None:
    pipeline, destination = house.deployed_pipeline(), house.destination()
    inputs = [house.delivery_input(pipeline, "orders") for _ in range(CROWD)]
    answers = at_once(
        [lambda one=one: house.services.deliveries.deploy(house.call(), destination.id, one) for one in inputs]  # type: ignore[misc]
    )
    assert codes(answers) == {"ok": 1, "TARGET_TABLE_CONFLICT": CROWD - 1}
    house.connect.settle()
    assert violations(house) == []


def test_ten_deliveries_to_ten_tables_of_one_schema_do_not_harm_each_other(house: House) -> None:
    """They share a row of claims: who comes too late tries again, and may after many tries be told to repeat."""
    pipeline, destination = house.deployed_pipeline(), house.destination()
    inputs = [house.delivery_input(pipeline, f"orders{number}") for number in range(CROWD)]
    answers = at_once(
        [lambda one=one: house.services.deliveries.deploy(house.call(), destination.id, one) for one in inputs]  # type: ignore[misc]
    )
    assert codes(answers).keys() <= {"ok", "OPERATION_IN_PROGRESS"}
    for one, answer in zip(inputs, answers, strict=True):
        if isinstance(answer, HeadgateError):
            house.services.deliveries.deploy(house.call(), destination.id, one)
    house.connect.settle()
    assert len(house.tables.rows("deliveries")) == CROWD
    assert violations(house) == []


@pytest.mark.parametrize("scene", [DEPLOY_DELIVERY, REMAP_DELIVERY], ids=str)
def test_what_fails_while_a_neighbour_takes_a_table_of_the_schema_has_failed(house: House, scene: Scene) -> None:
    """Both write the row of the schema's tables: giving back what was taken must not get in each other's way."""
    ready = scene.prepare(house)
    stores, neighbour = house.services.stores, list[Point]()
    pipeline, destination = stores.pipelines.list(limit=1).items[0], stores.destinations.list(limit=1).items[0]

    def first_the_neighbour(point: Point, call: Call) -> object:
        if point.side is not Side.CONNECT or neighbour:
            return call()
        neighbour.append(point)
        given = house.delivery_input(pipeline, "neighbours")
        Context().run(house.services.deliveries.deploy, house.call(), destination.id, given)
        raise httpx.ConnectError("refused")

    ready.before()
    house.gate.watch(first_the_neighbour)
    try:
        with pytest.raises(Unavailable):
            ready.act()
    finally:
        house.gate.unwatch()
    assert not ready.done()
    assert recover(house) == []
    assert not ready.done()


def test_ten_deliveries_of_one_schema_are_deleted_at_once(house: House) -> None:
    pipeline, destination = house.deployed_pipeline(), house.destination()
    deliveries = [
        house.services.deliveries.deploy(
            house.call(), destination.id, house.delivery_input(pipeline, f"orders{number}")
        )
        for number in range(CROWD)
    ]
    at_once([lambda one=one: house.services.deliveries.delete(house.call(), one.id) for one in deliveries])  # type: ignore[misc]
    assert recover(house) == []
    assert house.tables.rows("deliveries") == []
    assert house.connect.names() == [pipeline.connector_name]


@pytest.mark.parametrize("attempt", range(5))
def test_a_pipeline_is_deleted_while_a_delivery_is_deployed(house: House, attempt: int) -> None:
    """One of them wins; there is never a delivery without its pipeline."""
    pipeline, destination = house.deployed_pipeline(), house.destination()
    given = house.delivery_input(pipeline)
    deleted, delivered = at_once(
        [
            lambda: house.services.pipelines.delete(house.call(), pipeline.id),
            lambda: house.services.deliveries.deploy(house.call(), destination.id, given),
        ]
    )
    assert recover(house) == []
    stored = house.services.stores.pipelines.find(pipeline.id)
    if stored is None:
        assert deleted is None
        assert isinstance(delivered, HeadgateError)
        assert house.connect.names() == []
    else:
        assert isinstance(deleted, Conflict)
        assert deleted.code == "RESOURCE_IN_USE"
        assert len(house.connect.names()) == 2


def test_a_destination_is_deleted_while_ten_deliveries_to_it_are_deployed(house: House) -> None:
    pipeline, destination = house.deployed_pipeline(), house.destination()
    inputs = [house.delivery_input(pipeline, f"orders{number}") for number in range(CROWD)]
    deleted, *_ = at_once(
        [
            lambda: house.services.destinations.delete(house.call(), destination.id),
            *(lambda one=one: house.services.deliveries.deploy(house.call(), destination.id, one) for one in inputs),  # type: ignore[misc]
        ]
    )
    assert recover(house) == []
    deliveries = house.tables.rows("deliveries")
    assert bool(deliveries) == isinstance(deleted, Conflict)


def test_a_stream_cluster_stays_where_connect_workers_are_registered_on_it_at_that_moment(house: House) -> None:
    stream, registered = house.stream, list[ConnectCluster]()

    def first_the_workers(point: Point, call: Call) -> object:
        if point.writes and not registered:
            house.gate.unwatch()
            registered.append(house.register_connect(house.connect.url))
        return call()

    another = KafkaDouble(cluster_id="another").start()
    try:
        house.gate.watch(first_the_workers)
        moved = house.stream_input(another.address)
        with pytest.raises(Conflict) as refused:
            house.services.stream_clusters.update(house.call(), stream.id, moved)
    finally:
        house.gate.unwatch()
        another.stop()
    assert refused.value.code == "RESOURCE_IN_USE"
    assert house.services.stream_clusters.get(stream.id).bootstrap_servers == stream.bootstrap_servers
    assert [one.stream_cluster_id for one in registered] == [stream.id]


def test_of_ten_changes_with_the_same_if_match_one_wins(house: House) -> None:
    destination = house.destination()
    inputs = [changed(destination, name=f"{destination.name} {number}") for number in range(CROWD)]
    answers = at_once(
        [
            lambda one=one: house.services.destinations.update(  # type: ignore[misc]
                house.call(if_match=destination.version), destination.id, one
            )
            for one in inputs
        ]
    )
    assert codes(answers) == {"ok": 1, "VERSION_MISMATCH": CROWD - 1}
    assert house.services.destinations.get(destination.id).version == destination.version + 1
    assert violations(house) == []


def test_pause_and_resume_at_once_leave_what_is_desired_and_what_runs_in_agreement(house: House) -> None:
    pipeline = house.deployed_pipeline()
    pipelines = house.services.pipelines
    answers = at_once(
        [
            *[lambda: pipelines.pause(house.call(), pipeline.id)] * 5,
            *[lambda: pipelines.resume(house.call(), pipeline.id)] * 5,
        ]
    )
    assert codes(answers).keys() <= {"ok", "OPERATION_IN_PROGRESS"}
    house.connect.settle()
    assert violations(house) == []


def test_ten_deletes_of_one_pipeline_are_one(house: House) -> None:
    pipeline = house.deployed_pipeline()
    answers = at_once([lambda: house.services.pipelines.delete(house.call(), pipeline.id)] * CROWD)
    assert codes(answers).keys() <= {"ok", "OPERATION_IN_PROGRESS", "NOT_FOUND"}
    assert any(answer is None for answer in answers)
    assert violations(house) == []
    with pytest.raises(NotFound):
        house.services.pipelines.get(pipeline.id)


def test_ten_ticks_at_once_settle_an_open_operation_once(house: House) -> None:
    """Lambda may run ticks of one cluster side by side."""
    pipeline = house.pipeline()
    house.connect.plant(Effect.LOSE_REPLY, "POST", "/connectors$")
    house.connect.plant(Effect.NOT_READY, "GET", "/config$", skip=1)
    assert house.services.pipelines.deploy(house.call(), pipeline.id).open_operation
    house.clock.advance(31)
    cluster_id = house.cluster.id
    at_once([lambda: house.services.reconciler.tick(cluster_id, Deadline.after(25))] * CROWD)
    assert recover(house) == []
    assert house.services.stores.pipelines.get(pipeline.id).desired_state is DesiredState.RUNNING
    assert house.connect.calls.count("POST", "/connectors$") == 1
