"""What a deploy of a delivery asks the store: more while a process meets everything, then the least."""

from dataclasses import replace

from chalicelib.domain.delivery import Delivery
from chalicelib.domain.destination import Destination
from chalicelib.kit.masking import Secret
from chalicelib.stores.claims import target_key
from tests.support.call_interceptor import Side
from tests.support.in_process_app import InProcessApp, app, app_of_the_module, changed

__all__ = ["app", "app_of_the_module"]


def deploy(app: InProcessApp, pipeline_id: str, destination: Destination) -> tuple[Delivery, int]:
    """A new delivery, and how many calls it took, the one for who asks included."""
    deliveries = app.services.deliveries
    given = app.delivery_input(app.services.stores.pipelines.get(pipeline_id))
    app.gate.watch()
    made = app.ask(
        lambda: deliveries.expect_draft(destination.id, given),
        lambda: deliveries.deploy(app.context(), destination.id, given),
    )
    calls = [point for point in app.gate.unwatch() if point.side is Side.STORE]
    return made, len(calls)


def delete(app: InProcessApp, delivery: Delivery) -> None:
    app.services.deliveries.delete(app.context(), delivery.id)


def test_a_process_that_has_met_pipeline_and_destination_deploys_in_four_calls(app: InProcessApp) -> None:
    pipeline, destination = app.deployed_pipeline(), app.destination()
    app.restart()
    first, calls = deploy(app, pipeline.id, destination)
    assert calls == 7
    delete(app, first)
    assert deploy(app, pipeline.id, destination)[1] == 4


def test_a_destination_that_was_moved_meanwhile_is_held_where_it_is_now(app: InProcessApp) -> None:
    """What was expected is the row of its former place."""
    pipeline, destination = app.deployed_pipeline(), app.destination()
    delete(app, deploy(app, pipeline.id, destination)[0])
    elsewhere = replace(destination.address, host="elsewhere.example.com")
    moved = changed(destination, address=elsewhere, secrets={"password": Secret("another")})
    now = app.services.destinations.update(app.context(), destination.id, moved)
    made, _ = deploy(app, pipeline.id, destination)
    holders, _ = app.services.stores.targets.holders(target_key(*now.address.identity, "target"))
    assert holders == {"orders": made.id}
