"""Operations on connectors that are run with faults at every call."""

from collections.abc import Callable
from dataclasses import replace

from chalicelib.domain.database import SslMode
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.operation import OperationKind
from chalicelib.domain.pipeline import Pipeline
from chalicelib.errors import NotFound
from chalicelib.services.deliveries import DeliveryService
from infra.local.doubles.connect_faults import FaultEffect
from tests.faults.cases.operation_case import OperationCase, PreparedOperation
from tests.faults.inspection import bodies
from tests.support.apps.in_process_app import InProcessApp, changed_input

Resource = Pipeline | Delivery
Request = Callable[[], Resource | None]
DELIVERY_ID = "7d0f3c7e-35a1-4d57-8a53-5a8f2a4f6d10"


def stored(app: InProcessApp, resource_id: str) -> Resource | None:
    """The stored pipeline or delivery."""
    stores = app.services.stores
    return stores.pipelines.find(resource_id) or stores.deliveries.find(resource_id)


def has_desired_state(app: InProcessApp, resource_id: str, state: DesiredState) -> Callable[[], bool]:
    """A function that says whether the resource exists with this desired state."""

    def is_done() -> bool:
        found = stored(app, resource_id)
        return found is not None and found.desired_state is state

    return is_done


def with_pipeline(
    app: InProcessApp, pipeline_id: str, request: Request, is_done: Callable[[], bool]
) -> PreparedOperation:
    """An operation on a pipeline that was read before."""
    return PreparedOperation(
        warm_up=lambda: app.services.pipelines.detail(pipeline_id),
        request=request,
        is_done=is_done,
    )


def with_delivery(app: InProcessApp, request: Request, is_done: Callable[[], bool]) -> PreparedOperation:
    """An operation on the delivery, which was read before."""
    return PreparedOperation(
        warm_up=lambda: app.services.deliveries.get(DELIVERY_ID),
        request=request,
        is_done=is_done,
    )


def deploy_pipeline(app: InProcessApp) -> PreparedOperation:
    pipeline_id = app.pipeline().id
    return with_pipeline(
        app,
        pipeline_id,
        request=lambda: app.services.pipelines.deploy(app.context(), pipeline_id),
        is_done=has_desired_state(app, pipeline_id, DesiredState.RUNNING),
    )


def pause_pipeline(app: InProcessApp) -> PreparedOperation:
    pipeline_id = app.deployed_pipeline().id
    return with_pipeline(
        app,
        pipeline_id,
        request=lambda: app.services.pipelines.pause(app.context(), pipeline_id),
        is_done=has_desired_state(app, pipeline_id, DesiredState.PAUSED),
    )


def resume_pipeline(app: InProcessApp) -> PreparedOperation:
    pipeline_id = app.deployed_pipeline().id
    app.services.pipelines.pause(app.context(), pipeline_id)
    return with_pipeline(
        app,
        pipeline_id,
        request=lambda: app.services.pipelines.resume(app.context(), pipeline_id),
        is_done=has_desired_state(app, pipeline_id, DesiredState.RUNNING),
    )


def restart_pipeline(app: InProcessApp) -> PreparedOperation:
    """Done after a third start: the deploy and the restore of the prepared state start it, too."""
    pipeline = app.deployed_pipeline()
    return with_pipeline(
        app,
        pipeline.id,
        request=lambda: app.services.pipelines.restart(app.context(), pipeline.id),
        is_done=lambda: app.connect.starts(pipeline.connector_name) > 2,
    )


def redeploy_pipeline(app: InProcessApp) -> PreparedOperation:
    """Its source has been changed since it was deployed."""
    pipeline = app.deployed_pipeline()
    source = app.services.sources.get(pipeline.source_id)
    data = changed_input(source, address=replace(source.address, ssl_mode=SslMode.DISABLE))
    app.services.sources.update(app.context(), source.id, data)
    return with_pipeline(
        app,
        pipeline.id,
        request=lambda: app.services.pipelines.deploy(app.context(), pipeline.id),
        is_done=lambda: app.connect.config_of(pipeline.connector_name)["database.sslmode"] == "disable",
    )


def deploy_missing_connector(app: InProcessApp) -> PreparedOperation:
    """Somebody has deleted the connector in Kafka Connect."""
    pipeline = app.deployed_pipeline()

    def read_without_connector() -> None:
        app.connect.drop(pipeline.connector_name)
        app.services.pipelines.detail(pipeline.id)

    return PreparedOperation(
        warm_up=read_without_connector,
        request=lambda: app.services.pipelines.deploy(app.context(), pipeline.id),
        is_done=lambda: pipeline.connector_name in app.connect.names(),
        ticks_do_it_too=True,
    )


def delete_pipeline(app: InProcessApp) -> PreparedOperation:
    pipeline_id = app.deployed_pipeline().id
    return with_pipeline(
        app,
        pipeline_id,
        request=lambda: app.services.pipelines.delete(app.context(), pipeline_id),
        is_done=lambda: stored(app, pipeline_id) is None,
    )


def delete_pipeline_with_slot(app: InProcessApp) -> PreparedOperation:
    """Nothing reads from the slot any more once the connector is gone. A slot that was not dropped is in the audit."""
    pipeline_id = app.deployed_pipeline().id
    slot = f"headgate_slot_{pipeline_id.replace('-', '')}"

    def is_done() -> bool:
        details = [one["after"] or {} for one in bodies(app, "audit")]
        reported = any(one.get("slot_dropped") is False for one in details)
        return stored(app, pipeline_id) is None and (reported or slot not in app.database.slots)

    def read_with_slot() -> None:
        app.database.slots[slot] = False
        app.services.pipelines.detail(pipeline_id)

    return PreparedOperation(
        warm_up=read_with_slot,
        request=lambda: app.services.pipelines.delete(app.context(), pipeline_id, release=True),
        is_done=is_done,
    )


def forget_pipeline(app: InProcessApp) -> PreparedOperation:
    """Connect answers nothing that can be used while the request runs."""
    pipeline_id = app.deployed_pipeline().id

    def forget() -> Resource | None:
        fault = app.connect.plant(FaultEffect.NOT_READY, times=1_000)
        try:
            return app.services.pipelines.delete(app.context(), pipeline_id, forget=True)
        finally:
            fault.release()
            app.connect.faults.clear()

    prepared = with_pipeline(app, pipeline_id, request=forget, is_done=lambda: stored(app, pipeline_id) is None)
    return replace(prepared, leaves_connector=True)


def deploy_delivery(app: InProcessApp) -> PreparedOperation:
    """Always with the same idempotency key and the same body."""
    pipeline, destination = app.deployed_pipeline(), app.destination()
    data = app.delivery_input(pipeline, "orders", "customers")
    return PreparedOperation(
        warm_up=lambda: app.services.deliveries.preview(app.context(), destination.id, data),
        request=lambda: app.services.deliveries.deploy(app.context(key=DELIVERY_ID), destination.id, data),
        is_done=has_desired_state(app, DELIVERY_ID, DesiredState.RUNNING),
    )


def deployed_delivery(app: InProcessApp) -> Delivery:
    """A running delivery."""
    deploy_delivery(app).request()
    return app.services.stores.deliveries.get(DELIVERY_ID)


def remap_delivery(app: InProcessApp) -> PreparedOperation:
    """One target table stays, the other is replaced."""
    one, other = deployed_delivery(app).mappings
    desired = (one, replace(other, table_name="clients"))
    return with_delivery(
        app,
        request=lambda: app.services.deliveries.update_mappings(app.context(), DELIVERY_ID, desired),
        is_done=lambda: app.services.stores.deliveries.get(DELIVERY_ID).mappings == desired,
    )


def move_delivery(app: InProcessApp) -> PreparedOperation:
    """All tables move to another schema."""
    desired = tuple(replace(mapping, schema_name="other") for mapping in deployed_delivery(app).mappings)
    return with_delivery(
        app,
        request=lambda: app.services.deliveries.update_mappings(app.context(), DELIVERY_ID, desired),
        is_done=lambda: app.services.stores.deliveries.get(DELIVERY_ID).mappings == desired,
    )


def delete_delivery(app: InProcessApp) -> PreparedOperation:
    deployed_delivery(app)
    return with_delivery(
        app,
        request=lambda: app.services.deliveries.delete(app.context(), DELIVERY_ID),
        is_done=lambda: stored(app, DELIVERY_ID) is None,
    )


def delete_draft(app: InProcessApp) -> PreparedOperation:
    """A pipeline that was never deployed."""
    pipeline_id = app.pipeline().id
    return with_pipeline(
        app,
        pipeline_id,
        request=lambda: app.services.pipelines.delete(app.context(), pipeline_id),
        is_done=lambda: stored(app, pipeline_id) is None,
    )


def restart_task(app: InProcessApp) -> PreparedOperation:
    """Done when one more operation has succeeded: a task that runs looks the same afterwards."""
    pipeline = app.deployed_pipeline()
    return with_pipeline(
        app,
        pipeline.id,
        request=lambda: app.services.pipelines.control(app.context(), pipeline.id, OperationKind.RESTART_TASK, task=0),
        is_done=lambda: app.services.stores.pipelines.get(pipeline.id).version > pipeline.version,
    )


def control_delivery(
    kind: OperationKind, *, of_destination: bool = False
) -> Callable[[InProcessApp], PreparedOperation]:
    """Pause, resume or restart a delivery, alone or with all others of its destination, or restart its task."""

    def prepare(app: InProcessApp) -> PreparedOperation:
        delivery, deliveries = deployed_delivery(app), app.services.deliveries
        if kind is OperationKind.RESUME:
            delivery = deliveries.control(app.context(), DELIVERY_ID, OperationKind.PAUSE)
        version, task = delivery.version, 0 if kind is OperationKind.RESTART_TASK else None

        def request() -> Resource | None:
            if not of_destination:
                return deliveries_of(app).control(app.context(), DELIVERY_ID, kind, task=task)
            outcomes = deliveries_of(app).control_all(app.context(), delivery.destination_id, kind, None)
            if not outcomes:
                raise NotFound("The list of the destination's deliveries is out of date.")
            outcome = outcomes[0]
            if outcome.error and not outcome.delivery.open_operation:
                raise outcome.error
            return outcome.delivery

        return with_delivery(
            app, request, is_done=lambda: app.services.stores.deliveries.get(DELIVERY_ID).version > version
        )

    return prepare


def deliveries_of(app: InProcessApp) -> DeliveryService:
    """The service of the app's current process."""
    return app.services.deliveries


FORGET_PIPELINE = OperationCase(name="pipeline forget", prepare=forget_pipeline)
"""It changes nothing in Connect, so it is no operation with an intent and a result."""

DEPLOY_PIPELINE = OperationCase(name="pipeline deploy", prepare=deploy_pipeline)
DEPLOY_DELIVERY = OperationCase(name="delivery deploy", prepare=deploy_delivery)
REMAP_DELIVERY = OperationCase(name="delivery mappings", prepare=remap_delivery)
OPERATION_CASES = (
    DEPLOY_PIPELINE,
    DEPLOY_DELIVERY,
    OperationCase(name="pipeline pause", prepare=pause_pipeline),
    OperationCase(name="pipeline resume", prepare=resume_pipeline),
    OperationCase(name="pipeline restart", prepare=restart_pipeline),
    OperationCase(name="pipeline config", prepare=redeploy_pipeline),
    OperationCase(name="pipeline deploy again", prepare=deploy_missing_connector),
    OperationCase(name="pipeline delete", prepare=delete_pipeline),
    OperationCase(name="pipeline delete with slot", prepare=delete_pipeline_with_slot),
    REMAP_DELIVERY,
    OperationCase(name="delivery schema", prepare=move_delivery),
    OperationCase(name="delivery delete", prepare=delete_delivery),
    OperationCase(name="pipeline restart task", prepare=restart_task),
    OperationCase(name="delivery pause", prepare=control_delivery(OperationKind.PAUSE)),
    OperationCase(name="delivery resume", prepare=control_delivery(OperationKind.RESUME)),
    OperationCase(name="delivery restart", prepare=control_delivery(OperationKind.RESTART)),
    OperationCase(name="delivery restart task", prepare=control_delivery(OperationKind.RESTART_TASK)),
    OperationCase(name="destination pause", prepare=control_delivery(OperationKind.PAUSE, of_destination=True)),
    OperationCase(name="destination resume", prepare=control_delivery(OperationKind.RESUME, of_destination=True)),
    OperationCase(name="destination restart", prepare=control_delivery(OperationKind.RESTART, of_destination=True)),
)
OTHER_CASES = (FORGET_PIPELINE, OperationCase(name="draft delete", prepare=delete_draft))
"""They change nothing in Connect."""
