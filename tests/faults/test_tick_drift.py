"""Drift: ticks report configs that were changed in Connect without Headgate, and do not overwrite them."""

from chalicelib.domain.connectors.drift import DRIFTED
from chalicelib.domain.observation import ObservedState
from chalicelib.domain.pipeline import Pipeline
from infra.local.doubles.connect_faults import FaultEffect
from tests.faults.inspection import audited, change_by_hand, connector_writes, observation_of, running_pipeline
from tests.support.apps.in_process_app import InProcessApp


def alter(app: InProcessApp, pipeline: Pipeline, **changes: str) -> None:
    """Change the connector's config without Headgate; two underscores in a key mean a dot."""
    changed = {key.replace("__", "."): value for key, value in changes.items()}
    change_by_hand(app, pipeline, "config", {**app.connect.config_of(pipeline.connector_name), **changed})


def test_a_config_that_was_changed_without_headgate_is_reported_and_not_overwritten(app: InProcessApp) -> None:
    pipeline = running_pipeline(app)
    alter(app, pipeline, poll__interval__ms="1")
    changed = app.connect.config_of(pipeline.connector_name)
    app.tick(after=601)
    assert observation_of(app, pipeline).reasons == ()
    app.tick()
    assert (observation_of(app, pipeline).state, observation_of(app, pipeline).reasons) == (
        ObservedState.RUNNING,
        (DRIFTED,),
    )
    app.ticks(10, 10, 601, 10, 601)
    assert observation_of(app, pipeline).reasons == (DRIFTED,)
    assert app.connect.config_of(pipeline.connector_name) == changed
    assert connector_writes(app) == []


def test_a_recreation_of_what_a_stale_list_lacks_leaves_the_config_that_somebody_gave_it(app: InProcessApp) -> None:
    pipeline = running_pipeline(app)
    alter(app, pipeline, poll__interval__ms="1")
    changed = app.connect.config_of(pipeline.connector_name)
    app.connect.plant(FaultEffect.OTHER_BODY, "GET", "^/connectors$", times=2, body={})
    app.tick(times=3)
    assert len(audited(app, pipeline.id, "pipeline.recreate")) == 2
    app.ticks(10, 10, 601, 10)
    assert app.connect.config_of(pipeline.connector_name) == changed
    assert observation_of(app, pipeline).reasons == (DRIFTED,)
    assert not [path for method, path in connector_writes(app) if method == "PUT" and path.endswith("/config")]


def test_deploying_again_restores_a_config_that_was_changed_without_headgate(app: InProcessApp) -> None:
    pipeline = running_pipeline(app)
    right = app.connect.config_of(pipeline.connector_name)
    alter(app, pipeline, poll__interval__ms="1")
    app.tick(after=601)
    app.tick()
    app.services.pipelines.deploy(app.context(), pipeline.id)
    assert app.connect.config_of(pipeline.connector_name) == right
    app.tick(times=3)
    assert (observation_of(app, pipeline).state, observation_of(app, pipeline).reasons) == (ObservedState.RUNNING, ())


def test_configs_are_read_every_ten_minutes_in_the_same_call(app: InProcessApp) -> None:
    running_pipeline(app)
    app.tick(after=600)
    app.connect.calls.clear()
    app.tick(times=120)
    asked = [one.query for one in app.connect.calls.calls("GET", "^/connectors")]
    assert len(asked) == 120
    assert asked.count("expand=status&expand=info") == 2


def test_configs_are_not_compared_during_an_operation(app: InProcessApp) -> None:
    pipeline = running_pipeline(app)
    app.clock.advance(601)
    app.services.pipelines.pause(app.context(), pipeline.id)
    app.connect.calls.clear()
    app.tick(times=3)
    asked = [one.query for one in app.connect.calls.calls("GET", "^/connectors$")]
    assert asked == ["expand=status", "expand=status", "expand=status&expand=info"]


def test_statuses_are_read_alone_when_the_configs_cannot_be_read(app: InProcessApp) -> None:
    pipeline = running_pipeline(app)
    app.tick(after=601)
    app.clock.advance(590)
    app.connect.plant(FaultEffect.GARBAGE, "GET", "/connectors$", times=1)
    app.tick()
    assert observation_of(app, pipeline).state is ObservedState.RUNNING
    app.connect.calls.clear()
    app.tick()
    assert [one.query for one in app.connect.calls.calls("GET", "^/connectors")] == ["expand=status"]


def test_our_own_operations_are_not_reported_as_drift(app: InProcessApp) -> None:
    pipeline = running_pipeline(app)
    delivery = app.services.deliveries.deploy(
        app.context(), app.destination().id, app.delivery_input(pipeline, "orders")
    )
    app.ticks(10, 10, 10, 601, 10, 10)
    app.services.deliveries.update_mappings(
        app.context(), delivery.id, app.delivery_input(pipeline, "orders2").mappings
    )
    for seconds in (10, 10, 10, 601, 10, 10):
        app.tick(after=seconds)
        shown = app.services.deliveries.get(delivery.id).observation
        assert shown.reasons == ()
