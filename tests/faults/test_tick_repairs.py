"""What ticks do about connectors that have failed or drifted, how often, and what they report."""

from collections.abc import Callable
from typing import Any

import pytest

from chalicelib.domain.audit import Outcome
from chalicelib.domain.observation import DesiredState, ObservedState
from chalicelib.domain.operation import MOST_DEFECTS
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.reconcile.restarts import MAX_RESTARTS
from chalicelib.kit.clock import Deadline
from chalicelib.services.connect_clusters import ConnectClusterInput
from infra.local.doubles.connect_traces import secrets_trace
from tests.faults.invariants import violations
from tests.faults.looking import by_hand, observed, running, touches, unsettled_tick
from tests.faults.scenario import recover
from tests.support.call_interceptor import InterceptedCall, Point, Side
from tests.support.in_process_app import InProcessApp

NO_SECRETS = secrets_trace("Headgate gave no answer for secret 0: status 503")
WRONG_PASSWORD = 'org.postgresql.util.PSQLException: FATAL: password authentication failed for user "x"'
IN_VAIN = 1_000


def restarts(app: InProcessApp, pipeline: Pipeline) -> int:
    """How often Connect was asked to restart what has failed. It must not have been asked for anything else."""
    path = f"/connectors/{pipeline.connector_name}/restart"
    calls = [one for one in app.connect.calls.calls("POST", "^/connectors") if one.path == path]
    assert len(calls) == len(touches(app))
    assert {one.query for one in calls} <= {"includeTasks=true&onlyFailed=true"}
    return len(calls)


def overtaken(app: InProcessApp, by: Callable[[], object]) -> None:
    """A tick during which something else happens, after it has read Connect and before it does anything."""

    def read_and_be_overtaken(point: Point, call: InterceptedCall) -> object:
        answer = call()
        if (point.side, point.operation) == (Side.CONNECT, "GET /connectors"):
            app.interceptor.unwatch()
            by()
        return answer

    app.interceptor.watch(read_and_be_overtaken)
    app.tick()


def rename(app: InProcessApp) -> None:
    """Somebody changes the registration of the Connect cluster."""
    cluster = app.cluster
    given = ConnectClusterInput(
        name="another name",
        base_url=cluster.base_url,
        stream_cluster_id=cluster.stream_cluster_id,
        username=None,
        secret_delivery=cluster.secret_delivery,
        secrets={},
    )
    app.services.connect_clusters.update(app.context(), cluster.id, given)


def audit_records(app: InProcessApp, pipeline: Pipeline, action: str) -> list[Any]:
    found = app.services.audit.list(
        limit=100, after=None, resource_id=pipeline.id, include_related=False, meaningful=True
    )
    return [one for one in found.items if one.action == action]


# restarts


def test_a_task_that_failed_without_secrets_is_restarted_when_seen_twice(app: InProcessApp) -> None:
    pipeline = running(app)
    app.connect.fail_task(pipeline.connector_name, NO_SECRETS)
    app.tick()
    assert restarts(app, pipeline) == 0
    assert observed(app, pipeline).state is ObservedState.DEGRADED
    app.tick()
    assert restarts(app, pipeline) == 1
    app.tick()
    assert observed(app, pipeline).state is ObservedState.RUNNING
    assert observed(app, pipeline).reasons == ()
    assert violations(app) == []


def test_a_restart_is_in_the_audit_trail_as_an_action_of_the_system(app: InProcessApp) -> None:
    pipeline = running(app)
    app.connect.fail_task(pipeline.connector_name, NO_SECRETS)
    app.tick()
    app.tick()
    (record,) = audit_records(app, pipeline, "pipeline.restart_failed")
    assert (record.actor_via, record.actor_id, record.outcome) == ("system", None, Outcome.SUCCESS)


def test_the_reasons_say_what_was_tried_and_when_the_next_attempt_is(app: InProcessApp) -> None:
    pipeline = running(app)
    app.connect.fail_task(pipeline.connector_name, NO_SECRETS, failing_restarts=IN_VAIN)
    app.tick()
    first = observed(app, pipeline)
    app.tick()
    app.tick()
    seen = observed(app, pipeline)
    assert seen.state is first.state is ObservedState.DEGRADED
    assert seen.reasons[:-1] == first.reasons
    assert seen.reasons[-1] == "Headgate has tried to restart it once; next try at 2026-01-31T12:02:00.000Z."


def test_restarts_that_do_not_help_come_at_growing_pauses_and_end(app: InProcessApp) -> None:
    pipeline = running(app)
    app.connect.fail_task(pipeline.connector_name, NO_SECRETS, failing_restarts=IN_VAIN)
    app.tick()
    counted = []
    for _ in range(32):
        app.tick(after=60)
        counted.append(restarts(app, pipeline))
    assert [minute for minute in range(1, 32) if counted[minute] > counted[minute - 1]] == [1, 3, 7, 15, 31]
    for _ in range(20):
        app.tick(after=31 * 60)
    assert restarts(app, pipeline) == MAX_RESTARTS
    assert "does not try again" in observed(app, pipeline).reasons[-1]


def test_a_connector_that_has_run_for_a_while_is_restarted_at_once_again(app: InProcessApp) -> None:
    pipeline = running(app)
    for _ in range(3):
        before = restarts(app, pipeline)
        app.connect.fail_task(pipeline.connector_name, NO_SECRETS)
        for _ in range(2):
            app.tick()
        assert restarts(app, pipeline) == before + 1
        for _ in range(2):
            app.tick(after=601)


def test_a_new_process_knows_what_was_tried(app: InProcessApp) -> None:
    pipeline = running(app)
    app.connect.fail_task(pipeline.connector_name, NO_SECRETS, failing_restarts=IN_VAIN)
    app.tick()
    app.tick()
    for _ in range(5):
        app.restart()
        app.tick()
    assert restarts(app, pipeline) == 1
    app.restart()
    app.tick()
    assert restarts(app, pipeline) == 2


def test_a_refused_password_is_never_tried_again(app: InProcessApp) -> None:
    pipeline = running(app)
    app.connect.fail_task(pipeline.connector_name, WRONG_PASSWORD)
    for seconds in (10, 10, 60, 600, 3600):
        app.tick(after=seconds)
    assert touches(app) == []
    assert "refuses the user name or password" in observed(app, pipeline).reasons[0]


def test_a_paused_connector_is_not_restarted(app: InProcessApp) -> None:
    pipeline = running(app)
    app.services.pipelines.pause(app.context(), pipeline.id)
    for _ in range(3):
        app.tick()
    app.connect.calls.clear()
    app.connect.fail_task(pipeline.connector_name, NO_SECRETS)
    for seconds in (10, 10, 60, 600):
        app.tick(after=seconds)
    assert [path for _, path in touches(app) if path.endswith("/restart")] == []


def test_a_restart_that_hangs_is_given_another_one(app: InProcessApp) -> None:
    pipeline = running(app)
    app.connect.show(pipeline.connector_name, "RESTARTING", task=0)
    for _ in range(6):
        unsettled_tick(app)
    assert restarts(app, pipeline) == 0
    unsettled_tick(app)
    assert restarts(app, pipeline) == 1
    app.tick()
    assert observed(app, pipeline).state is ObservedState.RUNNING


def test_a_pause_between_reading_and_acting_is_respected(app: InProcessApp) -> None:
    """The tick reads what is desired at little cost, and once more before it acts."""
    pipeline = running(app)
    app.connect.fail_task(pipeline.connector_name, NO_SECRETS)
    app.tick()
    overtaken(app, lambda: app.services.pipelines.pause(app.context(), pipeline.id))
    assert [path for _, path in touches(app) if path.endswith("/restart")] == []
    assert app.services.pipelines.get(pipeline.id).desired_state is DesiredState.PAUSED


def test_two_ticks_at_the_same_time_restart_once(app: InProcessApp) -> None:
    pipeline = running(app)
    app.connect.fail_task(pipeline.connector_name, NO_SECRETS, failing_restarts=IN_VAIN)
    app.tick()
    one, other = app.services, app._new_process()
    overtaken(app, lambda: other.tick.run(app.cluster.id, Deadline.after(25)))
    assert restarts(app, pipeline) == 1
    assert len(audit_records(app, pipeline, "pipeline.restart_failed")) == 1
    one.tick.run(app.cluster.id, Deadline.after(25))
    assert restarts(app, pipeline) == 1


def test_nothing_is_done_at_workers_whose_registration_has_changed_since_it_was_read(app: InProcessApp) -> None:
    pipeline = running(app)
    app.connect.drop(pipeline.connector_name)
    app.tick()
    overtaken(app, lambda: rename(app))
    assert touches(app) == []
    app.tick()
    assert violations(app) == []


# wrong states


def test_a_connector_that_should_be_paused_and_was_stopped_by_hand_is_paused(app: InProcessApp) -> None:
    pipeline = running(app)
    app.services.pipelines.pause(app.context(), pipeline.id)
    for _ in range(3):
        app.tick()
    by_hand(app, pipeline, "stop")
    app.tick()
    assert observed(app, pipeline).state is ObservedState.STOPPED
    app.tick()
    app.tick()
    assert observed(app, pipeline).state is ObservedState.PAUSED


# defects


def test_an_operation_that_fails_by_a_defect_again_and_again_is_settled_as_failed(app: InProcessApp) -> None:
    pipeline = app.pipeline()
    app.database.bug = RuntimeError("a bug")
    with pytest.raises(RuntimeError):
        app.services.pipelines.deploy(app.context(), pipeline.id)
    for _ in range(MOST_DEFECTS - 1):
        app.tick(after=31)
    assert app.services.pipelines.get(pipeline.id).open_operation
    app.tick(after=31)
    settled = app.services.pipelines.get(pipeline.id)
    assert settled.open_operation is None
    assert settled.last_error
    assert settled.last_error.code == "INTERNAL"
    app.database.bug = None
    assert recover(app) == []
    assert app.services.pipelines.deploy(app.context(), pipeline.id).desired_state is DesiredState.RUNNING
