"""`forget=true`: the way out when Kafka Connect is gone for good. Records go, and no connector is touched."""

from dataclasses import replace

import pytest

from chalicelib.domain.audit.record import Outcome
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.monitoring.condition import Condition, ConditionCode
from chalicelib.domain.monitoring.report import MonitorReport
from chalicelib.domain.names import OWNER_KEY
from chalicelib.domain.operation import OperationKind, OperationStep
from chalicelib.errors import Conflict, NotFound, VersionMismatch
from chalicelib.kit.clock import Deadline
from chalicelib.kit.ids import new_id
from infra.local.doubles.connect_faults import FaultEffect
from tests.faults.inspection import audited, connector_writes
from tests.faults.invariants import violations
from tests.faults.test_takeover import DelayedWorker
from tests.support.apps.call_interceptor import Point
from tests.support.apps.in_process_app import InProcessApp


def claimed(app: InProcessApp) -> list[str]:
    """The keys of all claims by resources; a row without tables claims none."""
    keys = [row["id"] for row in app.tables.rows("claims") if row.get("targets") != "{}"]
    return [key for key in keys if not key.startswith("installation/")]


def pause_without_an_outcome(app: InProcessApp, pipeline_id: str) -> None:
    app.connect.plant(FaultEffect.TIMED_OUT, "PUT", "/pause$", times=9)
    assert app.services.pipelines.pause(app.context(), pipeline_id).open_operation


def delivery_of(app: InProcessApp) -> Delivery:
    data = app.delivery_input(app.deployed_pipeline(), "orders", "customers")
    return app.services.deliveries.deploy(app.context(), app.destination().id, data)


def test_all_incidents_of_what_is_forgotten_are_over_however_many(app: InProcessApp) -> None:
    delivery = delivery_of(app)
    app.clock.advance(1)
    conditions = tuple(
        Condition(
            code=ConditionCode.CONNECT_TASK_FAILED,
            resource_type="delivery",
            resource_id=delivery.id,
            task_id=task,
            message=".",
        )
        for task in range(64)
    )
    report = MonitorReport(origin=f"connect_cluster/{app.cluster.id}", at=app.clock(), conditions=conditions)
    assert app.services.incidents.record(report, Deadline.after(60)).complete
    with app.connect_down():
        app.services.deliveries.delete(app.context(), delivery.id, forget=True)
    assert app.services.incidents.list(limit=100, active=True).items == ()
    assert not [claim for claim in claimed(app) if claim.startswith("incident/")]


def test_while_connect_answers_nothing_is_forgotten(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    with pytest.raises(Conflict) as refused:
        app.services.pipelines.delete(app.context(), pipeline.id, forget=True)
    assert refused.value.code == "STATE_CONFLICT"
    assert violations(app) == []


def test_an_operation_that_is_open_for_less_than_ten_minutes_is_not_forgotten(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    pause_without_an_outcome(app, pipeline.id)
    app.clock.advance(599)
    with pytest.raises(Conflict) as refused:
        app.services.pipelines.delete(app.context(), pipeline.id, forget=True)
    assert refused.value.code == "STATE_CONFLICT"


def test_a_dead_connect_cluster_can_be_taken_out(app: InProcessApp) -> None:
    """Delivery, pipeline, source, destination, workers and brokers, in the order in which they refer to each other."""
    delivery = delivery_of(app)
    pipeline = app.services.pipelines.get(delivery.pipeline_id)
    services, context = app.services, app.context
    with app.connect_down():
        with pytest.raises(Conflict) as used:
            services.pipelines.delete(context(), pipeline.id, forget=True)
        assert used.value.code == "RESOURCE_IN_USE"
        services.deliveries.delete(context(), delivery.id, of=delivery.destination_id, forget=True)
        services.pipelines.delete(context(), pipeline.id, forget=True)
        services.connect_clusters.delete(context(), pipeline.connect_cluster_id)
        services.stream_clusters.delete(context(), pipeline.stream_cluster_id)
        services.sources.delete(context(), pipeline.source_id)
        services.destinations.delete(context(), delivery.destination_id)
    for read in (
        lambda: services.pipelines.get(pipeline.id),
        lambda: services.deliveries.get(delivery.id),
        lambda: services.sources.get(pipeline.source_id),
    ):
        with pytest.raises(NotFound):
            read()
    assert sorted(app.connect.names()) == sorted((pipeline.connector_name, delivery.connector_name))
    assert claimed(app) == []


def test_the_audit_record_names_the_connector_that_may_be_left(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    with app.connect_down():
        app.services.pipelines.delete(app.context(), pipeline.id, forget=True)
    (record,) = audited(app, pipeline.id, "pipeline.forget")
    assert record.outcome is Outcome.SUCCESS
    left = {"name": pipeline.connector_name, "on": pipeline.connect_cluster_id}
    assert record.after["connector_that_may_be_left"] == left
    assert record.after["kept"]["topics"] == list(pipeline.capture.topics)
    assert record.before["name"] == pipeline.name


def test_no_connector_is_touched_and_a_later_tick_removes_the_orphan(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    with app.connect_down():
        app.services.pipelines.delete(app.context(), pipeline.id, forget=True)
    app.connect.calls.clear()
    assert connector_writes(app) == []
    assert app.connect.config_of(pipeline.connector_name)[OWNER_KEY]
    app.ticks(10, 10, 95, 10, 600, 10, 10)
    assert app.connect.names() == []


def test_an_operation_that_was_open_is_settled_as_failed(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    pause_without_an_outcome(app, pipeline.id)
    opened = app.services.pipelines.get(pipeline.id).open_operation
    app.clock.advance(600)
    app.services.pipelines.delete(app.context(), pipeline.id, forget=True)
    operation = app.services.stores.connectors.operations.get(opened.id)
    assert (operation.step, operation.error_code) == (OperationStep.FAILED, "STATE_CONFLICT")
    records = audited(app, pipeline.id, "pipeline.forget", "pipeline.pause")
    assert sorted((record.action, record.outcome.value) for record in records) == [
        ("pipeline.forget", "success"),
        ("pipeline.pause", "failed"),
        ("pipeline.pause", "requested"),
    ]
    assert not app.services.stores.connectors.operations.open_on(pipeline.connect_cluster_id).operations


def test_a_delivery_whose_deploy_is_open_is_forgotten_with_all_that_it_claimed(app: InProcessApp) -> None:
    pipeline, destination = app.deployed_pipeline(), app.destination()
    app.connect.plant(FaultEffect.TIMED_OUT, "POST", "/connectors$", times=9)
    data = app.delivery_input(pipeline, "orders")
    draft = app.services.deliveries.deploy(app.context(), destination.id, data)
    assert draft.open_operation
    with app.connect_down():
        app.services.deliveries.delete(app.context(), draft.id, forget=True)
    app.connect.faults.clear()
    assert violations(app) == []
    assert app.services.deliveries.deploy(app.context(), destination.id, data).open_operation is None


def test_tables_of_mappings_that_were_being_changed_become_free(app: InProcessApp) -> None:
    delivery = delivery_of(app)
    moved = tuple(replace(mapping, schema_name="other") for mapping in delivery.mappings)
    app.connect.plant(FaultEffect.TIMED_OUT, "PUT", "/config$", times=9)
    assert app.services.deliveries.update_mappings(app.context(), delivery.id, moved).open_operation
    with app.connect_down():
        app.services.deliveries.delete(app.context(), delivery.id, forget=True)
    assert not [key for key in claimed(app) if key.startswith("target/")]


def test_another_version_is_not_forgotten(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    with app.connect_down(), pytest.raises(VersionMismatch):
        app.services.pipelines.delete(app.context(if_match=pipeline.version + 1), pipeline.id, forget=True)


def test_what_does_not_exist_cannot_be_forgotten(app: InProcessApp) -> None:
    with pytest.raises(NotFound):
        app.services.deliveries.delete(app.context(), new_id(), forget=True)


def test_a_worker_that_comes_back_after_the_resource_was_forgotten_brings_nothing_back(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()

    def pauses(point: Point) -> bool:
        return point.operation.endswith("/pause")

    worker = DelayedWorker(app, lambda: app.services.pipelines.pause(app.context(), pipeline.id), pauses)
    app.clock.advance(600)
    app.services.pipelines.delete(app.context(), pipeline.id, forget=True)
    worker.continue_request()
    with pytest.raises(NotFound):
        app.services.pipelines.get(pipeline.id)


def test_a_pipeline_whose_connector_is_being_made_again_is_forgotten(app: InProcessApp) -> None:
    """A tick has begun to make it again, and Connect went away in the middle of that."""
    pipeline = app.deployed_pipeline()
    app.tick()
    app.connect.drop(pipeline.connector_name)
    app.connect.plant(FaultEffect.TIMED_OUT, "POST", "/connectors$", times=9)
    app.tick(times=3)
    opened = app.services.pipelines.get(pipeline.id).open_operation
    assert opened.kind is OperationKind.RECREATE
    app.clock.advance(600)
    app.services.pipelines.delete(app.context(), pipeline.id, forget=True)
    assert app.services.stores.resources.pipelines.find(pipeline.id) is None
    assert app.services.stores.connectors.operations.get(opened.id).step is OperationStep.FAILED
    assert claimed(app) == [claim for claim in claimed(app) if pipeline.id not in claim]
    assert violations(app) == []
