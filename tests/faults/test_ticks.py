"""What the reconciler's ticks do to connectors, and above all what they leave alone."""

import pytest

from chalicelib.clients.connect.client import Connect
from chalicelib.domain.names import OWNER_KEY, ConnectorKind, connector_name, owner_marker
from chalicelib.domain.observation import ObservedState
from chalicelib.domain.pipeline import Pipeline
from chalicelib.kit.ids import new_id
from infra.local.doubles.connect_faults import Effect
from infra.local.doubles.connect_plugins import POSTGRES_SOURCE
from tests.faults.invariants import violations
from tests.faults.looking import a_stranger, code_of, touches
from tests.faults.scenario import recover
from tests.support.in_process_app import House


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


def test_an_operation_that_meets_a_bug_of_ours_does_not_take_the_others_with_it(house: House) -> None:
    poisoned, other = house.pipeline(), house.pipeline()
    house.database.bug = RuntimeError("a bug")
    with pytest.raises(RuntimeError):
        house.services.pipelines.deploy(house.call(), poisoned.id)
    house.database.bug = None
    house.connect.plant(Effect.LOSE_REPLY, "POST", "/connectors$")
    house.connect.plant(Effect.NOT_READY, "GET", "/config$", skip=1)
    assert house.services.pipelines.deploy(house.call(), other.id).open_operation
    house.database.bug = RuntimeError("a bug")
    house.tick(after=31)
    assert house.services.pipelines.get(other.id).open_operation is None
    assert house.services.pipelines.get(poisoned.id).open_operation
    house.database.bug = None
    assert recover(house) == []


# --- strangers: ours by name and marker, wanted by nobody


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
        a_stranger(house, state="STOPPED")
    house.tick()
    left = []
    for seconds in (650, 10, 10):
        house.tick(after=seconds)
        left.append(len(house.connect.names()))
    assert left == [147, 145, 143]


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


def a_leftover(house: House) -> tuple[Pipeline, dict[str, str]]:
    """A create that arrives after its deploy was given up: the draft, and the config of the connector."""
    pipeline = house.pipeline()
    family = house.services.pipeline_family
    config, _ = family.config(pipeline, family.setting(pipeline))
    client = Connect(base_url=house.connect.url, check_host=house.services.policy)
    client.create_stopped(pipeline.connector_name, config, house.call().deadline)
    client.close()
    return pipeline, config


def test_the_leftover_of_a_failed_deploy_goes_away_by_itself(house: House) -> None:
    """It is a stranger, which never runs."""
    pipeline, config = a_leftover(house)
    for seconds in (10, 100, 700, 10):
        house.tick(after=seconds)
    assert house.connect.names() == []
    assert config["connector.class"] == POSTGRES_SOURCE
    assert code_of(house, pipeline.id) is None


def test_a_draft_that_is_deployed_in_time_takes_its_leftover_over(house: House) -> None:
    pipeline, _ = a_leftover(house)
    house.tick()
    house.tick(after=95)
    assert code_of(house, pipeline.id) is None
    for seconds in (10, 10, 700, 10):
        house.tick(after=seconds)
    assert violations(house) == []
