"""What an operation leaves behind: rows, audit records, the stored error. Crashes are the subject of `tests/faults`."""

from dataclasses import replace

import pytest

from chalicelib.domain.audit.record import Outcome
from chalicelib.domain.observation import DesiredState, ObservedState
from chalicelib.errors import Conflict, Invalid, StoreRefused
from infra.local.doubles.connect_faults import FaultEffect
from tests.faults.inspection import audited
from tests.support.apps.call_interceptor import FailureMode, InterceptedCall, Point, Side
from tests.support.apps.in_process_app import ADMIN, InProcessApp


def test_a_resource_with_an_open_operation_is_refused_before_anything_is_written(app: InProcessApp) -> None:
    pipeline = app.pipeline()
    app.connect.plant(FaultEffect.TIMED_OUT, "POST", "/connectors$")
    app.services.pipelines.deploy(app.context(), pipeline.id)
    app.interceptor.watch()
    with pytest.raises(Conflict) as refused:
        app.services.pipelines.deploy(app.context(), pipeline.id)
    assert refused.value.code == "OPERATION_IN_PROGRESS"
    assert not [point for point in app.interceptor.unwatch() if point.writes]


def test_a_failed_deploy_stores_and_audits_its_error_and_a_success_removes_it(app: InProcessApp) -> None:
    pipeline = app.pipeline()
    app.database.reachable = False
    with pytest.raises(Invalid):
        app.services.pipelines.deploy(app.context(), pipeline.id)
    stored = app.services.pipelines.get(pipeline.id)
    assert (stored.desired_state, stored.last_error.code) == (DesiredState.DRAFT, "SOURCE_NOT_READY")
    records = {one.outcome: one for one in audited(app, pipeline.id, "pipeline.deploy")}
    assert records.keys() == {Outcome.REQUESTED, Outcome.FAILED}
    details = records[Outcome.FAILED].after
    assert details["error"]["code"] == "SOURCE_NOT_READY"
    app.database.reachable = True
    assert app.services.pipelines.deploy(app.context(), pipeline.id).last_error is None


def test_an_operation_that_a_tick_finishes_is_audited_with_the_actor_who_requested_it(app: InProcessApp) -> None:
    pipeline = app.pipeline()
    app.connect.plant(FaultEffect.TIMED_OUT, "POST", "/connectors$")
    app.services.pipelines.deploy(app.context(), pipeline.id)
    app.tick(after=31)
    requested, succeeded = audited(app, pipeline.id, "pipeline.deploy")
    assert [one.actor_id for one in (requested, succeeded)] == [ADMIN.id, ADMIN.id]
    assert succeeded.correlation_id == requested.correlation_id


def test_a_delivery_of_500_long_names_is_deployed_and_leaves_short_audit_records(
    app: InProcessApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app.database, "tables", [f"{number:03}{'x' * 60}" for number in range(500)])
    pipeline = app.deployed_pipeline()
    data = app.delivery_input(pipeline, *(f"{number:03}{'y' * 60}" for number in range(500)))
    delivery = app.services.deliveries.deploy(app.context(), app.destination().id, data)
    assert (delivery.open_operation, delivery.desired_state) == (None, DesiredState.RUNNING)
    swapped = tuple(
        replace(mapping, table_name=f"{mapping.table_name[3:]}{number:03}")
        for number, mapping in enumerate(delivery.mappings)
    )
    assert app.services.deliveries.update_mappings(app.context(), delivery.id, swapped).mappings == swapped
    app.services.deliveries.delete(app.context(), delivery.id)
    assert max(len(row["body"]) for row in app.tables.rows("audit")) < 10_000


def refuse_the_second_write() -> FailureMode:
    """The store answers the second write of a request as it answers a row that is too large."""
    writes: list[Point] = []
    body = b'{"__type": "com.amazonaws.dynamodb#ValidationException", "Message": "Item size has exceeded the maximum"}'

    def intercept(point: Point, call: InterceptedCall) -> object:
        writes.extend([point] if point.side is Side.STORE and point.writes else [])
        refused = point.side is Side.STORE and point.writes and len(writes) == 2
        return (400, {"x-amzn-RequestId": "r"}, body) if refused else call()

    return intercept


def test_an_operation_whose_result_the_store_refuses_for_good_is_settled_as_failed(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    app.interceptor.watch(refuse_the_second_write())
    with pytest.raises(StoreRefused):
        app.services.pipelines.pause(app.context(), pipeline.id)
    app.interceptor.unwatch()
    stored = app.services.pipelines.get(pipeline.id)
    assert (stored.open_operation, stored.last_error.code) == (None, "INTERNAL")
    assert {one.outcome for one in audited(app, pipeline.id, "pipeline.pause")} == {Outcome.REQUESTED, Outcome.FAILED}
    assert app.services.pipelines.pause(app.context(), pipeline.id).desired_state is DesiredState.PAUSED


def test_a_deploy_whose_result_the_store_refuses_for_good_leaves_no_connector(app: InProcessApp) -> None:
    pipeline = app.pipeline()
    app.interceptor.watch(refuse_the_second_write())
    with pytest.raises(StoreRefused):
        app.services.pipelines.deploy(app.context(), pipeline.id)
    app.interceptor.unwatch()
    assert app.connect.names() == []
    assert app.services.pipelines.get(pipeline.id).open_operation is None


def test_each_operation_counts_the_version_once_and_returns_the_state_that_it_has_just_observed(
    app: InProcessApp,
) -> None:
    pipeline = app.pipeline()
    deployed = app.services.pipelines.deploy(app.context(), pipeline.id)
    paused = app.services.pipelines.pause(app.context(), pipeline.id)
    assert (deployed.version, paused.version) == (pipeline.version + 1, pipeline.version + 2)
    assert paused.observation.state is ObservedState.PAUSED


def test_a_change_that_cannot_be_observed_afterwards_has_succeeded_with_an_unknown_state(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    app.connect.plant(FaultEffect.NOT_READY, "GET", "/status$", times=99)
    paused = app.services.pipelines.pause(app.context(), pipeline.id)
    assert (paused.desired_state, paused.open_operation) == (DesiredState.PAUSED, None)
    assert paused.observation.state is ObservedState.UNKNOWN
