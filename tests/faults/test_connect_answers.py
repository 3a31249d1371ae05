"""What Headgate answers, and what it does, when Kafka Connect answers wrongly, late, or not at all."""

import pytest

from chalicelib.domain.names import OWNER_KEY
from chalicelib.domain.observation import DesiredState
from chalicelib.errors import Conflict, Unavailable
from chalicelib.kit.ids import new_id
from infra.local.doubles.connect_faults import FaultEffect
from tests.faults.fault_runs import recover
from tests.faults.inspection import connector_writes, deploy_error_code
from tests.faults.invariants import violations
from tests.support.apps.in_process_app import InProcessApp

CREATE = ("POST", "/connectors$")


@pytest.mark.parametrize(
    ("effect", "times"),
    [
        (FaultEffect.LOSE_REPLY, 1),
        (FaultEffect.TIMED_OUT_APPLIED, 1),
        (FaultEffect.REBALANCE, 2),
    ],
    ids=["lost", "500 and applied", "409 twice"],
)
def test_a_deploy_with_a_bad_answer_succeeds_when_the_connector_is_found_afterwards(
    app: InProcessApp, effect: FaultEffect, times: int
) -> None:
    pipeline = app.pipeline()
    app.connect.plant(effect, *CREATE, times=times)
    done = app.services.pipelines.deploy(app.context(), pipeline.id)
    assert (done.desired_state, done.open_operation) == (DesiredState.RUNNING, None)
    app.connect.settle()
    assert violations(app) == []


@pytest.mark.parametrize(
    ("effect", "times"),
    [(FaultEffect.TIMED_OUT, 1), (FaultEffect.REBALANCE, 3), (FaultEffect.GARBAGE, 1)],
    ids=["500", "409 always", "not JSON"],
)
def test_a_deploy_with_an_unknown_outcome_stays_open_and_is_settled_by_a_tick(
    app: InProcessApp, effect: FaultEffect, times: int
) -> None:
    pipeline = app.pipeline()
    app.connect.plant(effect, *CREATE, times=times)
    deployed = app.services.pipelines.deploy(app.context(), pipeline.id)
    assert deployed.open_operation
    assert deployed.desired_state is DesiredState.DRAFT
    assert deploy_error_code(app, pipeline.id) == "OPERATION_IN_PROGRESS"
    assert recover(app) == []
    stored = app.services.pipelines.get(pipeline.id)
    assert (stored.desired_state, stored.open_operation) == (DesiredState.RUNNING, None)


def test_a_deploy_that_gets_a_404_of_a_web_server_fails_without_a_change(app: InProcessApp) -> None:
    pipeline = app.pipeline()
    app.connect.plant(FaultEffect.NOT_READY, *CREATE)
    assert deploy_error_code(app, pipeline.id) == "CONNECT_UNAVAILABLE"
    assert app.connect.names() == []
    assert violations(app) == []
    assert deploy_error_code(app, pipeline.id) is None


def test_a_deploy_that_connect_never_answers_ends_at_its_deadline_with_an_unknown_outcome(app: InProcessApp) -> None:
    pipeline = app.pipeline()
    silence = app.connect.plant(FaultEffect.HANG, *CREATE)
    deployed = app.services.pipelines.deploy(app.context(seconds=5), pipeline.id)
    assert deployed.open_operation
    silence.release()
    assert recover(app) == []
    assert app.services.pipelines.get(pipeline.id).desired_state is DesiredState.RUNNING


def test_a_deploy_while_connect_is_down_leaves_a_draft(app: InProcessApp) -> None:
    pipeline = app.pipeline()
    with app.connect_down():
        assert deploy_error_code(app, pipeline.id) == "CONNECT_UNAVAILABLE"
        stored = app.services.pipelines.get(pipeline.id)
        assert (stored.desired_state, stored.open_operation) == (DesiredState.DRAFT, None)
        assert stored.last_error.code == "CONNECT_UNAVAILABLE"
        assert violations(app) == []
    assert deploy_error_code(app, pipeline.id) is None
    app.connect.settle()
    assert violations(app) == []


def test_a_delivery_while_connect_is_down_leaves_no_row_and_no_claim(app: InProcessApp) -> None:
    pipeline, destination = app.deployed_pipeline(), app.destination()
    data = app.delivery_input(pipeline)
    with app.connect_down(), pytest.raises(Unavailable):
        app.services.deliveries.deploy(app.context(), destination.id, data)
    assert app.tables.rows("deliveries") == []
    assert violations(app) == []
    assert app.services.deliveries.deploy(app.context(), destination.id, data).open_operation is None


def test_a_repeated_deploy_of_a_delivery_with_an_unknown_outcome_is_in_progress(
    app: InProcessApp,
) -> None:
    pipeline, destination, key = app.deployed_pipeline(), app.destination(), new_id()
    data = app.delivery_input(pipeline)
    app.connect.plant(FaultEffect.TIMED_OUT, *CREATE)
    deploy = app.services.deliveries.deploy
    assert deploy(app.context(key=key), destination.id, data).open_operation
    with pytest.raises(Conflict) as refused:
        deploy(app.context(key=key), destination.id, data)
    assert refused.value.code == "OPERATION_IN_PROGRESS"
    assert recover(app) == []
    assert deploy(app.context(key=key), destination.id, data).id == key


def test_a_deploy_fails_and_leaves_the_draft_when_the_database_is_down(app: InProcessApp) -> None:
    pipeline = app.pipeline()
    app.database.reachable = False
    assert deploy_error_code(app, pipeline.id) == "SOURCE_NOT_READY"
    assert app.connect.names() == []
    assert violations(app) == []
    app.database.reachable = True
    assert deploy_error_code(app, pipeline.id) is None


def test_the_database_is_not_checked_again_when_the_connector_already_exists(app: InProcessApp) -> None:
    """Rolling forward first adopts what an earlier attempt has created, whatever has changed since."""
    pipeline = app.pipeline()
    app.connect.plant(FaultEffect.LOSE_REPLY, *CREATE)
    app.connect.plant(FaultEffect.NOT_READY, "GET", "/config$", skip=1)
    assert app.services.pipelines.deploy(app.context(), pipeline.id).open_operation
    app.database.reachable = False
    assert recover(app) == []
    assert app.services.pipelines.get(pipeline.id).desired_state is DesiredState.RUNNING


# --- a foreign connector of our name --------------------------------------------------------------------------------


def foreign_connector(app: InProcessApp, name: str, **more: str) -> dict[str, str]:
    """Create a connector without our marker; returns its config."""
    app.connect.preload([name], config={"file": "theirs", **more})
    return app.connect.config_of(name)


def test_a_foreign_connector_of_the_same_name_is_never_touched(app: InProcessApp) -> None:
    pipeline = app.pipeline()
    theirs = foreign_connector(app, pipeline.connector_name)
    assert deploy_error_code(app, pipeline.id) == "CONNECTOR_NAME_CONFLICT"
    assert app.services.pipelines.get(pipeline.id).desired_state is DesiredState.DRAFT
    app.ticks(31, 10, 100, 10, 700, 10, 10)
    assert app.services.pipelines.delete(app.context(), pipeline.id) is None
    app.ticks(31, 10, 100, 10, 700, 10, 10)
    assert app.connect.config_of(pipeline.connector_name) == theirs
    assert connector_writes(app) == []


@pytest.mark.parametrize("verb", ["pause", "resume", "restart"])
def test_a_foreign_connector_that_has_replaced_ours_is_not_controlled(app: InProcessApp, verb: str) -> None:
    pipeline = app.deployed_pipeline()
    app.connect.drop(pipeline.connector_name)
    theirs = foreign_connector(app, pipeline.connector_name, **{OWNER_KEY: "another owner"})
    app.connect.calls.clear()
    with pytest.raises(Conflict) as refused:
        getattr(app.services.pipelines, verb)(app.context(), pipeline.id)
    assert refused.value.code == "CONNECTOR_NAME_CONFLICT"
    app.ticks(31, 10, 10, 100, 700)
    app.services.pipelines.delete(app.context(), pipeline.id)
    assert app.connect.config_of(pipeline.connector_name) == theirs
    assert connector_writes(app) == []


def test_a_tick_does_not_resume_a_foreign_connector(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    app.connect.drop(pipeline.connector_name)
    app.connect.preload([pipeline.connector_name], state="PAUSED")
    app.connect.calls.clear()
    app.tick(times=5)
    assert connector_writes(app) == []
