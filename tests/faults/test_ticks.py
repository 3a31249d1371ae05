"""What ticks do to connectors, and which connectors they never change."""

import pytest

from chalicelib.clients.connect.client import Connect
from chalicelib.clients.http.addresses import AddressPolicy
from chalicelib.domain.names import OWNER_KEY
from chalicelib.domain.observation import ObservedState
from chalicelib.domain.pipeline import Pipeline
from infra.local.doubles.connect_faults import FaultEffect
from infra.local.doubles.connect_plugins import POSTGRES_SOURCE
from tests.faults.fault_runs import recover
from tests.faults.inspection import connector_writes, create_orphan, deploy_error_code
from tests.faults.invariants import violations
from tests.support.apps.connect_worker import connect_endpoint
from tests.support.apps.in_process_app import InProcessApp


def test_a_tick_that_cannot_read_connect_reports_unknown_and_changes_nothing(app: InProcessApp) -> None:
    pipeline, other = app.deployed_pipeline(), app.deployed_pipeline()
    app.tick()
    app.connect.drop(other.connector_name)
    create_orphan(app)
    app.connect.calls.clear()
    for effect in (FaultEffect.NOT_READY, FaultEffect.GARBAGE, FaultEffect.TIMED_OUT):
        app.connect.plant(effect, times=200)
        app.ticks(10, 10, 100, 700)
        app.connect.faults.clear()
        seen = app.services.pipelines.get(pipeline.id).observation
        assert seen.state is ObservedState.UNKNOWN
        assert seen.reasons
        assert seen.observed_at == app.clock.now
    assert connector_writes(app) == []


def test_an_equal_config_is_never_written_again(app: InProcessApp) -> None:
    """Each write of a config restarts a connector."""
    pipeline = app.deployed_pipeline()
    app.services.deliveries.deploy(app.context(), app.destination().id, app.delivery_input(pipeline))
    starts = app.connect.starts(pipeline.connector_name)
    app.connect.calls.clear()
    for seconds in [10] * 30 + [700] * 3:
        app.tick(after=seconds)
    assert connector_writes(app) == []
    assert app.connect.starts(pipeline.connector_name) == starts
    assert set(app.connect.calls.by_kind()) == {("GET", "/connectors")}


def test_a_connector_that_was_deleted_without_headgate_is_created_again_when_missing_twice(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    app.tick()
    app.tick()
    app.connect.drop(pipeline.connector_name)
    app.tick()
    assert app.connect.names() == []
    app.tick()
    assert violations(app) == []


def test_the_connector_of_a_paused_pipeline_is_created_again_without_running(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    app.services.pipelines.pause(app.context(), pipeline.id)
    app.connect.drop(pipeline.connector_name)
    app.tick(times=6)
    assert violations(app) == []
    assert app.connect.starts(pipeline.connector_name) == 0


def test_an_operation_that_fails_because_of_a_defect_does_not_stop_the_others(app: InProcessApp) -> None:
    broken, other = app.pipeline(), app.pipeline()
    app.database.readiness_bug = RuntimeError("a bug")
    with pytest.raises(RuntimeError):
        app.services.pipelines.deploy(app.context(), broken.id)
    app.database.readiness_bug = None
    app.connect.plant(FaultEffect.LOSE_REPLY, "POST", "/connectors$")
    app.connect.plant(FaultEffect.NOT_READY, "GET", "/config$", skip=1)
    assert app.services.pipelines.deploy(app.context(), other.id).open_operation
    app.database.readiness_bug = RuntimeError("a bug")
    app.tick(after=31)
    assert app.services.pipelines.get(other.id).open_operation is None
    assert app.services.pipelines.get(broken.id).open_operation
    app.database.readiness_bug = None
    assert recover(app) == []


# orphans: connectors with our name and marker that no resource needs


def test_an_orphan_is_stopped_after_ninety_seconds_and_deleted_after_ten_minutes(app: InProcessApp) -> None:
    name = create_orphan(app)
    app.tick()
    app.tick(after=89)
    assert connector_writes(app) == []
    app.tick(after=1)
    assert connector_writes(app) == [("PUT", f"/connectors/{name}/stop")]
    app.tick(after=509)
    assert app.connect.names() == [name]
    app.tick(after=1)
    assert app.connect.names() == []


def test_a_connector_with_our_name_but_without_our_marker_is_never_changed_and_does_not_protect_orphans(
    app: InProcessApp,
) -> None:
    foreign = {create_orphan(app, marked=False) for _ in range(15)}
    orphan = create_orphan(app)
    app.ticks(10, 100, 700)
    for _ in range(300):
        if orphan not in app.connect.names():
            break
        app.tick()
    assert set(app.connect.names()) == foreign
    assert {path.split("/")[2] for _, path in connector_writes(app)} == {orphan}


def test_connectors_of_another_installation_on_the_same_workers_are_never_changed(app: InProcessApp) -> None:
    name = create_orphan(app, audited=False)
    app.ticks(10, 100, 700, 10, 10)
    assert app.connect.names() == [name]
    assert connector_writes(app) == []


def test_connectors_are_not_orphans_when_their_workers_are_registered_twice(app: InProcessApp) -> None:
    assert app.register_connect(f"{app.connect.url}/").id != app.register_connect(app.connect.url).id
    pipeline = app.deployed_pipeline()
    app.connect.calls.clear()
    for cluster in app.services.connect_clusters.list(limit=9, after=None).items:
        for seconds in (10, 100, 700, 10, 10):
            app.tick(cluster, after=seconds)
    assert app.connect.names() == [pipeline.connector_name]
    assert connector_writes(app) == []


def test_connectors_with_other_names_are_never_changed(app: InProcessApp) -> None:
    app.connect.preload(["orders-source", "headgate-test"], config={OWNER_KEY: "source/1"})
    app.ticks(10, 100, 700, 10)
    assert connector_writes(app) == []
    assert sorted(app.connect.names()) == ["headgate-test", "orders-source"]


def leftover_connector(app: InProcessApp) -> tuple[Pipeline, dict[str, str]]:
    """A connector that is created after its deploy has failed: the draft, and the connector's config."""
    pipeline = app.pipeline()
    owner = app.services.pipeline_connector
    built = owner.config(pipeline, owner.load_dependencies(pipeline))
    config = app.services.clients.for_connect(app.cluster, built)
    client = Connect(connect_endpoint(app.connect.url), check_host=AddressPolicy(allow_loopback=True))
    client.create_stopped(pipeline.connector_name, config, app.context().deadline)
    client.close()
    return pipeline, config


def test_a_connector_that_a_failed_deploy_left_behind_is_deleted(app: InProcessApp) -> None:
    """It is an orphan that never runs."""
    pipeline, config = leftover_connector(app)
    app.ticks(10, 100, 700, 10)
    assert app.connect.names() == []
    assert config["connector.class"] == POSTGRES_SOURCE
    assert deploy_error_code(app, pipeline.id) is None


def test_a_draft_that_is_deployed_before_that_adopts_the_connector(app: InProcessApp) -> None:
    pipeline, _ = leftover_connector(app)
    app.tick()
    app.tick(after=95)
    assert deploy_error_code(app, pipeline.id) is None
    app.ticks(10, 10, 700, 10)
    assert violations(app) == []
