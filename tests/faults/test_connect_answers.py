"""What people are told, and what comes of it, when Kafka Connect answers wrongly, late, or not at all."""

import pytest

from chalicelib.clients.connect import Connect
from chalicelib.domain.names import OWNER_KEY, ConnectorKind, connector_name, owner_marker
from chalicelib.domain.observation import DesiredState, ObservedState
from chalicelib.errors import Conflict, HeadgateError, Unavailable
from chalicelib.kit.ids import new_id
from infra.local.doubles.connect_faults import Effect
from infra.local.doubles.connect_plugins import POSTGRES_SOURCE
from tests.faults.invariants import violations
from tests.faults.scenario import recover
from tests.support.house import House

CREATE = ("POST", "/connectors$")
WRITES = ("POST", "PUT", "DELETE")


def touches(house: House) -> list[tuple[str, str]]:
    """Every call that could change a connector."""
    calls = [one for method in WRITES for one in house.connect.calls.calls(method, "^/connectors")]
    return [(one.method, one.path) for one in calls]


def code_of(house: House, pipeline_id: str) -> str | None:
    """The code with which a deploy is refused; None when it is not."""
    try:
        house.services.pipelines.deploy(house.call(), pipeline_id)
    except HeadgateError as error:
        return error.code
    return None


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


# --- ticks ----------------------------------------------------------------------------------------------------------


def test_a_tick_that_cannot_read_connect_says_so_and_does_nothing(house: House) -> None:
    pipeline, other = house.deployed_pipeline(), house.deployed_pipeline()
    house.tick()
    house.connect.drop(other.connector_name)
    a_stranger(house)
    house.connect.calls.clear()
    for effect in (Effect.NOT_READY, Effect.GARBAGE, Effect.TIMED_OUT):
        house.connect.plant(effect, times=200)
        for seconds in (10, 10, 100, 700):
            house.tick(after=seconds)
        house.connect.faults.clear()
        seen = house.services.pipelines.get(pipeline.id).observation
        assert seen
        assert seen.state is ObservedState.UNKNOWN
        assert seen.reasons
        assert seen.observed_at == house.clock.now
    assert touches(house) == []


def test_a_tick_says_unknown_while_connect_is_down_and_running_again_when_it_is_back(house: House) -> None:
    pipeline = house.deployed_pipeline()
    house.tick()
    house.connect.refuse()
    try:
        house.tick()
        down = house.services.pipelines.get(pipeline.id).observation
    finally:
        house.connect.accept()
    assert down
    assert (down.state, down.reasons) == (
        ObservedState.UNKNOWN,
        ("Kafka Connect cannot be reached. Check its address and whether its workers run.",),
    )
    house.tick()
    back = house.services.pipelines.get(pipeline.id).observation
    assert back
    assert back.state is ObservedState.RUNNING


def test_an_equal_config_is_never_written_again(house: House) -> None:
    """Each write of a config restarts a connector."""
    pipeline = house.deployed_pipeline()
    house.services.deliveries.deploy(house.call(), house.destination().id, house.delivery_input(pipeline))
    starts = house.connect.starts(pipeline.connector_name)
    house.connect.calls.clear()
    for seconds in [10] * 30 + [700] * 3:
        house.tick(after=seconds)
    assert touches(house) == []
    assert house.connect.starts(pipeline.connector_name) == starts
    assert set(house.connect.calls.by_kind()) == {("GET", "/connectors")}


def test_a_connector_that_was_deleted_by_hand_is_made_again_after_a_second_look(house: House) -> None:
    pipeline = house.deployed_pipeline()
    house.tick()
    house.tick()
    house.connect.drop(pipeline.connector_name)
    house.tick()
    assert house.connect.names() == []
    house.tick()
    assert violations(house) == []


def test_a_paused_pipelines_connector_is_made_again_without_running(house: House) -> None:
    pipeline = house.deployed_pipeline()
    house.services.pipelines.pause(house.call(), pipeline.id)
    house.connect.drop(pipeline.connector_name)
    for _ in range(6):
        house.tick()
    assert violations(house) == []
    assert house.connect.starts(pipeline.connector_name) == 0


# --- strangers: ours by name and marker, wanted by nobody -----------------------------------------------------------


def a_stranger(house: House, *, marked: bool = True, remembered: bool = True) -> str:
    """A connector of our name for a resource that does not exist any more. Its name.

    `marked`: with our marker; `remembered`: the audit trail speaks of the resource.
    """
    resource_id = new_id()
    name = connector_name(ConnectorKind.SOURCE, resource_id)
    marker = {OWNER_KEY: owner_marker(ConnectorKind.SOURCE, resource_id)} if marked else {}
    house.connect.preload([name], config=marker)
    if remembered:
        house.services.audit.record_alone(house.call(), "pipeline.delete", resource_id)
    return name


def test_a_stranger_is_stopped_after_ninety_seconds_and_deleted_after_ten_minutes(house: House) -> None:
    name = a_stranger(house)
    house.tick()
    house.tick(after=89)
    assert touches(house) == []
    house.tick(after=1)
    assert touches(house) == [("PUT", f"/connectors/{name}/stop")]
    house.tick(after=509)
    assert house.connect.names() == [name]
    house.tick(after=1)
    assert house.connect.names() == []


def test_one_tick_deletes_two_percent_of_a_cluster_at_the_most(house: House) -> None:
    for _ in range(149):
        a_stranger(house)
    house.tick()
    house.tick(after=650)
    left = [len(house.connect.names())]
    for _ in range(3):
        house.tick()
        left.append(len(house.connect.names()))
    deleted = [before - after for before, after in zip([149, *left], left, strict=False)]
    assert all(count <= 2 for count in deleted)
    assert sum(deleted) > 0


def test_of_a_small_cluster_one_tick_deletes_one(house: House) -> None:
    names = {a_stranger(house) for _ in range(3)}
    house.tick()
    house.tick(after=650)
    for left in (1, 0):
        house.tick()
        assert len(names & set(house.connect.names())) == left


def test_what_carries_our_name_and_not_our_marker_is_never_touched_and_keeps_nothing_else_alive(house: House) -> None:
    foreign = {a_stranger(house, marked=False) for _ in range(15)}
    stranger = a_stranger(house)
    for seconds in (10, 100, 700):
        house.tick(after=seconds)
    for _ in range(300):
        if stranger not in house.connect.names():
            break
        house.tick()
    assert set(house.connect.names()) == foreign
    assert {path.split("/")[2] for _, path in touches(house)} == {stranger}


def test_the_connectors_of_another_installation_on_the_same_workers_are_left_alone(house: House) -> None:
    name = a_stranger(house, remembered=False)
    for seconds in (10, 100, 700, 10, 10):
        house.tick(after=seconds)
    assert house.connect.names() == [name]
    assert touches(house) == []


def test_workers_that_are_registered_twice_are_not_strangers_to_themselves(house: House) -> None:
    assert house.register_connect(f"{house.connect.url}/").id != house.register_connect(house.connect.url).id
    pipeline = house.deployed_pipeline()
    house.connect.calls.clear()
    for cluster in house.services.connect_clusters.list(limit=9, after=None).items:
        for seconds in (10, 100, 700, 10, 10):
            house.tick(cluster, after=seconds)
    assert house.connect.names() == [pipeline.connector_name]
    assert touches(house) == []


def test_a_marker_of_another_resource_does_not_make_it_ours(house: House) -> None:
    name = connector_name(ConnectorKind.SINK, new_id())
    house.connect.preload([name], config={OWNER_KEY: owner_marker(ConnectorKind.SINK, new_id())})
    for seconds in (10, 100, 700, 10, 10):
        house.tick(after=seconds)
    assert house.connect.names() == [name]
    assert touches(house) == []


def test_connectors_of_other_names_are_not_even_seen(house: House) -> None:
    house.connect.preload(["orders-source", "headgate-test"], config={OWNER_KEY: "source/1"})
    for seconds in (10, 100, 700, 10):
        house.tick(after=seconds)
    assert touches(house) == []
    assert sorted(house.connect.names()) == ["headgate-test", "orders-source"]


def test_the_leftover_of_a_failed_deploy_goes_away_by_itself(house: House) -> None:
    """A create that arrives after its deploy was given up: a stranger, which never runs."""
    pipeline = house.pipeline()
    config, _ = house.services.pipeline_family.config(pipeline)
    client = Connect(base_url=house.connect.url, check_host=house.services.policy)
    client.create_stopped(pipeline.connector_name, config, house.call().deadline)
    client.close()
    for seconds in (10, 100, 700, 10):
        house.tick(after=seconds)
    assert house.connect.names() == []
    assert config["connector.class"] == POSTGRES_SOURCE
    assert code_of(house, pipeline.id) is None


def test_a_draft_that_is_deployed_in_time_takes_its_leftover_over(house: House) -> None:
    pipeline = house.pipeline()
    config, _ = house.services.pipeline_family.config(pipeline)
    client = Connect(base_url=house.connect.url, check_host=house.services.policy)
    client.create_stopped(pipeline.connector_name, config, house.call().deadline)
    client.close()
    house.tick()
    house.tick(after=95)
    assert code_of(house, pipeline.id) is None
    for seconds in (10, 10, 700, 10):
        house.tick(after=seconds)
    assert violations(house) == []
