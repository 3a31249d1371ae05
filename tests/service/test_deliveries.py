"""Deliveries: repeated requests, claims, and changes of one, several or none."""

from dataclasses import replace

import pytest

from chalicelib.domain.delivery import Delivery
from chalicelib.domain.observation import DesiredState, ObservedState
from chalicelib.domain.operation import OperationKind
from chalicelib.errors import Conflict, Invalid, NotFound, VersionMismatch
from chalicelib.kit.ids import new_id
from chalicelib.services.deliveries import DeliveryOutcome
from infra.local.doubles.connect_faults import FaultEffect
from tests.bench.seeds import copies, put_rows
from tests.faults.inspection import change_by_hand, connector_writes
from tests.support.apps.in_process_app import InProcessApp


@pytest.fixture
def delivery(app: InProcessApp) -> Delivery:
    """A running delivery."""
    data = app.delivery_input(app.deployed_pipeline())
    return app.services.deliveries.deploy(app.context(), app.destination().id, data)


def test_a_delivery_without_a_connect_cluster_runs_on_that_of_its_pipeline(
    app: InProcessApp, delivery: Delivery
) -> None:
    assert delivery.connect_cluster_id == app.cluster.id


def test_a_repeated_deploy_returns_the_stored_delivery(app: InProcessApp) -> None:
    data, destination, key = app.delivery_input(app.deployed_pipeline()), app.destination(), new_id()
    first = app.services.deliveries.deploy(app.context(key=key), destination.id, data)
    app.connect.calls.clear()
    again = app.services.deliveries.deploy(app.context(key=key), destination.id, data)
    assert (again.id, again.version) == (first.id, first.version)
    assert connector_writes(app) == []


def test_a_name_that_is_taken_leaves_no_claim_on_tables(app: InProcessApp, delivery: Delivery) -> None:
    pipeline = app.services.pipelines.get(delivery.pipeline_id)
    data = replace(app.delivery_input(pipeline, "other"), name=delivery.name)
    with pytest.raises(Conflict) as refused:
        app.services.deliveries.deploy(app.context(), delivery.destination_id, data)
    assert refused.value.code == "NAME_CONFLICT"
    free = replace(data, name="free")
    assert app.services.deliveries.deploy(app.context(), delivery.destination_id, free).open_operation is None


def test_a_preview_claims_nothing_and_reports_a_table_that_is_taken(app: InProcessApp, delivery: Delivery) -> None:
    pipeline = app.services.pipelines.get(delivery.pipeline_id)
    before = app.tables.rows("claims"), app.tables.rows("deliveries")
    app.interceptor.watch()
    app.services.deliveries.preview(app.context(), delivery.destination_id, app.delivery_input(pipeline, "other"))
    # The one write lets Connect read the secrets of the config that it validates.
    assert len([point for point in app.interceptor.unwatch() if point.writes]) == 1
    assert (app.tables.rows("claims"), app.tables.rows("deliveries")) == before
    with pytest.raises(Conflict) as refused:
        app.services.deliveries.preview(app.context(), delivery.destination_id, app.delivery_input(pipeline, "orders"))
    assert refused.value.code == "TARGET_TABLE_CONFLICT"


def test_the_same_mappings_are_checked_again_and_write_nothing(app: InProcessApp, delivery: Delivery) -> None:
    app.connect.calls.clear()
    same = app.services.deliveries.update_mappings(app.context(), delivery.id, delivery.mappings)
    assert (same.version, connector_writes(app)) == (delivery.version, [])
    app.kafka.state.delete_topic(delivery.topics[0])
    with pytest.raises(Invalid) as refused:
        app.services.deliveries.update_mappings(app.context(), delivery.id, delivery.mappings)
    assert refused.value.code == "TOPIC_NOT_FOUND"


def test_mappings_of_another_version_are_not_changed(app: InProcessApp, delivery: Delivery) -> None:
    with pytest.raises(VersionMismatch):
        app.services.deliveries.update_mappings(
            app.context(if_match=delivery.version + 1), delivery.id, delivery.mappings
        )


def test_an_unknown_outcome_of_one_delivery_is_reported_and_the_others_are_paused(
    app: InProcessApp, delivery: Delivery
) -> None:
    pipeline = app.services.pipelines.get(delivery.pipeline_id)
    data = app.delivery_input(pipeline, "other")
    other = app.services.deliveries.deploy(app.context(), delivery.destination_id, data)
    app.connect.plant(FaultEffect.TIMED_OUT, "PUT", f"{delivery.connector_name}/pause$", times=9)
    outcomes = app.services.deliveries.control_all(
        app.context(), delivery.destination_id, OperationKind.PAUSE, delivery_id=None
    )
    errors = {one.delivery.id: one.error.code if one.error else None for one in outcomes}
    assert errors == {delivery.id: "OPERATION_IN_PROGRESS", other.id: None}
    assert app.services.deliveries.get(other.id).desired_state is DesiredState.PAUSED


def deliveries(app: InProcessApp, count: int) -> list[Delivery]:
    """So many running deliveries of one destination."""
    pipeline, destination = app.deployed_pipeline(), app.destination()
    return [
        app.services.deliveries.deploy(app.context(), destination.id, app.delivery_input(pipeline, f"target_{number}"))
        for number in range(count)
    ]


def test_repeating_a_pause_of_slow_sinks_gets_to_all_of_them(app: InProcessApp) -> None:
    """Each call went through the same first ones again, and never got to the others."""
    many = deliveries(app, 8)
    fault = app.connect.plant(FaultEffect.SLOW, "PUT", "/pause$", times=100, delay_seconds=0.6)
    answers: list[tuple[DeliveryOutcome, ...]] = []
    while len(answers) < 6:
        app.clock.advance(1)
        context, pause = app.context(seconds=8), OperationKind.PAUSE
        answers.append(app.services.deliveries.control_all(context, many[0].destination_id, pause, None))
        errors = [one.error for one in answers[-1] if one.error]
        assert all(error.code == "UPSTREAM_TIMEOUT" and "Call again" in error.message for error in errors)
        if not errors:
            break
    fault.release()
    assert 1 < len(answers) < 6
    assert all(len(answer) == 8 for answer in answers)
    assert app.connect.calls.count("PUT", "/pause$") == 8
    assert all(app.services.deliveries.get(one.id).desired_state is DesiredState.PAUSED for one in many)


def test_repeating_a_restart_begins_with_those_that_had_no_turn(app: InProcessApp) -> None:
    many = deliveries(app, 6)
    app.connect.plant(FaultEffect.SLOW, "POST", "/restart$", times=100, delay_seconds=0.6)
    restarted: set[str] = set()
    for _ in range(6):
        app.clock.advance(1)
        context, restart = app.context(seconds=8), OperationKind.RESTART
        outcomes = app.services.deliveries.control_all(context, many[0].destination_id, restart, None)
        now = {one.delivery.id for one in outcomes if one.error is None}
        assert len(restarted | now) == 6 or not restarted & now
        restarted |= now
    assert len(restarted) == 6


def test_a_destination_whose_deliveries_are_all_as_desired_is_left_alone(app: InProcessApp) -> None:
    many = deliveries(app, 3)
    pause = (many[0].destination_id, OperationKind.PAUSE, None)
    app.services.deliveries.control_all(app.context(), *pause)
    app.connect.calls.clear()
    app.interceptor.watch()
    outcomes = app.services.deliveries.control_all(app.context(), *pause)
    assert not [point for point in app.interceptor.unwatch() if point.writes]
    assert app.connect.calls.count() == 0
    assert [(one.delivery.desired_state, one.error) for one in outcomes] == [(DesiredState.PAUSED, None)] * 3


def test_a_delivery_that_is_paused_already_is_not_written_again(app: InProcessApp, delivery: Delivery) -> None:
    paused = app.services.deliveries.control(app.context(), delivery.id, OperationKind.PAUSE)
    app.connect.calls.clear()
    app.interceptor.watch()
    again = app.services.deliveries.control(app.context(), delivery.id, OperationKind.PAUSE)
    assert not [point for point in app.interceptor.unwatch() if point.writes]
    assert connector_writes(app) == []
    assert again.version == paused.version


def test_a_delivery_that_somebody_has_resumed_in_connect_is_paused_again(app: InProcessApp, delivery: Delivery) -> None:
    app.services.deliveries.control(app.context(), delivery.id, OperationKind.PAUSE)
    change_by_hand(app, delivery, "resume")
    app.services.deliveries.control(app.context(), delivery.id, OperationKind.PAUSE)
    assert connector_writes(app) == [("PUT", f"/connectors/{delivery.connector_name}/pause")]


def test_more_than_500_deliveries_of_a_destination_are_all_controlled(app: InProcessApp, delivery: Delivery) -> None:
    pause = OperationKind.PAUSE
    paused = app.services.deliveries.control(app.context(), delivery.id, pause)
    put_rows(copies(app.services.stores.resources.deliveries, paused, 505))
    outcomes = app.services.deliveries.control_all(app.context(seconds=60), delivery.destination_id, pause, None)
    assert len({one.delivery.id for one in outcomes}) == 506
    assert not [one.error for one in outcomes if one.error]


def test_the_status_of_a_destination_is_that_of_all_of_its_deliveries_however_many(
    app: InProcessApp, delivery: Delivery
) -> None:
    put_rows(copies(app.services.stores.resources.deliveries, delivery, 505))
    app.connect.calls.clear()
    page = app.services.deliveries.status_of(app.context(), delivery.destination_id)
    states = [one.observation.state for one in page.items if one.observation]
    assert (states.count(ObservedState.RUNNING), states.count(ObservedState.NOT_DEPLOYED)) == (1, 505)
    assert list(page.keys) == sorted(page.keys, reverse=True)
    assert (len(page.keys), page.next_key) == (506, None)
    assert app.connect.calls.count() == 1


@pytest.mark.parametrize("sinks", [1, 2])
def test_workers_that_hang_do_not_take_the_time_of_sinks_on_others(app: InProcessApp, sinks: int) -> None:
    hanging = deliveries(app, sinks)
    destination_id, others = hanging[0].destination_id, [app.register_connect(f"{app.connect.url}/") for _ in range(2)]
    pipeline = app.services.pipelines.get(hanging[0].pipeline_id)
    for number, cluster in enumerate(others):
        data = replace(app.delivery_input(pipeline, f"other_{number}"), connect_cluster_id=cluster.id)
        app.services.deliveries.deploy(app.context(), destination_id, data)
    path = "/connectors$" if sinks > 1 else f"{hanging[0].connector_name}/status$"
    app.connect.plant(FaultEffect.HANG, "GET", path, times=99)
    page = app.services.deliveries.status_of(app.context(seconds=9), destination_id)
    states = {one.id: one.observation.state for one in page.items if one.observation}
    away = {one.id for one in hanging}
    assert {states[one] for one in away} == {ObservedState.UNKNOWN}
    assert [state for key, state in states.items() if key not in away] == [ObservedState.RUNNING] * 2


def test_the_deliveries_of_an_unknown_destination_are_not_found(app: InProcessApp) -> None:
    assert app.services.deliveries.list_of(app.destination().id).items == ()
    with pytest.raises(NotFound):
        app.services.deliveries.list_of(new_id())


def test_the_server_of_a_destination_is_known_from_the_first_preview_or_deploy_on(
    app: InProcessApp,
) -> None:
    pipeline, first, second = app.deployed_pipeline(), app.destination(), app.destination()
    assert first.address.host != second.address.host
    app.database.server_identity = "server 1"
    app.services.deliveries.deploy(app.context(), first.id, app.delivery_input(pipeline, "orders"))
    assert app.services.destinations.get(first.id).server_identity == "server 1"
    data = app.delivery_input(pipeline, "orders")
    for attempt in (app.services.deliveries.preview, app.services.deliveries.deploy):
        with pytest.raises(Conflict) as refused:
            attempt(app.context(), second.id, data)
        assert refused.value.code == "TARGET_TABLE_CONFLICT"
    app.services.deliveries.deploy(app.context(), second.id, app.delivery_input(pipeline, "another"))


def test_the_known_server_of_a_destination_stays_while_it_has_deliveries(app: InProcessApp) -> None:
    """The claims of its deliveries are found again by it."""
    pipeline, destination = app.deployed_pipeline(), app.destination()
    app.database.server_identity = "server 1"
    deployed = app.services.deliveries.deploy(app.context(), destination.id, app.delivery_input(pipeline, "orders"))
    app.database.server_identity = "server 2"
    app.services.deliveries.preview(app.context(), destination.id, app.delivery_input(pipeline, "items"))
    assert app.services.destinations.get(destination.id).server_identity == "server 1"
    app.services.deliveries.delete(app.context(), deployed.id)
    app.services.deliveries.preview(app.context(), destination.id, app.delivery_input(pipeline, "items"))
    assert app.services.destinations.get(destination.id).server_identity == "server 2"
