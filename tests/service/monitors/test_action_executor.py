"""Carrying out actions: a bounded number of isolated steps, each only while what it was chosen for is still true."""

import pytest

from chalicelib.domain.cluster import ConnectCluster
from chalicelib.domain.connectors.cluster import Actions
from chalicelib.domain.connectors.memory import ClusterMemory, ConnectorMemory, DesiredConnector
from chalicelib.domain.connectors.step import Action
from chalicelib.domain.observation import DesiredState, Observation
from chalicelib.domain.pipeline import Pipeline
from chalicelib.kit.clock import Deadline
from chalicelib.services.monitors.action_executor import STEPS_PER_TICK, ActionExecutor
from infra.local.doubles.connect_faults import FaultEffect
from tests.faults.inspection import connector_writes, create_orphan
from tests.support.apps.in_process_app import InProcessApp


def carry_out(
    app: InProcessApp,
    actions: Actions,
    *pipelines: Pipeline,
    cluster: ConnectCluster | None = None,
    seconds: float = 20,
) -> None:
    """Carry out actions that were chosen when these pipelines should have run."""
    services = app.services
    connects = services.stores.resources.connects
    executor = ActionExecutor(connects=connects, owners=services.tick.owners, lifecycle=services.lifecycle)
    app.connect.calls.clear()
    executor.carry_out(cluster or app.cluster, actions, should_run(*pipelines), Deadline.after(seconds))


def should_run(*pipelines: Pipeline) -> ClusterMemory:
    """The memory of a tick after which these pipelines should run."""
    connectors = {
        pipeline.connector_name: ConnectorMemory(
            desired=DesiredConnector(
                resource_type="pipeline",
                resource_id=pipeline.id,
                desired_state=DesiredState.RUNNING,
                config_hash=pipeline.config_hash,
            )
        )
        for pipeline in pipelines
    }
    return ClusterMemory(connectors=connectors)


def test_no_action_needs_no_call(app: InProcessApp) -> None:
    cluster = app.cluster
    app.interceptor.watch()
    carry_out(app, {}, cluster=cluster)
    assert app.interceptor.unwatch() == []


def test_no_step_begins_after_the_deadline(app: InProcessApp) -> None:
    name = create_orphan(app)
    carry_out(app, {Action.DELETE: (name,)}, seconds=0)
    assert app.connect.names() == [name]


def test_the_number_of_steps_is_bounded(app: InProcessApp) -> None:
    names = tuple(create_orphan(app) for _ in range(STEPS_PER_TICK + 3))
    carry_out(app, {Action.DELETE: names})
    assert len(app.connect.names()) == 3


def test_a_step_that_fails_does_not_stop_the_others(app: InProcessApp) -> None:
    names = tuple(create_orphan(app) for _ in range(3))
    app.connect.plant(FaultEffect.NOT_READY, "GET", "/config$")
    carry_out(app, {Action.DELETE: names})
    assert len(app.connect.names()) == 1


def test_the_connector_of_a_deployed_resource_is_not_stopped_or_deleted(app: InProcessApp) -> None:
    name = app.deployed_pipeline().connector_name
    carry_out(app, {Action.STOP: (name,), Action.DELETE: (name,)})
    assert connector_writes(app) == []


def test_nothing_is_created_or_restarted_for_a_resource_that_was_deleted_since(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    app.services.pipelines.delete(app.context(), pipeline.id)
    carry_out(app, {Action.CREATE: (pipeline.connector_name,), Action.RESTART: (pipeline.connector_name,)}, pipeline)
    assert connector_writes(app) == []
    assert app.connect.names() == []


def test_a_connector_that_is_paused_since_is_not_resumed_or_restarted(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    app.services.pipelines.pause(app.context(), pipeline.id)
    carry_out(app, {Action.RESUME: (pipeline.connector_name,), Action.RESTART: (pipeline.connector_name,)}, pipeline)
    assert connector_writes(app) == []


def test_a_created_connector_gets_the_present_config_and_its_hash_is_stored(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    config = app.connect.config_of(pipeline.connector_name)
    app.connect.drop(pipeline.connector_name)
    carry_out(app, {Action.CREATE: (pipeline.connector_name,)}, pipeline)
    assert app.connect.config_of(pipeline.connector_name) == config
    assert app.services.stores.resources.pipelines.get(pipeline.id).config_hash == pipeline.config_hash
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
    carry_out(app, {Action.CREATE: (pipeline.connector_name,)}, pipeline)
    assert shown(app).state == state
    assert "did not list it" in shown(app).reasons[-1]


def test_a_connector_that_exists_after_all_and_cannot_be_read_is_unknown(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    app.connect.plant(FaultEffect.TIMED_OUT, "GET", "/status$", times=100)
    carry_out(app, {Action.CREATE: (pipeline.connector_name,)}, pipeline)
    assert shown(app).state == "UNKNOWN"
