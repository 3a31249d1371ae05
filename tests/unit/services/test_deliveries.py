"""Deliveries: repeated requests, claims, and changes of one, several or none."""

from dataclasses import replace

import pytest

from chalicelib.domain.delivery import Delivery
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.operation import OperationKind
from chalicelib.errors import Conflict, Invalid, NotFound, VersionMismatch
from chalicelib.kit.ids import new_id
from infra.local.doubles.connect_faults import FaultEffect
from tests.faults.inspection import connector_writes
from tests.support.in_process_app import InProcessApp


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


def test_the_deliveries_of_an_unknown_destination_are_not_found(app: InProcessApp) -> None:
    assert app.services.deliveries.list_of(app.destination().id).items == ()
    with pytest.raises(NotFound):
        app.services.deliveries.list_of(new_id())
