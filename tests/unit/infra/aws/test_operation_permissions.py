"""The API may do what its changes need, and a tick what finishes them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.connection import Capability
from chalicelib.domain.operation import OperationKind
from chalicelib.errors import Conflict
from chalicelib.kit.masking import Secret
from chalicelib.services.deliveries import DeliveryService
from chalicelib.services.pipelines import PipelineService
from tests.faults.cases.connectors import OPERATION_CASES
from tests.faults.cases.operation_case import OperationCase
from tests.support.apps.call_interceptor import Crash, InterceptedCall, Point, Side
from tests.support.apps.in_process_app import InProcessApp, app, app_of_the_module
from tests.support.apps.inputs import changed_connection, changed_input
from tests.unit.infra.aws.taken_actions import SETTLES, a_delivery, refused, taken

__all__ = ["app", "app_of_the_module"]
Act = Callable[[InProcessApp, str], object]


def after_the_first_transaction(point: Point, call: InterceptedCall) -> object:
    """The process ends when it turns to Connect: the operation stays open."""
    if point.side is Side.CONNECT and point.writes:
        raise Crash
    return call()


OF_DISCOVERY = {("dynamodb:PutItem", "table/${Prefix}schema-versions")}
"""What a job does while a case prepares its source."""

OPERATIONS = [
    case
    for case in OPERATION_CASES
    if case.name.startswith(("pipeline d", "delivery d")) or case.name in ("pipeline pause", "delivery mappings")
]


@pytest.mark.parametrize("case", OPERATIONS, ids=str)
def test_the_api_may_do_all_that_an_operation_needs(app: InProcessApp, case: OperationCase) -> None:
    with taken() as calls:
        operation = case.prepare(app)
        operation.warm_up()
        operation.request()
    assert refused("api_handler", calls - OF_DISCOVERY) == set()


def forget(app: InProcessApp, service: PipelineService | DeliveryService, resource_id: str) -> None:
    """The pipeline or delivery, while Connect cannot be reached."""
    app.connect.refuse()
    try:
        service.delete(app.context(), resource_id, forget=True)
    finally:
        app.connect.accept()


def move_the_source(app: InProcessApp, pipeline_id: str) -> None:
    source = app.services.sources.get(app.services.pipelines.get(pipeline_id).source_id)
    data = changed_input(source, address=replace(source.address, host="elsewhere.example.com"))
    app.services.sources.update(app.context(), source.id, replace(data, secrets={"password": Secret("again")}))


def pause_all(app: InProcessApp, delivery_id: str) -> None:
    destination = app.services.deliveries.get(delivery_id).destination_id
    app.services.deliveries.control_all(app.context(), destination, OperationKind.PAUSE, None)


def a_used_connection(app: InProcessApp) -> str:
    """Of a source with a deployed pipeline and of a destination."""
    connection = app.connection()
    app.services.pipelines.deploy(app.context(), app.pipeline(app.source(connection)).id)
    app.destination(connection)
    return connection.id


def change_a_connection(app: InProcessApp, connection_id: str) -> None:
    services, context = app.services, app.context()
    connection = services.connections.get(connection_id)
    moved = changed_connection(connection, address=replace(connection.address, host="elsewhere.example.com"))
    services.connections.update(context, connection_id, moved)
    services.connections.test(context, connection_id)
    services.connections.filtered(Capability.SOURCE, limit=10, after=None)


def use_a_connection(app: InProcessApp, connection_id: str) -> None:
    services, context = app.services, app.context()
    user = app.destination(services.connections.get(connection_id))
    services.destinations.update(context, user.id, changed_input(user, name="renamed"))
    own = {"address": replace(user.address, username="other"), "secrets": {"password": Secret("own")}}
    services.destinations.update(context, user.id, changed_input(user, **own))
    services.destinations.update(context, user.id, changed_input(user))
    services.destinations.delete(context, user.id)


def delete_what_is_used(app: InProcessApp, delivery_id: str) -> None:
    services, context = app.services, app.context()
    delivery = services.deliveries.get(delivery_id)
    pipeline = services.pipelines.get(delivery.pipeline_id)
    for service, used_id in (
        (services.sources, pipeline.source_id),
        (services.destinations, delivery.destination_id),
        (services.pipelines, pipeline.id),
        (services.connect_clusters, pipeline.connect_cluster_id),
        (services.stream_clusters, pipeline.stream_cluster_id),
    ):
        deletes: Any = service
        with pytest.raises(Conflict):
            deletes.delete(context, used_id)


OTHER_CHANGES: dict[str, tuple[Callable[[InProcessApp], str], Act]] = {
    "change a connection": (a_used_connection, change_a_connection),
    "use a connection": (lambda h: h.connection().id, use_a_connection),
    "delete a connection": (
        lambda h: h.connection().id,
        lambda h, one: h.services.connections.delete(h.context(), one),
    ),
    "delete what is used": (a_delivery, delete_what_is_used),
    "forget a delivery": (a_delivery, lambda h, one: forget(h, h.services.deliveries, one)),
    "forget a pipeline": (lambda h: h.deployed_pipeline().id, lambda h, one: forget(h, h.services.pipelines, one)),
    "move a source with a draft": (lambda h: h.pipeline().id, move_the_source),
    "move a source with a pipeline": (lambda h: h.deployed_pipeline().id, move_the_source),
    "pause all deliveries": (a_delivery, pause_all),
}


@pytest.mark.parametrize("name", OTHER_CHANGES)
def test_the_api_may_do_all_that_a_change_without_an_operation_needs(app: InProcessApp, name: str) -> None:
    prepare, act = OTHER_CHANGES[name]
    resource_id = prepare(app)
    with taken() as calls:
        act(app, resource_id)
    assert refused("api_handler", calls) == set()


@pytest.mark.parametrize("case", OPERATIONS, ids=str)
def test_a_tick_may_do_all_that_finishes_what_the_api_left_open(app: InProcessApp, case: OperationCase) -> None:
    operation = case.prepare(app)
    app.tick()
    operation.warm_up()
    app.interceptor.watch(after_the_first_transaction)
    try:
        with pytest.raises(Crash):
            operation.request()
    finally:
        app.interceptor.unwatch()
    app.restart()
    cluster = app.cluster
    assert len(app.services.stores.connectors.operations.open_on(cluster.id).operations) == 1
    with taken() as calls:
        for seconds in SETTLES:
            app.tick(cluster, after=seconds)
    assert app.services.stores.connectors.operations.open_on(cluster.id).operations == ()
    assert refused("run_tick", calls) == set()
