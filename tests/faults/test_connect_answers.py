"""What people are told, and what comes of it, when Kafka Connect answers wrongly, late, or not at all."""

import pytest

from chalicelib.domain.names import OWNER_KEY
from chalicelib.domain.observation import DesiredState
from chalicelib.errors import Conflict, Unavailable
from chalicelib.kit.ids import new_id
from infra.local.doubles.connect_faults import Effect
from tests.faults.invariants import violations
from tests.faults.looking import code_of, touches
from tests.faults.scenario import recover
from tests.support.in_process_app import House

CREATE = ("POST", "/connectors$")


@pytest.mark.parametrize(
    ("effect", "times"),
    [
        (Effect.LOSE_REPLY, 1),
        (Effect.TIMED_OUT_APPLIED, 1),
        (Effect.REBALANCE, 2),
    ],
    ids=["lost", "500 and applied", "409 twice"],
)
def test_a_deploy_whose_answer_was_bad_ends_well_when_a_look_shows_the_connector(
    house: House, effect: Effect, times: int
) -> None:
    pipeline = house.pipeline()
    house.connect.plant(effect, *CREATE, times=times)
    done = house.services.pipelines.deploy(house.call(), pipeline.id)
    assert (done.desired_state, done.open_operation) == (DesiredState.RUNNING, None)
    house.connect.settle()
    assert violations(house) == []


@pytest.mark.parametrize(
    ("effect", "times"),
    [(Effect.TIMED_OUT, 1), (Effect.REBALANCE, 3), (Effect.GARBAGE, 1)],
    ids=["500", "409 for ever", "not JSON"],
)
def test_a_deploy_of_unknown_outcome_says_so_and_is_settled_by_the_reconciler(
    house: House, effect: Effect, times: int
) -> None:
    pipeline = house.pipeline()
    house.connect.plant(effect, *CREATE, times=times)
    told = house.services.pipelines.deploy(house.call(), pipeline.id)
    assert told.open_operation
    assert told.desired_state is DesiredState.DRAFT
    assert code_of(house, pipeline.id) == "OPERATION_IN_PROGRESS"
    assert recover(house) == []
    stored = house.services.pipelines.get(pipeline.id)
    assert (stored.desired_state, stored.open_operation) == (DesiredState.RUNNING, None)


def test_a_deploy_that_meets_a_web_servers_404_says_that_nothing_was_changed(house: House) -> None:
    pipeline = house.pipeline()
    house.connect.plant(Effect.NOT_READY, *CREATE)
    assert code_of(house, pipeline.id) == "CONNECT_UNAVAILABLE"
    assert house.connect.names() == []
    assert violations(house) == []
    assert code_of(house, pipeline.id) is None


def test_a_deploy_that_connect_never_answers_ends_within_its_time_as_unknown(house: House) -> None:
    pipeline = house.pipeline()
    silence = house.connect.plant(Effect.HANG, *CREATE)
    told = house.services.pipelines.deploy(house.call(seconds=1.5), pipeline.id)
    assert told.open_operation
    silence.release()
    assert recover(house) == []
    assert house.services.pipelines.get(pipeline.id).desired_state is DesiredState.RUNNING


def test_connect_down_before_a_deploy_leaves_nothing_half_made(house: House) -> None:
    pipeline = house.pipeline()
    house.connect.refuse()
    try:
        assert code_of(house, pipeline.id) == "CONNECT_UNAVAILABLE"
        stored = house.services.pipelines.get(pipeline.id)
        assert (stored.desired_state, stored.open_operation) == (DesiredState.DRAFT, None)
        assert stored.last_error
        assert stored.last_error.code == "CONNECT_UNAVAILABLE"
        assert violations(house) == []
    finally:
        house.connect.accept()
    assert code_of(house, pipeline.id) is None
    house.connect.settle()
    assert violations(house) == []


def test_connect_down_before_a_delivery_leaves_no_association_and_no_claim(house: House) -> None:
    pipeline, destination = house.deployed_pipeline(), house.destination()
    given = house.delivery_input(pipeline)
    house.connect.refuse()
    try:
        with pytest.raises(Unavailable):
            house.services.deliveries.deploy(house.call(), destination.id, given)
    finally:
        house.connect.accept()
    assert house.tables.rows("deliveries") == []
    assert violations(house) == []
    assert house.services.deliveries.deploy(house.call(), destination.id, given).open_operation is None


def test_a_delivery_that_is_asked_for_again_while_its_outcome_is_unknown_is_still_in_progress(house: House) -> None:
    pipeline, destination, key = house.deployed_pipeline(), house.destination(), new_id()
    given = house.delivery_input(pipeline)
    house.connect.plant(Effect.TIMED_OUT, *CREATE)
    deploy = house.services.deliveries.deploy
    assert deploy(house.call(key=key), destination.id, given).open_operation
    with pytest.raises(Conflict) as refused:
        deploy(house.call(key=key), destination.id, given)
    assert refused.value.code == "OPERATION_IN_PROGRESS"
    assert recover(house) == []
    assert deploy(house.call(key=key), destination.id, given).id == key


def test_a_database_that_is_down_fails_the_deploy_and_leaves_the_draft(house: House) -> None:
    pipeline = house.pipeline()
    house.database.reachable = False
    assert code_of(house, pipeline.id) == "SOURCE_NOT_READY"
    assert house.connect.names() == []
    assert violations(house) == []
    house.database.reachable = True
    assert code_of(house, pipeline.id) is None


def test_the_database_is_not_asked_again_for_a_connector_that_is_there_already(house: House) -> None:
    """Rolling forward looks first: what an earlier attempt has made is not refused for what has changed since."""
    pipeline = house.pipeline()
    house.connect.plant(Effect.LOSE_REPLY, *CREATE)
    house.connect.plant(Effect.NOT_READY, "GET", "/config$", skip=1)
    assert house.services.pipelines.deploy(house.call(), pipeline.id).open_operation
    house.database.reachable = False
    assert recover(house) == []
    assert house.services.pipelines.get(pipeline.id).desired_state is DesiredState.RUNNING


# --- a foreign connector of our name --------------------------------------------------------------------------------


def a_foreign_connector(house: House, name: str, **more: str) -> dict[str, str]:
    """Somebody else's connector; its config."""
    house.connect.preload([name], config={"file": "theirs", **more})
    return house.connect.config_of(name)


def test_a_foreign_connector_of_the_same_name_is_never_touched(house: House) -> None:
    pipeline = house.pipeline()
    theirs = a_foreign_connector(house, pipeline.connector_name)
    assert code_of(house, pipeline.id) == "CONNECTOR_NAME_CONFLICT"
    assert house.services.pipelines.get(pipeline.id).desired_state is DesiredState.DRAFT
    for seconds in (31, 10, 100, 10, 700, 10, 10):
        house.tick(after=seconds)
    assert house.services.pipelines.delete(house.call(), pipeline.id) is None
    for seconds in (31, 10, 100, 10, 700, 10, 10):
        house.tick(after=seconds)
    assert house.connect.config_of(pipeline.connector_name) == theirs
    assert touches(house) == []


@pytest.mark.parametrize("verb", ["pause", "resume", "restart"])
def test_a_foreign_connector_that_took_the_place_of_ours_is_not_steered(house: House, verb: str) -> None:
    pipeline = house.deployed_pipeline()
    house.connect.drop(pipeline.connector_name)
    theirs = a_foreign_connector(house, pipeline.connector_name, **{OWNER_KEY: "somebody else"})
    house.connect.calls.clear()
    with pytest.raises(Conflict) as refused:
        getattr(house.services.pipelines, verb)(house.call(), pipeline.id)
    assert refused.value.code == "CONNECTOR_NAME_CONFLICT"
    for seconds in (31, 10, 10, 100, 700):
        house.tick(after=seconds)
    house.services.pipelines.delete(house.call(), pipeline.id)
    assert house.connect.config_of(pipeline.connector_name) == theirs
    assert touches(house) == []


def test_a_tick_does_not_resume_what_is_not_ours(house: House) -> None:
    pipeline = house.deployed_pipeline()
    house.connect.drop(pipeline.connector_name)
    house.connect.preload([pipeline.connector_name], state="PAUSED")
    house.connect.calls.clear()
    for _ in range(5):
        house.tick()
    assert touches(house) == []
