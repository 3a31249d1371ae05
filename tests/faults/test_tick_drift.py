"""What ticks do about configs that somebody else has changed: they report them."""

from chalicelib.domain.observation import ObservedState
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.reconcile.drift import DRIFTED
from infra.local.doubles.connect_faults import FaultEffect
from tests.faults.looking import by_hand, observed, running, touches, unsettled_tick
from tests.support.in_process_app import InProcessApp


def alter(app: InProcessApp, pipeline: Pipeline, **changes: str) -> None:
    """Somebody gives the connector another config without Headgate; two underscores stand for a dot."""
    changed = {key.replace("__", "."): value for key, value in changes.items()}
    by_hand(app, pipeline, "config", {**app.connect.config_of(pipeline.connector_name), **changed})


def test_a_config_that_somebody_else_changed_is_reported_and_not_overwritten(app: InProcessApp) -> None:
    pipeline = running(app)
    alter(app, pipeline, poll__interval__ms="1")
    changed = app.connect.config_of(pipeline.connector_name)
    app.tick(after=601)
    assert observed(app, pipeline).reasons == ()
    app.tick()
    assert (observed(app, pipeline).state, observed(app, pipeline).reasons) == (ObservedState.RUNNING, (DRIFTED,))
    for seconds in (10, 10, 601, 10, 601):
        app.tick(after=seconds)
    assert observed(app, pipeline).reasons == (DRIFTED,)
    assert app.connect.config_of(pipeline.connector_name) == changed
    assert touches(app) == []


def drifted(app: InProcessApp) -> tuple[Pipeline, dict[str, str]]:
    """A pipeline whose connector was given another config, which is reported, and the config that was right."""
    pipeline = running(app)
    right = app.connect.config_of(pipeline.connector_name)
    alter(app, pipeline, poll__interval__ms="1")
    app.tick(after=601)
    app.tick()
    assert observed(app, pipeline).reasons == (DRIFTED,)
    return pipeline, right


def test_deploying_again_puts_back_what_somebody_else_changed(app: InProcessApp) -> None:
    pipeline, right = drifted(app)
    app.services.pipelines.deploy(app.context(), pipeline.id)
    assert app.connect.config_of(pipeline.connector_name) == right
    for _ in range(3):
        app.tick()
    assert (observed(app, pipeline).state, observed(app, pipeline).reasons) == (ObservedState.RUNNING, ())


def test_a_config_that_is_right_again_is_not_reported_any_more(app: InProcessApp) -> None:
    pipeline, right = drifted(app)
    by_hand(app, pipeline, "config", right)
    app.tick(after=601)
    assert observed(app, pipeline).reasons == ()


def test_configs_are_asked_for_every_ten_minutes_in_the_same_call(app: InProcessApp) -> None:
    running(app)
    app.tick(after=600)
    app.connect.calls.clear()
    for _ in range(120):
        app.tick()
    asked = [one.query for one in app.connect.calls.calls("GET", "^/connectors")]
    assert len(asked) == 120
    assert asked.count("expand=status&expand=info") == 2


def test_configs_are_not_compared_while_a_change_is_being_carried_out(app: InProcessApp) -> None:
    pipeline = running(app)
    app.clock.advance(601)
    app.services.pipelines.pause(app.context(), pipeline.id)
    app.connect.calls.clear()
    for _ in range(3):
        app.tick()
    asked = [one.query for one in app.connect.calls.calls("GET", "^/connectors$")]
    assert asked == ["expand=status", "expand=status", "expand=status&expand=info"]


def test_a_visible_change_is_compared_at_once(app: InProcessApp) -> None:
    pipeline = running(app)
    app.tick(after=70)
    alter(app, pipeline, poll__interval__ms="1")
    app.connect.show(pipeline.connector_name, "UNASSIGNED")
    unsettled_tick(app)
    app.connect.show(pipeline.connector_name, "RUNNING")
    app.tick()
    app.tick()
    assert DRIFTED in observed(app, pipeline).reasons


def test_statuses_are_read_alone_when_configs_cannot_be_read(app: InProcessApp) -> None:
    pipeline = running(app)
    app.tick(after=601)
    app.clock.advance(590)
    app.connect.plant(FaultEffect.GARBAGE, "GET", "/connectors$", times=1)
    app.tick()
    assert observed(app, pipeline).state is ObservedState.RUNNING
    app.connect.calls.clear()
    app.tick()
    assert [one.query for one in app.connect.calls.calls("GET", "^/connectors")] == ["expand=status"]


def test_our_own_operations_are_no_drift(app: InProcessApp) -> None:
    pipeline = running(app)
    delivery = app.services.deliveries.deploy(
        app.context(), app.destination().id, app.delivery_input(pipeline, "orders")
    )
    assert delivery
    for seconds in (10, 10, 10, 601, 10, 10):
        app.tick(after=seconds)
    app.services.deliveries.update_mappings(
        app.context(), delivery.id, app.delivery_input(pipeline, "orders2").mappings
    )
    for seconds in (10, 10, 10, 601, 10, 10):
        app.tick(after=seconds)
        shown = app.services.deliveries.get(delivery.id).observation
        assert shown
        assert shown.reasons == ()
