"""What ticks do about connectors that have vanished: what is shown, how often they are created again, and by whom."""

from collections import Counter

import pytest

from chalicelib.domain.audit.record import Outcome
from chalicelib.domain.observation import MISSING, Observation, ObservedState
from chalicelib.domain.operation import OperationKind
from chalicelib.domain.pipeline import Pipeline
from chalicelib.errors import Conflict
from chalicelib.kit.clock import Deadline
from infra.local.doubles.connect_faults import FaultEffect
from tests.faults.failure_modes import FAULTS, DelayedCalls, Fault
from tests.faults.fault_runs import recover, run_with_faults
from tests.faults.inspection import audited, creations, observation_of, running_pipeline
from tests.faults.invariants import violations
from tests.support.apps.call_interceptor import Crash, InterceptedCall, Point, Side
from tests.support.apps.in_process_app import InProcessApp

FOR_EVER = 1_000


def vanish(app: InProcessApp, pipeline: Pipeline) -> None:
    """The connector is deleted without Headgate, if it exists."""
    if pipeline.connector_name in app.connect.names():
        app.connect.drop(pipeline.connector_name)


def refuse_creations(app: InProcessApp, effect: FaultEffect) -> None:
    """Connect creates nothing any more."""
    app.connect.plant(effect, "POST", "/connectors$", times=FOR_EVER)


def status_of(app: InProcessApp, pipeline: Pipeline) -> Observation:
    """What `GET .../status` shows."""
    seen = app.services.pipelines.status(app.context(), pipeline.id).observation
    assert seen
    return seen


# what is shown


@pytest.mark.parametrize("effect", [FaultEffect.NOT_READY, FaultEffect.TIMED_OUT])
def test_one_that_cannot_be_created_again_is_not_deployed_with_reasons_within_a_minute(
    app: InProcessApp, effect: FaultEffect
) -> None:
    pipeline = running_pipeline(app)
    refuse_creations(app, effect)
    vanish(app, pipeline)
    app.tick(times=6)
    shown = app.services.pipelines.get(pipeline.id)
    for seen in (observation_of(app, pipeline), status_of(app, pipeline)):
        assert seen.state is ObservedState.NOT_DEPLOYED
        assert seen.reasons[0] == MISSING
        assert "Headgate has tried to create it again" in seen.reasons[-1]
        assert "next try at 2026-01-31T12:" in seen.reasons[-1]
    if effect is FaultEffect.NOT_READY:
        assert shown.last_error.message in observation_of(app, pipeline).reasons[1]
        assert shown.open_operation is None


# attempts


def test_a_connector_that_is_back_after_a_failed_attempt_shows_no_error_and_both_attempts_are_audited(
    app: InProcessApp,
) -> None:
    pipeline = running_pipeline(app)
    app.connect.plant(FaultEffect.NOT_READY, "POST", "/connectors$", times=1)
    vanish(app, pipeline)
    app.tick(times=5)
    shown = app.services.pipelines.get(pipeline.id)
    assert (observation_of(app, pipeline).state, shown.last_error) == (ObservedState.RUNNING, None)
    assert shown.version == pipeline.version
    records = audited(app, pipeline.id, "pipeline.recreate")
    outcomes = Counter(record.outcome for record in records)
    assert outcomes == {Outcome.REQUESTED: 2, Outcome.FAILED: 1, Outcome.SUCCESS: 1}
    assert {(record.actor_via, record.actor_id) for record in records} == {("system", None)}
    assert violations(app) == []


def test_an_attempt_counts_when_its_process_ends_before_it(app: InProcessApp) -> None:
    pipeline = running_pipeline(app)
    refuse_creations(app, FaultEffect.NOT_READY)
    vanish(app, pipeline)
    app.tick()

    def end_before_the_operation(point: Point, call: InterceptedCall) -> object:
        if point.operation == "GET /connectors/" + pipeline.connector_name + "/config":
            raise Crash
        return call()

    app.interceptor.watch(end_before_the_operation)
    with pytest.raises(Crash):
        app.tick()
    app.interceptor.unwatch()
    app.restart()
    app.tick(after=1)
    assert creations(app) == 0
    assert "tried to create it again once" in observation_of(app, pipeline).reasons[-1]


# people


def test_the_same_mappings_again_create_a_missing_connector_at_once(app: InProcessApp) -> None:
    pipeline = running_pipeline(app)
    data = app.delivery_input(pipeline)
    delivery = app.services.deliveries.deploy(app.context(), app.destination().id, data)
    app.connect.drop(delivery.connector_name)
    app.services.deliveries.update_mappings(app.context(), delivery.id, data.mappings)
    app.connect.settle()
    assert delivery.connector_name in app.connect.names()
    seen = app.services.deliveries.status(app.context(), delivery.id).observation
    assert seen.state is ObservedState.RUNNING
    app.tick()
    assert violations(app) == []


def test_a_deletion_during_a_recreation_is_refused_and_the_next_one_leaves_no_connector(app: InProcessApp) -> None:
    pipeline = running_pipeline(app)
    vanish(app, pipeline)
    app.tick()
    refused: list[str] = []

    def delete_before_it_is_created(point: Point, call: InterceptedCall) -> object:
        if (point.side, point.operation) == (Side.CONNECT, "POST /connectors") and not refused:
            try:
                app.services.pipelines.delete(app.context(), pipeline.id)
            except Conflict as conflict:
                refused.append(conflict.code)
        return call()

    app.interceptor.watch(delete_before_it_is_created)
    app.tick()
    app.interceptor.unwatch()
    assert refused == ["OPERATION_IN_PROGRESS"]
    assert app.connect.names() == [pipeline.connector_name]
    app.services.pipelines.delete(app.context(), pipeline.id)
    assert app.connect.names() == []
    app.tick()
    assert violations(app) == []


def test_a_recreation_that_began_after_a_deletion_creates_nothing(app: InProcessApp) -> None:
    pipeline = running_pipeline(app)
    vanish(app, pipeline)
    app.tick()
    services = app.services

    def delete_after_the_plan(point: Point, call: InterceptedCall) -> object:
        answer = call()
        if (point.side, point.operation) == (Side.CONNECT, "GET /connectors"):
            app.interceptor.unwatch()
            services.pipelines.delete(app.context(), pipeline.id)
        return answer

    app.interceptor.watch(delete_after_the_plan)
    services.tick.run(app.cluster.id, Deadline.after(25))
    assert (creations(app), app.connect.names()) == (0, [])


def test_an_attempt_with_an_unknown_outcome_is_settled_by_what_is_observed(app: InProcessApp) -> None:
    pipeline = running_pipeline(app)
    app.connect.plant(FaultEffect.TIMED_OUT_APPLIED, "POST", "/connectors$", times=1)
    app.connect.plant(FaultEffect.NOT_READY, "GET", "/config$", skip=1, times=1)
    vanish(app, pipeline)
    app.tick()
    app.tick()
    shown = app.services.pipelines.get(pipeline.id)
    if shown.open_operation:
        assert shown.open_operation.kind is OperationKind.RECREATE
        app.tick(after=31)
    app.tick()
    app.tick()
    app.tick()
    assert creations(app) == 1
    assert violations(app) == []


@pytest.mark.thorough
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.side.value} {fault.name}")
def test_a_recreation_recovers_from_a_fault_at_any_call(app: InProcessApp, fault: Fault) -> None:
    pipeline = running_pipeline(app)
    vanish(app, pipeline)
    app.tick()
    kept = app.snapshot()
    app.restore(kept)
    app.interceptor.watch()
    app.tick()
    points = [point for point in app.interceptor.unwatch() if fault.applies_to(point)]
    wrong = {}
    for point in points:
        app.restore(kept)
        delayed = DelayedCalls()
        run_with_faults(app, [(point, fault)], delayed, app.tick)
        app.connect.settle()
        delayed.send_late()
        found = recover(app)
        if delayed.send_last():
            found += recover(app)
        if found:
            wrong[str(point)] = found
    assert wrong == {}
