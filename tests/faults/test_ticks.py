"""What the reconciler's ticks do to connectors, and above all what they leave alone."""

import pytest

from chalicelib.clients.addresses import AddressPolicy
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
from tests.support.connect_worker import connect_endpoint
from tests.support.in_process_app import InProcessApp


def test_a_tick_that_cannot_read_connect_says_so_and_does_nothing(app: InProcessApp) -> None:
    pipeline, other = app.deployed_pipeline(), app.deployed_pipeline()
    app.tick()
    app.connect.drop(other.connector_name)
    a_stranger(app)
    app.connect.calls.clear()
    for effect in (Effect.NOT_READY, Effect.GARBAGE, Effect.TIMED_OUT):
        app.connect.plant(effect, times=200)
        for seconds in (10, 10, 100, 700):
            app.tick(after=seconds)
        app.connect.faults.clear()
        seen = app.services.pipelines.get(pipeline.id).observation
        assert seen
        assert seen.state is ObservedState.UNKNOWN
        assert seen.reasons
        assert seen.observed_at == app.clock.now
    assert touches(app) == []


def test_a_tick_says_unknown_while_connect_is_down_and_running_again_when_it_is_back(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    app.tick()
    app.connect.refuse()
    try:
        app.tick()
        down = app.services.pipelines.get(pipeline.id).observation
    finally:
        app.connect.accept()
    assert down
    assert (down.state, down.reasons) == (
        ObservedState.UNKNOWN,
        ("Kafka Connect cannot be reached. Check its address and whether its workers run.",),
    )
    app.tick()
    back = app.services.pipelines.get(pipeline.id).observation
    assert back
    assert back.state is ObservedState.RUNNING


def test_an_equal_config_is_never_written_again(app: InProcessApp) -> None:
    """Each write of a config restarts a connector."""
    pipeline = app.deployed_pipeline()
    app.services.deliveries.deploy(app.context(), app.destination().id, app.delivery_input(pipeline))
    starts = app.connect.starts(pipeline.connector_name)
    app.connect.calls.clear()
    for seconds in [10] * 30 + [700] * 3:
        app.tick(after=seconds)
    assert touches(app) == []
    assert app.connect.starts(pipeline.connector_name) == starts
    assert set(app.connect.calls.by_kind()) == {("GET", "/connectors")}


def test_a_connector_that_was_deleted_by_hand_is_made_again_after_a_second_look(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    app.tick()
    app.tick()
    app.connect.drop(pipeline.connector_name)
    app.tick()
    assert app.connect.names() == []
    app.tick()
    assert violations(app) == []


def test_a_paused_pipelines_connector_is_made_again_without_running(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    app.services.pipelines.pause(app.context(), pipeline.id)
    app.connect.drop(pipeline.connector_name)
    for _ in range(6):
        app.tick()
    assert violations(app) == []
    assert app.connect.starts(pipeline.connector_name) == 0


def test_an_operation_that_meets_a_bug_of_ours_does_not_take_the_others_with_it(app: InProcessApp) -> None:
    poisoned, other = app.pipeline(), app.pipeline()
    app.database.bug = RuntimeError("a bug")
    with pytest.raises(RuntimeError):
        app.services.pipelines.deploy(app.context(), poisoned.id)
    app.database.bug = None
    app.connect.plant(Effect.LOSE_REPLY, "POST", "/connectors$")
    app.connect.plant(Effect.NOT_READY, "GET", "/config$", skip=1)
    assert app.services.pipelines.deploy(app.context(), other.id).open_operation
    app.database.bug = RuntimeError("a bug")
    app.tick(after=31)
    assert app.services.pipelines.get(other.id).open_operation is None
    assert app.services.pipelines.get(poisoned.id).open_operation
    app.database.bug = None
    assert recover(app) == []


# --- strangers: ours by name and marker, wanted by nobody


def test_a_stranger_is_stopped_after_ninety_seconds_and_deleted_after_ten_minutes(app: InProcessApp) -> None:
    name = a_stranger(app)
    app.tick()
    app.tick(after=89)
    assert touches(app) == []
    app.tick(after=1)
    assert touches(app) == [("PUT", f"/connectors/{name}/stop")]
    app.tick(after=509)
    assert app.connect.names() == [name]
    app.tick(after=1)
    assert app.connect.names() == []


def test_one_tick_deletes_two_percent_of_a_cluster_at_the_most(app: InProcessApp) -> None:
    for _ in range(149):
        a_stranger(app, state="STOPPED")
    app.tick()
    left = []
    for seconds in (650, 10, 10):
        app.tick(after=seconds)
        left.append(len(app.connect.names()))
    assert left == [147, 145, 143]


def test_of_a_small_cluster_one_tick_deletes_one(app: InProcessApp) -> None:
    names = {a_stranger(app) for _ in range(3)}
    app.tick()
    app.tick(after=650)
    for left in (1, 0):
        app.tick()
        assert len(names & set(app.connect.names())) == left


def test_what_carries_our_name_and_not_our_marker_is_never_touched_and_keeps_nothing_else_alive(
    app: InProcessApp,
) -> None:
    foreign = {a_stranger(app, marked=False) for _ in range(15)}
    stranger = a_stranger(app)
    for seconds in (10, 100, 700):
        app.tick(after=seconds)
    for _ in range(300):
        if stranger not in app.connect.names():
            break
        app.tick()
    assert set(app.connect.names()) == foreign
    assert {path.split("/")[2] for _, path in touches(app)} == {stranger}


def test_the_connectors_of_another_installation_on_the_same_workers_are_left_alone(app: InProcessApp) -> None:
    name = a_stranger(app, snapshot=False)
    for seconds in (10, 100, 700, 10, 10):
        app.tick(after=seconds)
    assert app.connect.names() == [name]
    assert touches(app) == []


def test_workers_that_are_registered_twice_are_not_strangers_to_themselves(app: InProcessApp) -> None:
    assert app.register_connect(f"{app.connect.url}/").id != app.register_connect(app.connect.url).id
    pipeline = app.deployed_pipeline()
    app.connect.calls.clear()
    for cluster in app.services.connect_clusters.list(limit=9, after=None).items:
        for seconds in (10, 100, 700, 10, 10):
            app.tick(cluster, after=seconds)
    assert app.connect.names() == [pipeline.connector_name]
    assert touches(app) == []


def test_a_marker_of_another_resource_does_not_make_it_ours(app: InProcessApp) -> None:
    name = connector_name(ConnectorKind.SINK, new_id())
    app.connect.preload([name], config={OWNER_KEY: owner_marker(ConnectorKind.SINK, new_id())})
    for seconds in (10, 100, 700, 10, 10):
        app.tick(after=seconds)
    assert app.connect.names() == [name]
    assert touches(app) == []


def test_connectors_of_other_names_are_not_even_seen(app: InProcessApp) -> None:
    app.connect.preload(["orders-source", "headgate-test"], config={OWNER_KEY: "source/1"})
    for seconds in (10, 100, 700, 10):
        app.tick(after=seconds)
    assert touches(app) == []
    assert sorted(app.connect.names()) == ["headgate-test", "orders-source"]


def a_leftover(app: InProcessApp) -> tuple[Pipeline, dict[str, str]]:
    """A create that arrives after its deploy was given up: the draft, and the config of the connector."""
    pipeline = app.pipeline()
    owner = app.services.pipeline_connector
    config, _ = owner.config(pipeline, owner.load_dependencies(pipeline))
    client = Connect(connect_endpoint(app.connect.url), check_host=AddressPolicy(allow_loopback=True))
    client.create_stopped(pipeline.connector_name, config, app.context().deadline)
    client.close()
    return pipeline, config


def test_the_leftover_of_a_failed_deploy_goes_away_by_itself(app: InProcessApp) -> None:
    """It is a stranger, which never runs."""
    pipeline, config = a_leftover(app)
    for seconds in (10, 100, 700, 10):
        app.tick(after=seconds)
    assert app.connect.names() == []
    assert config["connector.class"] == POSTGRES_SOURCE
    assert code_of(app, pipeline.id) is None


def test_a_draft_that_is_deployed_in_time_takes_its_leftover_over(app: InProcessApp) -> None:
    pipeline, _ = a_leftover(app)
    app.tick()
    app.tick(after=95)
    assert code_of(app, pipeline.id) is None
    for seconds in (10, 10, 700, 10):
        app.tick(after=seconds)
    assert violations(app) == []
