"""What ticks do about connectors that have failed or drifted, how often, and what they tell of it."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from chalicelib.domain.audit import Outcome
from chalicelib.domain.observation import DesiredState, Observation, ObservedState
from chalicelib.domain.operation import MOST_DEFECTS
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.reconcile.drift import DRIFTED
from chalicelib.domain.reconcile.restarts import MAX_RESTARTS
from chalicelib.kit.clock import Deadline
from chalicelib.services.connect_clusters import ConnectClusterInput
from infra.local.doubles.connect_faults import Effect
from infra.local.doubles.connect_traces import secrets_trace
from tests.faults.invariants import violations
from tests.faults.looking import touches
from tests.faults.scenario import recover
from tests.support.call_interceptor import InterceptedCall, Point, Side
from tests.support.in_process_app import InProcessApp

NO_SECRETS = secrets_trace("Headgate gave no answer for secret 0: status 503")
WRONG_PASSWORD = 'org.postgresql.util.PSQLException: FATAL: password authentication failed for user "x"'
IN_VAIN = 1_000


def running(app: InProcessApp) -> Pipeline:
    """A pipeline that runs, on a cluster that has come to rest."""
    pipeline = app.deployed_pipeline()
    for _ in range(4):
        app.tick()
    app.connect.calls.clear()
    return pipeline


def observed(app: InProcessApp, pipeline: Pipeline) -> Observation:
    seen = app.services.pipelines.get(pipeline.id).observation
    assert seen
    return seen


def restarts(app: InProcessApp, pipeline: Pipeline) -> int:
    """How often Connect was asked to restart what has failed, and everything that it was asked to do was that."""
    path = f"/connectors/{pipeline.connector_name}/restart"
    calls = [one for one in app.connect.calls.calls("POST", "^/connectors") if one.path == path]
    assert len(calls) == len(touches(app))
    assert {one.query for one in calls} <= {"includeTasks=true&onlyFailed=true"}
    return len(calls)


def by_hand(app: InProcessApp, pipeline: Pipeline, what: str, body: Any = None) -> None:
    """Somebody steers the connector past Headgate, and leaves no trace in what was counted."""
    path = f"{app.connect.url}/connectors/{pipeline.connector_name}/{what}"
    assert httpx.put(path, json=body, trust_env=False).is_success
    app.connect.settle()
    app.connect.calls.clear()


def glance(app: InProcessApp) -> None:
    """A tick that waits for nothing to settle."""
    app.clock.advance(10)
    app.services.tick.run(app.cluster.id, Deadline.after(25))


def overtaken(app: InProcessApp, by: Callable[[], object]) -> None:
    """A tick during which something else happens, after it has looked at Connect and before it does anything."""

    def look_and_be_overtaken(point: Point, call: InterceptedCall) -> object:
        answer = call()
        if (point.side, point.what) == (Side.CONNECT, "GET /connectors"):
            app.gate.unwatch()
            by()
        return answer

    app.gate.watch(look_and_be_overtaken)
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


def trail(app: InProcessApp, pipeline: Pipeline, action: str) -> list[Any]:
    found = app.services.audit.list(
        limit=100, after=None, resource_id=pipeline.id, include_related=False, meaningful=True
    )
    return [one for one in found.items if one.action == action]


# --- restarts


def test_a_task_that_failed_without_secrets_is_restarted_at_the_second_look(app: InProcessApp) -> None:
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


def test_a_restart_stands_in_the_audit_trail_as_something_headgate_did(app: InProcessApp) -> None:
    pipeline = running(app)
    app.connect.fail_task(pipeline.connector_name, NO_SECRETS)
    app.tick()
    app.tick()
    (record,) = trail(app, pipeline, "pipeline.restart_failed")
    assert (record.actor_via, record.actor_id, record.outcome) == ("system", None, Outcome.SUCCESS)


def test_people_are_told_what_was_tried_and_when_the_next_try_is(app: InProcessApp) -> None:
    pipeline = running(app)
    app.connect.fail_task(pipeline.connector_name, NO_SECRETS, restarts_in_vain=IN_VAIN)
    app.tick()
    first = observed(app, pipeline)
    app.tick()
    app.tick()
    seen = observed(app, pipeline)
    assert seen.state is first.state is ObservedState.DEGRADED
    assert seen.reasons[:-1] == first.reasons
    assert seen.reasons[-1] == "Headgate has tried to restart it once; next try at 2026-01-31T12:02:00.000Z."


def test_restarts_in_vain_come_at_growing_pauses_and_end(app: InProcessApp) -> None:
    pipeline = running(app)
    app.connect.fail_task(pipeline.connector_name, NO_SECRETS, restarts_in_vain=IN_VAIN)
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
    app.connect.fail_task(pipeline.connector_name, NO_SECRETS, restarts_in_vain=IN_VAIN)
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
        glance(app)
    assert restarts(app, pipeline) == 0
    glance(app)
    assert restarts(app, pipeline) == 1
    app.tick()
    assert observed(app, pipeline).state is ObservedState.RUNNING


def test_somebody_who_pauses_between_the_look_and_the_deed_is_not_overruled(app: InProcessApp) -> None:
    """The tick reads what is wanted at little cost, and once more before it acts."""
    pipeline = running(app)
    app.connect.fail_task(pipeline.connector_name, NO_SECRETS)
    app.tick()
    overtaken(app, lambda: app.services.pipelines.pause(app.context(), pipeline.id))
    assert [path for _, path in touches(app) if path.endswith("/restart")] == []
    assert app.services.pipelines.get(pipeline.id).desired_state is DesiredState.PAUSED


def test_two_ticks_at_the_same_moment_restart_once(app: InProcessApp) -> None:
    pipeline = running(app)
    app.connect.fail_task(pipeline.connector_name, NO_SECRETS, restarts_in_vain=IN_VAIN)
    app.tick()
    one, other = app.services, app._new_process()
    overtaken(app, lambda: other.tick.run(app.cluster.id, Deadline.after(25)))
    assert restarts(app, pipeline) == 1
    assert len(trail(app, pipeline, "pipeline.restart_failed")) == 1
    one.tick.run(app.cluster.id, Deadline.after(25))
    assert restarts(app, pipeline) == 1


def test_nothing_is_done_at_workers_whose_registration_has_changed_since_the_look(app: InProcessApp) -> None:
    pipeline = running(app)
    app.connect.drop(pipeline.connector_name)
    app.tick()
    overtaken(app, lambda: rename(app))
    assert touches(app) == []
    app.tick()
    assert violations(app) == []


# --- places


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


# --- drift


def alter(app: InProcessApp, pipeline: Pipeline, **changes: str) -> None:
    """Somebody gives the connector another config, past Headgate; two underscores for a dot."""
    changed = {key.replace("__", "."): value for key, value in changes.items()}
    by_hand(app, pipeline, "config", {**app.connect.config_of(pipeline.connector_name), **changed})


def test_a_config_that_somebody_else_changed_is_told_and_not_overwritten(app: InProcessApp) -> None:
    pipeline = running(app)
    alter(app, pipeline, poll__interval__ms="1")
    changed = app.connect.config_of(pipeline.connector_name)
    app.tick(after=601)
    assert observed(app, pipeline).reasons == ()
    app.tick()
    assert (observed(app, pipeline).state, observed(app, pipeline).reasons) == (ObservedState.RUNNING, (DRIFTED,))
    for seconds in (10, 10, 601, 10, 601):
        app.tick(after=seconds)
    assert observed(app, pipeline).reasons == (DRIFTED,)
    assert app.connect.config_of(pipeline.connector_name) == changed
    assert touches(app) == []


def drifted(app: InProcessApp) -> tuple[Pipeline, dict[str, str]]:
    """A pipeline whose connector was given another config, which has been told, and the config that was right."""
    pipeline = running(app)
    right = app.connect.config_of(pipeline.connector_name)
    alter(app, pipeline, poll__interval__ms="1")
    app.tick(after=601)
    app.tick()
    assert observed(app, pipeline).reasons == (DRIFTED,)
    return pipeline, right


def test_deploying_again_puts_back_what_somebody_else_changed(app: InProcessApp) -> None:
    pipeline, right = drifted(app)
    app.services.pipelines.deploy(app.context(), pipeline.id)
    assert app.connect.config_of(pipeline.connector_name) == right
    for _ in range(3):
        app.tick()
    assert (observed(app, pipeline).state, observed(app, pipeline).reasons) == (ObservedState.RUNNING, ())


def test_a_config_that_was_put_right_again_is_not_told_of_any_more(app: InProcessApp) -> None:
    pipeline, right = drifted(app)
    by_hand(app, pipeline, "config", right)
    app.tick(after=601)
    assert observed(app, pipeline).reasons == ()


def test_configs_are_asked_for_every_ten_minutes_in_the_same_call(app: InProcessApp) -> None:
    running(app)
    app.tick(after=600)
    app.connect.calls.clear()
    for _ in range(120):
        app.tick()
    asked = [one.query for one in app.connect.calls.calls("GET", "^/connectors")]
    assert len(asked) == 120
    assert asked.count("expand=status&expand=info") == 2


def test_configs_are_not_compared_while_something_that_people_want_is_on_its_way(app: InProcessApp) -> None:
    pipeline = running(app)
    app.clock.advance(601)
    app.services.pipelines.pause(app.context(), pipeline.id)
    app.connect.calls.clear()
    for _ in range(3):
        app.tick()
    asked = [one.query for one in app.connect.calls.calls("GET", "^/connectors$")]
    assert asked == ["expand=status", "expand=status", "expand=status&expand=info"]


def test_a_change_that_shows_is_looked_into_at_once(app: InProcessApp) -> None:
    pipeline = running(app)
    app.tick(after=70)
    alter(app, pipeline, poll__interval__ms="1")
    app.connect.show(pipeline.connector_name, "UNASSIGNED")
    glance(app)
    app.connect.show(pipeline.connector_name, "RUNNING")
    app.tick()
    app.tick()
    assert DRIFTED in observed(app, pipeline).reasons


def test_an_answer_that_cannot_be_had_with_configs_is_had_without(app: InProcessApp) -> None:
    pipeline = running(app)
    app.tick(after=601)
    app.clock.advance(590)
    app.connect.plant(Effect.GARBAGE, "GET", "/connectors$", times=1)
    app.tick()
    assert observed(app, pipeline).state is ObservedState.RUNNING
    app.connect.calls.clear()
    app.tick()
    assert [one.query for one in app.connect.calls.calls("GET", "^/connectors")] == ["expand=status"]


def test_operations_of_ours_are_no_drift(app: InProcessApp) -> None:
    pipeline = running(app)
    delivery = app.services.deliveries.deploy(
        app.context(), app.destination().id, app.delivery_input(pipeline, "orders")
    )
    assert delivery
    for seconds in (10, 10, 10, 601, 10, 10):
        app.tick(after=seconds)
    app.services.deliveries.update_mappings(
        app.context(), delivery.id, app.delivery_input(pipeline, "orders2").mappings
    )
    for seconds in (10, 10, 10, 601, 10, 10):
        app.tick(after=seconds)
        shown = app.services.deliveries.get(delivery.id).observation
        assert shown
        assert shown.reasons == ()


# --- bugs of ours


def test_an_operation_that_a_bug_spoils_again_and_again_is_given_up(app: InProcessApp) -> None:
    pipeline = app.pipeline()
    app.database.bug = RuntimeError("a bug")
    with pytest.raises(RuntimeError):
        app.services.pipelines.deploy(app.context(), pipeline.id)
    for _ in range(MOST_DEFECTS - 1):
        app.tick(after=31)
    assert app.services.pipelines.get(pipeline.id).open_operation
    app.tick(after=31)
    given_up = app.services.pipelines.get(pipeline.id)
    assert given_up.open_operation is None
    assert given_up.last_error
    assert given_up.last_error.code == "INTERNAL"
    app.database.bug = None
    assert recover(app) == []
    assert app.services.pipelines.deploy(app.context(), pipeline.id).desired_state is DesiredState.RUNNING
