"""What people are told, and what comes of it, when Kafka Connect answers wrongly, late, or not at all."""

import pytest

from chalicelib.domain.names import OWNER_KEY
from chalicelib.domain.observation import DesiredState
from chalicelib.errors import Conflict, Unavailable
from chalicelib.kit.ids import new_id
from infra.local.doubles.connect_faults import FaultEffect
from tests.faults.invariants import violations
from tests.faults.looking import code_of, touches
from tests.faults.scenario import recover
from tests.support.in_process_app import InProcessApp

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
def test_a_deploy_whose_answer_was_bad_ends_well_when_a_look_shows_the_connector(
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
    ids=["500", "409 for ever", "not JSON"],
)
def test_a_deploy_of_unknown_outcome_says_so_and_is_settled_by_the_reconciler(
    app: InProcessApp, effect: FaultEffect, times: int
) -> None:
    pipeline = app.pipeline()
    app.connect.plant(effect, *CREATE, times=times)
    told = app.services.pipelines.deploy(app.context(), pipeline.id)
    assert told.open_operation
    assert told.desired_state is DesiredState.DRAFT
    assert code_of(app, pipeline.id) == "OPERATION_IN_PROGRESS"
    assert recover(app) == []
    stored = app.services.pipelines.get(pipeline.id)
    assert (stored.desired_state, stored.open_operation) == (DesiredState.RUNNING, None)


def test_a_deploy_that_meets_a_web_servers_404_says_that_nothing_was_changed(app: InProcessApp) -> None:
    pipeline = app.pipeline()
    app.connect.plant(FaultEffect.NOT_READY, *CREATE)
    assert code_of(app, pipeline.id) == "CONNECT_UNAVAILABLE"
    assert app.connect.names() == []
    assert violations(app) == []
    assert code_of(app, pipeline.id) is None


def test_a_deploy_that_connect_never_answers_ends_within_its_time_as_unknown(app: InProcessApp) -> None:
    pipeline = app.pipeline()
    silence = app.connect.plant(FaultEffect.HANG, *CREATE)
    told = app.services.pipelines.deploy(app.context(seconds=1.5), pipeline.id)
    assert told.open_operation
    silence.release()
    assert recover(app) == []
    assert app.services.pipelines.get(pipeline.id).desired_state is DesiredState.RUNNING


def test_connect_down_before_a_deploy_leaves_nothing_half_made(app: InProcessApp) -> None:
    pipeline = app.pipeline()
    app.connect.refuse()
    try:
        assert code_of(app, pipeline.id) == "CONNECT_UNAVAILABLE"
        stored = app.services.pipelines.get(pipeline.id)
        assert (stored.desired_state, stored.open_operation) == (DesiredState.DRAFT, None)
        assert stored.last_error
        assert stored.last_error.code == "CONNECT_UNAVAILABLE"
        assert violations(app) == []
    finally:
        app.connect.accept()
    assert code_of(app, pipeline.id) is None
    app.connect.settle()
    assert violations(app) == []


def test_connect_down_before_a_delivery_leaves_no_association_and_no_claim(app: InProcessApp) -> None:
    pipeline, destination = app.deployed_pipeline(), app.destination()
    given = app.delivery_input(pipeline)
    app.connect.refuse()
    try:
        with pytest.raises(Unavailable):
            app.services.deliveries.deploy(app.context(), destination.id, given)
    finally:
        app.connect.accept()
    assert app.tables.rows("deliveries") == []
    assert violations(app) == []
    assert app.services.deliveries.deploy(app.context(), destination.id, given).open_operation is None


def test_a_delivery_that_is_asked_for_again_while_its_outcome_is_unknown_is_still_in_progress(
    app: InProcessApp,
) -> None:
    pipeline, destination, key = app.deployed_pipeline(), app.destination(), new_id()
    given = app.delivery_input(pipeline)
    app.connect.plant(FaultEffect.TIMED_OUT, *CREATE)
    deploy = app.services.deliveries.deploy
    assert deploy(app.context(key=key), destination.id, given).open_operation
    with pytest.raises(Conflict) as refused:
        deploy(app.context(key=key), destination.id, given)
    assert refused.value.code == "OPERATION_IN_PROGRESS"
    assert recover(app) == []
    assert deploy(app.context(key=key), destination.id, given).id == key


def test_a_database_that_is_down_fails_the_deploy_and_leaves_the_draft(app: InProcessApp) -> None:
    pipeline = app.pipeline()
    app.database.reachable = False
    assert code_of(app, pipeline.id) == "SOURCE_NOT_READY"
    assert app.connect.names() == []
    assert violations(app) == []
    app.database.reachable = True
    assert code_of(app, pipeline.id) is None


def test_the_database_is_not_asked_again_for_a_connector_that_is_there_already(app: InProcessApp) -> None:
    """Rolling forward looks first: what an earlier attempt has made is not refused for what has changed since."""
    pipeline = app.pipeline()
    app.connect.plant(FaultEffect.LOSE_REPLY, *CREATE)
    app.connect.plant(FaultEffect.NOT_READY, "GET", "/config$", skip=1)
    assert app.services.pipelines.deploy(app.context(), pipeline.id).open_operation
    app.database.reachable = False
    assert recover(app) == []
    assert app.services.pipelines.get(pipeline.id).desired_state is DesiredState.RUNNING


# --- a foreign connector of our name --------------------------------------------------------------------------------


def a_foreign_connector(app: InProcessApp, name: str, **more: str) -> dict[str, str]:
    """Somebody else's connector; its config."""
    app.connect.preload([name], config={"file": "theirs", **more})
    return app.connect.config_of(name)


def test_a_foreign_connector_of_the_same_name_is_never_touched(app: InProcessApp) -> None:
    pipeline = app.pipeline()
    theirs = a_foreign_connector(app, pipeline.connector_name)
    assert code_of(app, pipeline.id) == "CONNECTOR_NAME_CONFLICT"
    assert app.services.pipelines.get(pipeline.id).desired_state is DesiredState.DRAFT
    for seconds in (31, 10, 100, 10, 700, 10, 10):
        app.tick(after=seconds)
    assert app.services.pipelines.delete(app.context(), pipeline.id) is None
    for seconds in (31, 10, 100, 10, 700, 10, 10):
        app.tick(after=seconds)
    assert app.connect.config_of(pipeline.connector_name) == theirs
    assert touches(app) == []


@pytest.mark.parametrize("verb", ["pause", "resume", "restart"])
def test_a_foreign_connector_that_took_the_place_of_ours_is_not_steered(app: InProcessApp, verb: str) -> None:
    pipeline = app.deployed_pipeline()
    app.connect.drop(pipeline.connector_name)
    theirs = a_foreign_connector(app, pipeline.connector_name, **{OWNER_KEY: "somebody else"})
    app.connect.calls.clear()
    with pytest.raises(Conflict) as refused:
        getattr(app.services.pipelines, verb)(app.context(), pipeline.id)
    assert refused.value.code == "CONNECTOR_NAME_CONFLICT"
    for seconds in (31, 10, 10, 100, 700):
        app.tick(after=seconds)
    app.services.pipelines.delete(app.context(), pipeline.id)
    assert app.connect.config_of(pipeline.connector_name) == theirs
    assert touches(app) == []


def test_a_tick_does_not_resume_what_is_not_ours(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    app.connect.drop(pipeline.connector_name)
    app.connect.preload([pipeline.connector_name], state="PAUSED")
    app.connect.calls.clear()
    for _ in range(5):
        app.tick()
    assert touches(app) == []
