"""The operations whose every step is made to fail: what must be there before, how they are asked for, when done."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from chalicelib.domain.database import SslMode
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.pipeline import Pipeline
from tests.support.in_process_app import InProcessApp, changed_input

Resource = Pipeline | Delivery
Act = Callable[[], Resource | None]
DELIVERY_ID = "7d0f3c7e-35a1-4d57-8a53-5a8f2a4f6d10"


@dataclass(frozen=True, kw_only=True)
class Ready:
    """A prepared operation: `act` asks for it as a person would, `done` says whether it has come about.

    `before` is what the process has served by then: from it it knows what to expect.
    """

    before: Callable[[], object]
    act: Act
    done: Callable[[], bool]


@dataclass(frozen=True, kw_only=True)
class Scene:
    """One operation, and what has to be there before."""

    name: str
    prepare: Callable[[InProcessApp], Ready]

    def __str__(self) -> str:
        return self.name


def stored(app: InProcessApp, resource_id: str) -> Resource | None:
    """The pipeline or delivery as it is stored."""
    stores = app.services.stores
    return stores.pipelines.find(resource_id) or stores.deliveries.find(resource_id)


def desires(app: InProcessApp, resource_id: str, state: DesiredState) -> Callable[[], bool]:
    """Whether the resource is there and wants that."""

    def done() -> bool:
        found = stored(app, resource_id)
        return found is not None and found.desired_state is state

    return done


def with_pipeline(app: InProcessApp, pipeline_id: str, act: Act, done: Callable[[], bool]) -> Ready:
    """An operation on a pipeline that was looked at before."""
    return Ready(
        before=lambda: app.services.pipelines.detail(pipeline_id),
        act=act,
        done=done,
    )


def with_delivery(app: InProcessApp, act: Act, done: Callable[[], bool]) -> Ready:
    """An operation on the delivery, looked at before."""
    return Ready(
        before=lambda: app.services.deliveries.get(DELIVERY_ID),
        act=act,
        done=done,
    )


def deploy_pipeline(app: InProcessApp) -> Ready:
    pipeline_id = app.pipeline().id
    return with_pipeline(
        app,
        pipeline_id,
        act=lambda: app.services.pipelines.deploy(app.context(), pipeline_id),
        done=desires(app, pipeline_id, DesiredState.RUNNING),
    )


def pause_pipeline(app: InProcessApp) -> Ready:
    pipeline_id = app.deployed_pipeline().id
    return with_pipeline(
        app,
        pipeline_id,
        act=lambda: app.services.pipelines.pause(app.context(), pipeline_id),
        done=desires(app, pipeline_id, DesiredState.PAUSED),
    )


def resume_pipeline(app: InProcessApp) -> Ready:
    pipeline_id = app.deployed_pipeline().id
    app.services.pipelines.pause(app.context(), pipeline_id)
    return with_pipeline(
        app,
        pipeline_id,
        act=lambda: app.services.pipelines.resume(app.context(), pipeline_id),
        done=desires(app, pipeline_id, DesiredState.RUNNING),
    )


def restart_pipeline(app: InProcessApp) -> Ready:
    """Done when it was started once more than by its deploy and by the putting back of the stage."""
    pipeline = app.deployed_pipeline()
    return with_pipeline(
        app,
        pipeline.id,
        act=lambda: app.services.pipelines.restart(app.context(), pipeline.id),
        done=lambda: app.connect.starts(pipeline.connector_name) > 2,
    )


def redeploy_pipeline(app: InProcessApp) -> Ready:
    """Its source has been changed since it was deployed."""
    pipeline = app.deployed_pipeline()
    source = app.services.sources.get(pipeline.source_id)
    given = changed_input(source, address=replace(source.address, ssl_mode=SslMode.DISABLE))
    app.services.sources.update(app.context(), source.id, given)
    held = app.connect.config_of
    return with_pipeline(
        app,
        pipeline.id,
        act=lambda: app.services.pipelines.deploy(app.context(), pipeline.id),
        done=lambda: held(pipeline.connector_name)["database.sslmode"] == "disable",
    )


def delete_pipeline(app: InProcessApp) -> Ready:
    pipeline_id = app.deployed_pipeline().id
    return with_pipeline(
        app,
        pipeline_id,
        act=lambda: app.services.pipelines.delete(app.context(), pipeline_id),
        done=lambda: stored(app, pipeline_id) is None,
    )


def deploy_delivery(app: InProcessApp) -> Ready:
    """Always with the same idempotency key and the same body."""
    pipeline, destination = app.deployed_pipeline(), app.destination()
    given = app.delivery_input(pipeline, "orders", "customers")
    return Ready(
        before=lambda: app.services.deliveries.preview(app.context(), destination.id, given),
        act=lambda: app.services.deliveries.deploy(app.context(key=DELIVERY_ID), destination.id, given),
        done=desires(app, DELIVERY_ID, DesiredState.RUNNING),
    )


def a_delivery(app: InProcessApp) -> Delivery:
    """A delivery that runs."""
    deploy_delivery(app).act()
    return app.services.stores.deliveries.get(DELIVERY_ID)


def remap_delivery(app: InProcessApp) -> Ready:
    """One target table stays, the other is replaced."""
    one, other = a_delivery(app).mappings
    wanted = (one, replace(other, table_name="clients"))
    return with_delivery(
        app,
        act=lambda: app.services.deliveries.update_mappings(app.context(), DELIVERY_ID, wanted),
        done=lambda: app.services.stores.deliveries.get(DELIVERY_ID).mappings == wanted,
    )


def move_delivery(app: InProcessApp) -> Ready:
    """Its tables are in another schema from then on."""
    wanted = tuple(replace(mapping, schema_name="elsewhere") for mapping in a_delivery(app).mappings)
    return with_delivery(
        app,
        act=lambda: app.services.deliveries.update_mappings(app.context(), DELIVERY_ID, wanted),
        done=lambda: app.services.stores.deliveries.get(DELIVERY_ID).mappings == wanted,
    )


def delete_delivery(app: InProcessApp) -> Ready:
    a_delivery(app)
    return with_delivery(
        app,
        act=lambda: app.services.deliveries.delete(app.context(), DELIVERY_ID),
        done=lambda: stored(app, DELIVERY_ID) is None,
    )


DEPLOY_PIPELINE = Scene(name="pipeline deploy", prepare=deploy_pipeline)
DEPLOY_DELIVERY = Scene(name="delivery deploy", prepare=deploy_delivery)
REMAP_DELIVERY = Scene(name="delivery mappings", prepare=remap_delivery)
SCENES = (
    DEPLOY_PIPELINE,
    DEPLOY_DELIVERY,
    Scene(name="pipeline pause", prepare=pause_pipeline),
    Scene(name="pipeline resume", prepare=resume_pipeline),
    Scene(name="pipeline restart", prepare=restart_pipeline),
    Scene(name="pipeline config", prepare=redeploy_pipeline),
    Scene(name="pipeline delete", prepare=delete_pipeline),
    REMAP_DELIVERY,
    Scene(name="delivery schema", prepare=move_delivery),
    Scene(name="delivery delete", prepare=delete_delivery),
)
