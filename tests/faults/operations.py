"""The operations whose every step is made to fail: what must be there before, how they are asked for, when done."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from chalicelib.domain.database import SslMode
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.pipeline import Pipeline
from tests.support.in_process_app import House, changed

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
    prepare: Callable[[House], Ready]

    def __str__(self) -> str:
        return self.name


def stored(house: House, resource_id: str) -> Resource | None:
    """The pipeline or delivery as it is stored."""
    stores = house.services.stores
    return stores.pipelines.find(resource_id) or stores.deliveries.find(resource_id)


def desires(house: House, resource_id: str, state: DesiredState) -> Callable[[], bool]:
    """Whether the resource is there and wants that."""

    def done() -> bool:
        found = stored(house, resource_id)
        return found is not None and found.desired_state is state

    return done


def with_pipeline(house: House, pipeline_id: str, act: Act, done: Callable[[], bool]) -> Ready:
    """An operation on a pipeline that was looked at before."""
    return Ready(
        before=lambda: house.services.pipelines.detail(pipeline_id),
        act=lambda: house.ask(lambda: house.services.stores.pipelines_among.expect(pipeline_id), act),
        done=done,
    )


def with_delivery(house: House, act: Act, done: Callable[[], bool]) -> Ready:
    """An operation on the delivery, looked at before."""
    return Ready(
        before=lambda: house.services.deliveries.get(DELIVERY_ID),
        act=lambda: house.ask(lambda: house.services.stores.deliveries_among.expect(DELIVERY_ID), act),
        done=done,
    )


def deploy_pipeline(house: House) -> Ready:
    pipeline_id = house.pipeline().id
    return with_pipeline(
        house,
        pipeline_id,
        act=lambda: house.services.pipelines.deploy(house.call(), pipeline_id),
        done=desires(house, pipeline_id, DesiredState.RUNNING),
    )


def pause_pipeline(house: House) -> Ready:
    pipeline_id = house.deployed_pipeline().id
    return with_pipeline(
        house,
        pipeline_id,
        act=lambda: house.services.pipelines.pause(house.call(), pipeline_id),
        done=desires(house, pipeline_id, DesiredState.PAUSED),
    )


def resume_pipeline(house: House) -> Ready:
    pipeline_id = house.deployed_pipeline().id
    house.services.pipelines.pause(house.call(), pipeline_id)
    return with_pipeline(
        house,
        pipeline_id,
        act=lambda: house.services.pipelines.resume(house.call(), pipeline_id),
        done=desires(house, pipeline_id, DesiredState.RUNNING),
    )


def restart_pipeline(house: House) -> Ready:
    """Done when it was started once more than by its deploy and by the putting back of the stage."""
    pipeline = house.deployed_pipeline()
    return with_pipeline(
        house,
        pipeline.id,
        act=lambda: house.services.pipelines.restart(house.call(), pipeline.id),
        done=lambda: house.connect.starts(pipeline.connector_name) > 2,
    )


def redeploy_pipeline(house: House) -> Ready:
    """Its source has been changed since it was deployed."""
    pipeline = house.deployed_pipeline()
    source = house.services.sources.get(pipeline.source_id)
    given = changed(source, address=replace(source.address, ssl_mode=SslMode.DISABLE))
    house.services.sources.update(house.call(), source.id, given)
    held = house.connect.config_of
    return with_pipeline(
        house,
        pipeline.id,
        act=lambda: house.services.pipelines.deploy(house.call(), pipeline.id),
        done=lambda: held(pipeline.connector_name)["database.sslmode"] == "disable",
    )


def delete_pipeline(house: House) -> Ready:
    pipeline_id = house.deployed_pipeline().id
    return with_pipeline(
        house,
        pipeline_id,
        act=lambda: house.services.pipelines.delete(house.call(), pipeline_id),
        done=lambda: stored(house, pipeline_id) is None,
    )


def deploy_delivery(house: House) -> Ready:
    """Always with the same idempotency key and the same body."""
    pipeline, destination = house.deployed_pipeline(), house.destination()
    given = house.delivery_input(pipeline, "orders", "customers")
    return Ready(
        before=lambda: house.services.deliveries.preview(house.call(), destination.id, given),
        act=lambda: house.ask(
            lambda: house.services.deliveries.expect_draft(destination.id, given),
            lambda: house.services.deliveries.deploy(house.call(key=DELIVERY_ID), destination.id, given),
        ),
        done=desires(house, DELIVERY_ID, DesiredState.RUNNING),
    )


def a_delivery(house: House) -> Delivery:
    """A delivery that runs."""
    deploy_delivery(house).act()
    return house.services.stores.deliveries.get(DELIVERY_ID)


def remap_delivery(house: House) -> Ready:
    """One target table stays, the other is replaced."""
    one, other = a_delivery(house).mappings
    wanted = (one, replace(other, table_name="clients"))
    return with_delivery(
        house,
        act=lambda: house.services.deliveries.update_mappings(house.call(), DELIVERY_ID, wanted),
        done=lambda: house.services.stores.deliveries.get(DELIVERY_ID).mappings == wanted,
    )


def move_delivery(house: House) -> Ready:
    """Its tables are in another schema from then on."""
    wanted = tuple(replace(mapping, schema_name="elsewhere") for mapping in a_delivery(house).mappings)
    return with_delivery(
        house,
        act=lambda: house.services.deliveries.update_mappings(house.call(), DELIVERY_ID, wanted),
        done=lambda: house.services.stores.deliveries.get(DELIVERY_ID).mappings == wanted,
    )


def delete_delivery(house: House) -> Ready:
    a_delivery(house)
    return with_delivery(
        house,
        act=lambda: house.services.deliveries.delete(house.call(), DELIVERY_ID),
        done=lambda: stored(house, DELIVERY_ID) is None,
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
