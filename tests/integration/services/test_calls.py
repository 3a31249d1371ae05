"""What a deploy of a delivery asks the store: more while a process meets everything, then the least."""

from dataclasses import replace

from chalicelib.domain.delivery import Delivery
from chalicelib.domain.destination import Destination
from chalicelib.kit.masking import Secret
from chalicelib.stores.claims import target_key
from tests.support.call_interceptor import Side
from tests.support.in_process_app import House, changed, house, house_of_the_module

__all__ = ["house", "house_of_the_module"]


def deploy(house: House, pipeline_id: str, destination: Destination) -> tuple[Delivery, int]:
    """A new delivery, and how many calls it took, the one for who asks included."""
    deliveries = house.services.deliveries
    given = house.delivery_input(house.services.stores.pipelines.get(pipeline_id))
    house.gate.watch()
    made = house.ask(
        lambda: deliveries.expect_draft(destination.id, given),
        lambda: deliveries.deploy(house.call(), destination.id, given),
    )
    calls = [point for point in house.gate.unwatch() if point.side is Side.STORE]
    return made, len(calls)


def delete(house: House, delivery: Delivery) -> None:
    house.services.deliveries.delete(house.call(), delivery.id)


def test_a_process_that_has_met_pipeline_and_destination_deploys_in_four_calls(house: House) -> None:
    pipeline, destination = house.deployed_pipeline(), house.destination()
    house.restart()
    first, calls = deploy(house, pipeline.id, destination)
    assert calls == 7
    delete(house, first)
    assert deploy(house, pipeline.id, destination)[1] == 4


def test_a_destination_that_was_moved_meanwhile_is_held_where_it_is_now(house: House) -> None:
    """What was expected is the row of its former place."""
    pipeline, destination = house.deployed_pipeline(), house.destination()
    delete(house, deploy(house, pipeline.id, destination)[0])
    elsewhere = replace(destination.address, host="elsewhere.example.com")
    moved = changed(destination, address=elsewhere, secrets={"password": Secret("another")})
    now = house.services.destinations.update(house.call(), destination.id, moved)
    made, _ = deploy(house, pipeline.id, destination)
    holders, _ = house.services.stores.targets.holders(target_key(*now.address.place, "target"))
    assert holders == {"orders": made.id}
