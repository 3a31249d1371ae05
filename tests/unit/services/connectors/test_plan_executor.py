"""Carrying out plans: a bounded number of isolated steps, each only for what is still as the plan assumes."""

import json
from collections.abc import Mapping

import pytest

from chalicelib.domain.cluster import ConnectCluster
from chalicelib.domain.observation import DesiredState, Observation
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.reconcile.plan import Plan
from chalicelib.domain.reconcile.snapshot import DesiredConnector
from chalicelib.errors import Unavailable
from chalicelib.kit.clock import Deadline
from chalicelib.services.connectors.plan_executor import (
    STEP_SECONDS,
    STEPS_PER_TICK,
    PlanExecutor,
    isolated,
    shuffled,
    within,
)
from infra.local.doubles.connect_faults import FaultEffect
from tests.faults.inspection import connector_writes, create_orphan
from tests.support.edge import logged
from tests.support.in_process_app import InProcessApp


def carry_out(
    app: InProcessApp,
    plan: Plan,
    *pipelines: Pipeline,
    cluster: ConnectCluster | None = None,
    seconds: float = 20,
) -> None:
    """Carry out a plan, made when these pipelines should have run."""
    services = app.services
    executor = PlanExecutor(
        connects=services.stores.connects,
        owners=services.tick.owners,
        lifecycle=services.lifecycle,
        clients=services.clients,
    )
    app.connect.calls.clear()
    executor.carry_out(cluster or app.cluster, plan, desired(*pipelines), Deadline.after(seconds))


def desired(*pipelines: Pipeline) -> Mapping[str, DesiredConnector]:
    return {
        one.connector_name: DesiredConnector(
            resource_type="pipeline",
            resource_id=one.id,
            desired_state=DesiredState.RUNNING,
            config_hash=one.config_hash,
        )
        for one in pipelines
    }


def test_an_idle_plan_needs_no_call(app: InProcessApp) -> None:
    cluster = app.cluster
    app.interceptor.watch()
    carry_out(app, Plan(), cluster=cluster)
    assert app.interceptor.unwatch() == []


def test_no_step_begins_after_the_deadline(app: InProcessApp) -> None:
    name = create_orphan(app)
    carry_out(app, Plan(delete=(name,)), seconds=0)
    assert app.connect.names() == [name]


def test_the_number_of_steps_is_bounded(app: InProcessApp) -> None:
    names = tuple(create_orphan(app) for _ in range(STEPS_PER_TICK + 3))
    carry_out(app, Plan(delete=names))
    assert len(app.connect.names()) == 3


def test_a_step_that_fails_does_not_stop_the_others(app: InProcessApp) -> None:
    names = tuple(create_orphan(app) for _ in range(3))
    app.connect.plant(FaultEffect.NOT_READY, "GET", "/config$")
    carry_out(app, Plan(delete=names))
    assert len(app.connect.names()) == 1


def test_the_connector_of_a_deployed_resource_is_not_stopped_or_deleted(app: InProcessApp) -> None:
    name = app.deployed_pipeline().connector_name
    carry_out(app, Plan(stop=(name,), delete=(name,)))
    assert connector_writes(app) == []


def test_nothing_is_created_or_restarted_for_a_resource_that_was_deleted_since(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    app.services.pipelines.delete(app.context(), pipeline.id)
    carry_out(app, Plan(create=(pipeline.connector_name,), restart=(pipeline.connector_name,)), pipeline)
    assert connector_writes(app) == []
    assert app.connect.names() == []


def test_a_connector_that_is_paused_since_is_not_resumed_or_restarted(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    app.services.pipelines.pause(app.context(), pipeline.id)
    carry_out(app, Plan(resume=(pipeline.connector_name,), restart=(pipeline.connector_name,)), pipeline)
    assert connector_writes(app) == []


def test_a_created_connector_gets_the_present_config_and_its_hash_is_stored(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    config = app.connect.config_of(pipeline.connector_name)
    app.connect.drop(pipeline.connector_name)
    carry_out(app, Plan(create=(pipeline.connector_name,)), pipeline)
    assert app.connect.config_of(pipeline.connector_name) == config
    assert app.services.stores.pipelines.get(pipeline.id).config_hash == pipeline.config_hash
    assert (shown(app).state, shown(app).reasons) == ("STOPPED", ("It was just created.",))


def shown(app: InProcessApp) -> Observation:
    """What the list says about the only pipeline."""
    (listed,) = app.services.pipelines.list(limit=10, after=None).items
    assert listed.observation
    return listed.observation


@pytest.mark.parametrize("state", ["RUNNING", "FAILED"])
def test_a_connector_that_exists_after_all_is_shown_as_it_is(app: InProcessApp, state: str) -> None:
    pipeline = app.deployed_pipeline()
    app.tick()
    app.connect.show(pipeline.connector_name, state)
    carry_out(app, Plan(create=(pipeline.connector_name,)), pipeline)
    assert shown(app).state == state
    assert "did not list it" in shown(app).reasons[-1]


def test_a_connector_that_exists_after_all_and_cannot_be_read_is_unknown(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    app.connect.plant(FaultEffect.TIMED_OUT, "GET", "/status$", times=100)
    carry_out(app, Plan(create=(pipeline.connector_name,)), pipeline)
    assert shown(app).state == "UNKNOWN"


def test_an_unexpected_error_is_logged_without_its_message_and_an_error_of_ours_is_not() -> None:
    with logged() as lines:
        with isolated():
            raise Unavailable("Kafka Connect cannot be reached.")
        with isolated():
            raise RuntimeError("hunter2")
    (line,) = [json.loads(one) for one in lines.getvalue().splitlines()]
    assert line["message"] == "a step of the tick failed"
    assert "RuntimeError" in json.dumps(line)
    assert "hunter2" not in json.dumps(line)


@pytest.mark.parametrize(("left", "step"), [(STEP_SECONDS + 40, STEP_SECONDS), (5, 5)])
def test_a_step_has_the_rest_of_the_deadline_up_to_a_bound(left: float, step: float) -> None:
    assert within(Deadline.after(left)).remaining() == pytest.approx(step, abs=1)


def test_shuffling_keeps_all_items() -> None:
    assert sorted(shuffled(range(50))) == list(range(50))
