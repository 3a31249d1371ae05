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
from chalicelib.domain.reconcile.restarts import MOST_RESTARTS
from chalicelib.kit.clock import Deadline
from chalicelib.services.connect_clusters import ConnectClusterInput
from infra.local.doubles.connect_faults import Effect
from infra.local.doubles.connect_traces import secrets_trace
from tests.faults.invariants import violations
from tests.faults.looking import touches
from tests.faults.scenario import recover
from tests.support.call_interceptor import Call, Point, Side
from tests.support.in_process_app import House

NO_SECRETS = secrets_trace("Headgate gave no answer for secret 0: status 503")
WRONG_PASSWORD = 'org.postgresql.util.PSQLException: FATAL: password authentication failed for user "x"'
IN_VAIN = 1_000


def running(house: House) -> Pipeline:
    """A pipeline that runs, on a cluster that has come to rest."""
    pipeline = house.deployed_pipeline()
    for _ in range(4):
        house.tick()
    house.connect.calls.clear()
    return pipeline


def observed(house: House, pipeline: Pipeline) -> Observation:
    seen = house.services.pipelines.get(pipeline.id).observation
    assert seen
    return seen


def restarts(house: House, pipeline: Pipeline) -> int:
    """How often Connect was asked to restart what has failed, and everything that it was asked to do was that."""
    path = f"/connectors/{pipeline.connector_name}/restart"
    calls = [one for one in house.connect.calls.calls("POST", "^/connectors") if one.path == path]
    assert len(calls) == len(touches(house))
    assert {one.query for one in calls} <= {"includeTasks=true&onlyFailed=true"}
    return len(calls)


def by_hand(house: House, pipeline: Pipeline, what: str, body: Any = None) -> None:
    """Somebody steers the connector past Headgate, and leaves no trace in what was counted."""
    path = f"{house.connect.url}/connectors/{pipeline.connector_name}/{what}"
    assert httpx.put(path, json=body, trust_env=False).is_success
    house.connect.settle()
    house.connect.calls.clear()


def glance(house: House) -> None:
    """A tick that waits for nothing to settle."""
    house.clock.advance(10)
    house.services.reconciler.tick(house.cluster.id, Deadline.after(25))


def overtaken(house: House, by: Callable[[], object]) -> None:
    """A tick during which something else happens, after it has looked at Connect and before it does anything."""

    def look_and_be_overtaken(point: Point, call: Call) -> object:
        answer = call()
        if (point.side, point.what) == (Side.CONNECT, "GET /connectors"):
            house.gate.unwatch()
            by()
        return answer

    house.gate.watch(look_and_be_overtaken)
    house.tick()


def rename(house: House) -> None:
    """Somebody changes the registration of the Connect cluster."""
    cluster = house.cluster
    given = ConnectClusterInput(
        name="another name",
        base_url=cluster.base_url,
        stream_cluster_id=cluster.stream_cluster_id,
        username=None,
        secret_delivery=cluster.secret_delivery,
        secrets={},
    )
    house.services.connect_clusters.update(house.call(), cluster.id, given)


def trail(house: House, pipeline: Pipeline, action: str) -> list[Any]:
    found = house.services.audit.list(
        limit=100, after=None, resource_id=pipeline.id, include_related=False, meaningful=True
    )
    return [one for one in found.items if one.action == action]


# --- restarts


def test_a_task_that_failed_without_secrets_is_restarted_at_the_second_look(house: House) -> None:
    pipeline = running(house)
    house.connect.fail_task(pipeline.connector_name, NO_SECRETS)
    house.tick()
    assert restarts(house, pipeline) == 0
    assert observed(house, pipeline).state is ObservedState.DEGRADED
    house.tick()
    assert restarts(house, pipeline) == 1
    house.tick()
    assert observed(house, pipeline).state is ObservedState.RUNNING
    assert observed(house, pipeline).reasons == ()
    assert violations(house) == []


def test_a_restart_stands_in_the_audit_trail_as_something_headgate_did(house: House) -> None:
    pipeline = running(house)
    house.connect.fail_task(pipeline.connector_name, NO_SECRETS)
    house.tick()
    house.tick()
    (record,) = trail(house, pipeline, "pipeline.restart_failed")
    assert (record.actor_via, record.actor_id, record.outcome) == ("system", None, Outcome.SUCCESS)


def test_people_are_told_what_was_tried_and_when_the_next_try_is(house: House) -> None:
    pipeline = running(house)
    house.connect.fail_task(pipeline.connector_name, NO_SECRETS, restarts_in_vain=IN_VAIN)
    house.tick()
    first = observed(house, pipeline)
    house.tick()
    house.tick()
    seen = observed(house, pipeline)
    assert seen.state is first.state is ObservedState.DEGRADED
    assert seen.reasons[:-1] == first.reasons
    assert seen.reasons[-1] == "Headgate has tried to restart it once; next try at 2026-01-31T12:02:00.000Z."


def test_restarts_in_vain_come_at_growing_pauses_and_end(house: House) -> None:
    pipeline = running(house)
    house.connect.fail_task(pipeline.connector_name, NO_SECRETS, restarts_in_vain=IN_VAIN)
    house.tick()
    counted = []
    for _ in range(32):
        house.tick(after=60)
        counted.append(restarts(house, pipeline))
    assert [minute for minute in range(1, 32) if counted[minute] > counted[minute - 1]] == [1, 3, 7, 15, 31]
    for _ in range(20):
        house.tick(after=31 * 60)
    assert restarts(house, pipeline) == MOST_RESTARTS
    assert "does not try again" in observed(house, pipeline).reasons[-1]


def test_a_connector_that_has_run_for_a_while_is_restarted_at_once_again(house: House) -> None:
    pipeline = running(house)
    for _ in range(3):
        before = restarts(house, pipeline)
        house.connect.fail_task(pipeline.connector_name, NO_SECRETS)
        for _ in range(2):
            house.tick()
        assert restarts(house, pipeline) == before + 1
        for _ in range(2):
            house.tick(after=601)


def test_a_new_process_knows_what_was_tried(house: House) -> None:
    pipeline = running(house)
    house.connect.fail_task(pipeline.connector_name, NO_SECRETS, restarts_in_vain=IN_VAIN)
    house.tick()
    house.tick()
    for _ in range(5):
        house.restart()
        house.tick()
    assert restarts(house, pipeline) == 1
    house.restart()
    house.tick()
    assert restarts(house, pipeline) == 2


def test_a_refused_password_is_never_tried_again(house: House) -> None:
    pipeline = running(house)
    house.connect.fail_task(pipeline.connector_name, WRONG_PASSWORD)
    for seconds in (10, 10, 60, 600, 3600):
        house.tick(after=seconds)
    assert touches(house) == []
    assert "refuses the user name or password" in observed(house, pipeline).reasons[0]


def test_a_paused_connector_is_not_restarted(house: House) -> None:
    pipeline = running(house)
    house.services.pipelines.pause(house.call(), pipeline.id)
    for _ in range(3):
        house.tick()
    house.connect.calls.clear()
    house.connect.fail_task(pipeline.connector_name, NO_SECRETS)
    for seconds in (10, 10, 60, 600):
        house.tick(after=seconds)
    assert [path for _, path in touches(house) if path.endswith("/restart")] == []


def test_a_restart_that_hangs_is_given_another_one(house: House) -> None:
    pipeline = running(house)
    house.connect.show(pipeline.connector_name, "RESTARTING", task=0)
    for _ in range(6):
        glance(house)
    assert restarts(house, pipeline) == 0
    glance(house)
    assert restarts(house, pipeline) == 1
    house.tick()
    assert observed(house, pipeline).state is ObservedState.RUNNING


def test_somebody_who_pauses_between_the_look_and_the_deed_is_not_overruled(house: House) -> None:
    """The tick reads what is wanted at little cost, and once more before it acts."""
    pipeline = running(house)
    house.connect.fail_task(pipeline.connector_name, NO_SECRETS)
    house.tick()
    overtaken(house, lambda: house.services.pipelines.pause(house.call(), pipeline.id))
    assert [path for _, path in touches(house) if path.endswith("/restart")] == []
    assert house.services.pipelines.get(pipeline.id).desired_state is DesiredState.PAUSED


def test_two_ticks_at_the_same_moment_restart_once(house: House) -> None:
    pipeline = running(house)
    house.connect.fail_task(pipeline.connector_name, NO_SECRETS, restarts_in_vain=IN_VAIN)
    house.tick()
    one, other = house.services, house._new_process()
    overtaken(house, lambda: other.reconciler.tick(house.cluster.id, Deadline.after(25)))
    assert restarts(house, pipeline) == 1
    assert len(trail(house, pipeline, "pipeline.restart_failed")) == 1
    one.reconciler.tick(house.cluster.id, Deadline.after(25))
    assert restarts(house, pipeline) == 1


def test_nothing_is_done_at_workers_whose_registration_has_changed_since_the_look(house: House) -> None:
    pipeline = running(house)
    house.connect.drop(pipeline.connector_name)
    house.tick()
    overtaken(house, lambda: rename(house))
    assert touches(house) == []
    house.tick()
    assert violations(house) == []


# --- places


def test_a_connector_that_should_be_paused_and_was_stopped_by_hand_is_paused(house: House) -> None:
    pipeline = running(house)
    house.services.pipelines.pause(house.call(), pipeline.id)
    for _ in range(3):
        house.tick()
    by_hand(house, pipeline, "stop")
    house.tick()
    assert observed(house, pipeline).state is ObservedState.STOPPED
    house.tick()
    house.tick()
    assert observed(house, pipeline).state is ObservedState.PAUSED


# --- drift


def alter(house: House, pipeline: Pipeline, **changes: str) -> None:
    """Somebody gives the connector another config, past Headgate; two underscores for a dot."""
    changed = {key.replace("__", "."): value for key, value in changes.items()}
    by_hand(house, pipeline, "config", {**house.connect.config_of(pipeline.connector_name), **changed})


def test_a_config_that_somebody_else_changed_is_told_and_not_overwritten(house: House) -> None:
    pipeline = running(house)
    alter(house, pipeline, poll__interval__ms="1")
    changed = house.connect.config_of(pipeline.connector_name)
    house.tick(after=601)
    assert observed(house, pipeline).reasons == ()
    house.tick()
    assert (observed(house, pipeline).state, observed(house, pipeline).reasons) == (ObservedState.RUNNING, (DRIFTED,))
    for seconds in (10, 10, 601, 10, 601):
        house.tick(after=seconds)
    assert observed(house, pipeline).reasons == (DRIFTED,)
    assert house.connect.config_of(pipeline.connector_name) == changed
    assert touches(house) == []


def drifted(house: House) -> tuple[Pipeline, dict[str, str]]:
    """A pipeline whose connector was given another config, which has been told, and the config that was right."""
    pipeline = running(house)
    right = house.connect.config_of(pipeline.connector_name)
    alter(house, pipeline, poll__interval__ms="1")
    house.tick(after=601)
    house.tick()
    assert observed(house, pipeline).reasons == (DRIFTED,)
    return pipeline, right


def test_deploying_again_puts_back_what_somebody_else_changed(house: House) -> None:
    pipeline, right = drifted(house)
    house.services.pipelines.deploy(house.call(), pipeline.id)
    assert house.connect.config_of(pipeline.connector_name) == right
    for _ in range(3):
        house.tick()
    assert (observed(house, pipeline).state, observed(house, pipeline).reasons) == (ObservedState.RUNNING, ())


def test_a_config_that_was_put_right_again_is_not_told_of_any_more(house: House) -> None:
    pipeline, right = drifted(house)
    by_hand(house, pipeline, "config", right)
    house.tick(after=601)
    assert observed(house, pipeline).reasons == ()


def test_configs_are_asked_for_every_ten_minutes_in_the_same_call(house: House) -> None:
    running(house)
    house.tick(after=600)
    house.connect.calls.clear()
    for _ in range(120):
        house.tick()
    asked = [one.query for one in house.connect.calls.calls("GET", "^/connectors")]
    assert len(asked) == 120
    assert asked.count("expand=status&expand=info") == 2


def test_configs_are_not_compared_while_something_that_people_want_is_on_its_way(house: House) -> None:
    pipeline = running(house)
    house.clock.advance(601)
    house.services.pipelines.pause(house.call(), pipeline.id)
    house.connect.calls.clear()
    for _ in range(3):
        house.tick()
    asked = [one.query for one in house.connect.calls.calls("GET", "^/connectors$")]
    assert asked == ["expand=status", "expand=status", "expand=status&expand=info"]


def test_a_change_that_shows_is_looked_into_at_once(house: House) -> None:
    pipeline = running(house)
    house.tick(after=70)
    alter(house, pipeline, poll__interval__ms="1")
    house.connect.show(pipeline.connector_name, "UNASSIGNED")
    glance(house)
    house.connect.show(pipeline.connector_name, "RUNNING")
    house.tick()
    house.tick()
    assert DRIFTED in observed(house, pipeline).reasons


def test_an_answer_that_cannot_be_had_with_configs_is_had_without(house: House) -> None:
    pipeline = running(house)
    house.tick(after=601)
    house.clock.advance(590)
    house.connect.plant(Effect.GARBAGE, "GET", "/connectors$", times=1)
    house.tick()
    assert observed(house, pipeline).state is ObservedState.RUNNING
    house.connect.calls.clear()
    house.tick()
    assert [one.query for one in house.connect.calls.calls("GET", "^/connectors")] == ["expand=status"]


def test_operations_of_ours_are_no_drift(house: House) -> None:
    pipeline = running(house)
    delivery = house.services.deliveries.deploy(
        house.call(), house.destination().id, house.delivery_input(pipeline, "orders")
    )
    assert delivery
    for seconds in (10, 10, 10, 601, 10, 10):
        house.tick(after=seconds)
    house.services.deliveries.update_mappings(
        house.call(), delivery.id, house.delivery_input(pipeline, "orders2").mappings
    )
    for seconds in (10, 10, 10, 601, 10, 10):
        house.tick(after=seconds)
        shown = house.services.deliveries.get(delivery.id).observation
        assert shown
        assert shown.reasons == ()


# --- bugs of ours


def test_an_operation_that_a_bug_spoils_again_and_again_is_given_up(house: House) -> None:
    pipeline = house.pipeline()
    house.database.bug = RuntimeError("a bug")
    with pytest.raises(RuntimeError):
        house.services.pipelines.deploy(house.call(), pipeline.id)
    for _ in range(MOST_DEFECTS - 1):
        house.tick(after=31)
    assert house.services.pipelines.get(pipeline.id).open_operation
    house.tick(after=31)
    given_up = house.services.pipelines.get(pipeline.id)
    assert given_up.open_operation is None
    assert given_up.last_error
    assert given_up.last_error.code == "INTERNAL"
    house.database.bug = None
    assert recover(house) == []
    assert house.services.pipelines.deploy(house.call(), pipeline.id).desired_state is DesiredState.RUNNING
