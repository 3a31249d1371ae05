"""What ticks do about failed connectors and wrong states, how often, and what they report."""

from collections.abc import Callable

import pytest

from chalicelib.domain.audit.record import Outcome
from chalicelib.domain.observation import DesiredState, ObservedState
from chalicelib.domain.operation import MAX_DEFECTS
from chalicelib.domain.pipeline import Pipeline
from chalicelib.kit.clock import Deadline
from chalicelib.services.connect_clusters import ConnectClusterInput
from infra.local.doubles.connect_faults import FaultEffect
from tests.faults.fault_runs import recover
from tests.faults.inspection import (
    NO_SECRETS,
    audited,
    change_by_hand,
    connector_writes,
    incidents,
    observation_of,
    running_pipeline,
)
from tests.faults.invariants import violations
from tests.support.apps.call_interceptor import InterceptedCall, Point, Side
from tests.support.apps.in_process_app import InProcessApp

IN_VAIN = 1_000


def restarts(app: InProcessApp, pipeline: Pipeline) -> int:
    """The number of restarts of what has failed. Connect must not have received any other change."""
    path = f"/connectors/{pipeline.connector_name}/restart"
    calls = [one for one in app.connect.calls.calls("POST", "^/connectors") if one.path == path]
    assert len(calls) == len(connector_writes(app))
    assert {one.query for one in calls} <= {"includeTasks=true&onlyFailed=true"}
    return len(calls)


def tick_overtaken_by(app: InProcessApp, by: Callable[[], object]) -> None:
    """A tick during which `by` runs, after the tick has read Connect and before it changes anything."""

    def run_after_the_read(point: Point, call: InterceptedCall) -> object:
        answer = call()
        if (point.side, point.operation) == (Side.CONNECT, "GET /connectors"):
            app.interceptor.unwatch()
            by()
        return answer

    app.interceptor.watch(run_after_the_read)
    app.tick()


def rename(app: InProcessApp) -> None:
    """Change the registration of the Connect cluster."""
    cluster = app.cluster
    data = ConnectClusterInput(
        name="another name",
        address=cluster.address,
        stream_cluster_id=cluster.stream_cluster_id,
        secret_delivery=cluster.secret_delivery,
        secrets={},
    )
    app.services.connect_clusters.update(app.context(), cluster.id, data)


# restarts


def test_a_task_that_failed_for_lack_of_secrets_is_restarted_when_seen_failed_twice(app: InProcessApp) -> None:
    pipeline = running_pipeline(app)
    app.connect.fail_task(pipeline.connector_name, NO_SECRETS)
    app.tick()
    assert restarts(app, pipeline) == 0
    assert observation_of(app, pipeline).state is ObservedState.FAILED
    app.tick()
    assert restarts(app, pipeline) == 1
    (record,) = audited(app, pipeline.id, "pipeline.restart_failed")
    assert (record.actor_via, record.actor_id, record.outcome) == ("system", None, Outcome.SUCCESS)
    app.tick()
    assert observation_of(app, pipeline).state is ObservedState.RUNNING
    assert observation_of(app, pipeline).reasons == ()
    assert violations(app) == []


def test_a_new_process_knows_the_earlier_restarts(app: InProcessApp) -> None:
    pipeline = running_pipeline(app)
    app.connect.fail_task(pipeline.connector_name, NO_SECRETS, failing_restarts=IN_VAIN)
    app.tick()
    app.tick()
    for _ in range(5):
        app.restart()
        app.tick()
    assert restarts(app, pipeline) == 1
    reason = "Headgate has tried to restart it once; next try at 2026-01-31T12:02:00.000Z."
    assert observation_of(app, pipeline).reasons[-1] == reason
    app.restart()
    app.tick()
    assert restarts(app, pipeline) == 2


def test_a_pause_between_the_read_and_the_restart_prevents_the_restart(app: InProcessApp) -> None:
    """The tick reads the desired state with an inexpensive read, and once more before it acts."""
    pipeline = running_pipeline(app)
    app.connect.fail_task(pipeline.connector_name, NO_SECRETS)
    app.tick()
    tick_overtaken_by(app, lambda: app.services.pipelines.pause(app.context(), pipeline.id))
    assert [path for _, path in connector_writes(app) if path.endswith("/restart")] == []
    assert app.services.pipelines.get(pipeline.id).desired_state is DesiredState.PAUSED


def test_two_ticks_at_the_same_time_restart_once(app: InProcessApp) -> None:
    pipeline = running_pipeline(app)
    app.connect.fail_task(pipeline.connector_name, NO_SECRETS, failing_restarts=IN_VAIN)
    app.tick()
    one, other = app.services, app._new_process()
    tick_overtaken_by(app, lambda: other.tick.run(app.cluster.id, Deadline.after(25)))
    assert restarts(app, pipeline) == 1
    assert len(audited(app, pipeline.id, "pipeline.restart_failed")) == 1
    one.tick.run(app.cluster.id, Deadline.after(25))
    assert restarts(app, pipeline) == 1


def test_nothing_is_changed_when_the_registration_of_the_workers_has_changed_since_it_was_read(
    app: InProcessApp,
) -> None:
    pipeline = running_pipeline(app)
    app.connect.drop(pipeline.connector_name)
    app.tick()
    tick_overtaken_by(app, lambda: rename(app))
    assert connector_writes(app) == []
    app.tick()
    assert violations(app) == []


# wrong states


def test_a_connector_that_should_be_paused_and_was_stopped_by_hand_is_left_alone(app: InProcessApp) -> None:
    pipeline = running_pipeline(app)
    app.services.pipelines.pause(app.context(), pipeline.id)
    app.tick(times=3)
    change_by_hand(app, pipeline, "stop")
    app.tick()
    assert observation_of(app, pipeline).state is ObservedState.STOPPED
    app.ticks(10, 10, 100, 600)
    seen = observation_of(app, pipeline)
    assert (seen.state, connector_writes(app), incidents(app)) == (ObservedState.STOPPED, [], [])
    assert any(reason.startswith("Somebody has stopped it in Kafka Connect") for reason in seen.reasons)
    app.services.pipelines.resume(app.context(), pipeline.id)
    app.tick(times=2)
    assert observation_of(app, pipeline).state is ObservedState.RUNNING


def test_a_connector_that_should_be_paused_and_was_just_created_is_paused(app: InProcessApp) -> None:
    pipeline = running_pipeline(app)
    app.services.pipelines.pause(app.context(), pipeline.id)
    app.tick()
    app.connect.plant(FaultEffect.NOT_READY, "PUT", "/pause$", times=1)
    app.connect.drop(pipeline.connector_name)
    app.tick(times=6)
    assert observation_of(app, pipeline).state is ObservedState.PAUSED


# defects


def test_an_operation_that_fails_repeatedly_because_of_a_defect_is_settled_as_failed(app: InProcessApp) -> None:
    pipeline = app.pipeline()
    app.database.readiness_bug = RuntimeError("a bug")
    with pytest.raises(RuntimeError):
        app.services.pipelines.deploy(app.context(), pipeline.id)
    app.tick(after=31, times=MAX_DEFECTS - 1)
    assert app.services.pipelines.get(pipeline.id).open_operation
    app.tick(after=31)
    settled = app.services.pipelines.get(pipeline.id)
    assert settled.open_operation is None
    assert settled.last_error.code == "INTERNAL"
    app.database.readiness_bug = None
    assert recover(app) == []
    assert app.services.pipelines.deploy(app.context(), pipeline.id).desired_state is DesiredState.RUNNING
