"""The operations whose every step is made to fail: what has to be there before, how they are asked for, when they are done."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from chalicelib.domain.delivery import Delivery
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.operation import OperationKind
from chalicelib.domain.pipeline import Pipeline
from tests.support.house import House

Resource = Pipeline | Delivery
STARTS_BEFORE = 2
DELIVERY_ID = "7d0f3c7e-35a1-4d57-8a53-5a8f2a4f6d10"


@dataclass(frozen=True, kw_only=True)
class Scene:
    """One operation. `prepare` gives the id of what it is about; `act` asks for it as a person would.

    `done` says whether what is there now is what was asked for.
    """

    name: str
    prepare: Callable[[House], str]
    act: Callable[[House, str], Resource | None]
    done: Callable[[House, str], bool]

    def __str__(self) -> str:
        return self.name


def stored(house: House, resource_id: str) -> Resource | None:
    """The pipeline or delivery as it is stored."""
    stores = house.services.stores
    return stores.pipelines.find(resource_id) or stores.deliveries.find(resource_id)


def desires(state: DesiredState) -> Callable[[House, str], bool]:
    """Whether the resource is there and wants that."""

    def done(house: House, resource_id: str) -> bool:
        found = stored(house, resource_id)
        return found is not None and found.desired_state is state

    return done


def steer(kind: OperationKind) -> Callable[[House, str], Resource]:
    """Steer a delivery."""
    return lambda house, delivery_id: house.services.deliveries.steer(house.call(), delivery_id, kind)


def a_paused_pipeline(house: House) -> str:
    pipeline = house.deployed_pipeline()
    return house.services.pipelines.pause(house.call(), pipeline.id).id


def a_pipeline_to_deliver(house: House) -> str:
    """A pipeline with topics, and a destination. The delivery's id is known beforehand."""
    house.deployed_pipeline()
    house.destination()
    return DELIVERY_ID


def deliver(house: House, delivery_id: str) -> Delivery:
    """Deploy a delivery, always with the same idempotency key and the same body."""
    (pipeline,) = house.services.pipelines.list(limit=1, after=None).items
    (destination,) = house.services.destinations.list(limit=1, after=None).items
    given = replace(house.delivery_input(pipeline, "orders", "customers"), name="delivery")
    return house.services.deliveries.deploy(house.call(key=delivery_id), destination.id, given)


def a_delivery(house: House) -> str:
    return deliver(house, a_pipeline_to_deliver(house)).id


def remap(house: House, delivery_id: str) -> Delivery:
    """Give the delivery other target tables; one of them stays."""
    delivery = house.services.deliveries.get(delivery_id)
    one, other = delivery.mappings
    moved = (one, replace(other, table_name="clients"))
    return house.services.deliveries.update_mappings(house.call(), delivery_id, moved)


def writes_clients(house: House, delivery_id: str) -> bool:
    """Whether the delivery has its new mappings."""
    return house.services.stores.deliveries.get(delivery_id).mappings[1].table_name == "clients"


def was_restarted(house: House, pipeline_id: str) -> bool:
    """Whether its connector was started once more than by its deploy and by the restoring of the stage."""
    return house.connect.starts(house.services.stores.pipelines.get(pipeline_id).connector_name) > STARTS_BEFORE


def is_gone(house: House, resource_id: str) -> bool:
    """Whether nothing is stored any more."""
    return stored(house, resource_id) is None


DEPLOY_PIPELINE = Scene(
    name="pipeline deploy",
    prepare=lambda house: house.pipeline().id,
    act=lambda house, one: house.services.pipelines.deploy(house.call(), one),
    done=desires(DesiredState.RUNNING),
)
DEPLOY_DELIVERY = Scene(
    name="delivery deploy", prepare=a_pipeline_to_deliver, act=deliver, done=desires(DesiredState.RUNNING)
)
SCENES = (
    DEPLOY_PIPELINE,
    DEPLOY_DELIVERY,
    Scene(
        name="pipeline pause",
        prepare=lambda house: house.deployed_pipeline().id,
        act=lambda house, one: house.services.pipelines.pause(house.call(), one),
        done=desires(DesiredState.PAUSED),
    ),
    Scene(
        name="pipeline resume",
        prepare=a_paused_pipeline,
        act=lambda house, one: house.services.pipelines.resume(house.call(), one),
        done=desires(DesiredState.RUNNING),
    ),
    Scene(
        name="pipeline restart",
        prepare=lambda house: house.deployed_pipeline().id,
        act=lambda house, one: house.services.pipelines.restart(house.call(), one),
        done=was_restarted,
    ),
    Scene(
        name="pipeline delete",
        prepare=lambda house: house.deployed_pipeline().id,
        act=lambda house, one: house.services.pipelines.delete(house.call(), one),
        done=is_gone,
    ),
    Scene(
        name="delivery mappings",
        prepare=a_delivery,
        act=remap,
        done=writes_clients,
    ),
    Scene(name="delivery pause", prepare=a_delivery, act=steer(OperationKind.PAUSE), done=desires(DesiredState.PAUSED)),
    Scene(
        name="delivery delete",
        prepare=a_delivery,
        act=lambda house, one: house.services.deliveries.delete(house.call(), one),
        done=is_gone,
    ),
)
