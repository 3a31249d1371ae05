"""Routes of deliveries."""

from chalicelib.api.contract.deliveries import OFFSETS_NOTICE, DeliveryOutput, MappingsBody
from chalicelib.api.contract.lists import ListQuery
from chalicelib.api.contract.runtime import DeliveryStatusOutput
from chalicelib.api.http import Answer
from chalicelib.api.pipelines import TaskQuery
from chalicelib.api.route import UuidPath
from chalicelib.api.router import Router
from chalicelib.domain.access import Permission, RequestContext
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.operation import OperationKind
from chalicelib.kit.pages import Page
from chalicelib.wiring import services

routes = Router(tag="Deliveries")


@routes.get("/deliveries", needs=Permission.READ)
def list_deliveries(query: ListQuery) -> Page[DeliveryOutput]:
    """List deliveries, newest first."""
    return services().deliveries.list(limit=query.limit, after=query.after).map(DeliveryOutput.of)


@routes.get("/deliveries/{uuid}", needs=Permission.READ)
def get_delivery(uuid: UuidPath) -> DeliveryOutput:
    """Show a delivery."""
    return DeliveryOutput.of(services().deliveries.get(uuid))


@routes.delete("/deliveries/{uuid}", needs=Permission.ADMINISTER, status=204, also=(202,))
def delete_delivery(context: RequestContext, uuid: UuidPath) -> Answer[DeliveryOutput | None]:
    """Delete the connector and the delivery. What was written stays in the target."""
    return after_delete(services().deliveries.delete(context, uuid))


@routes.get("/deliveries/{uuid}/status", needs=Permission.READ)
def delivery_status(context: RequestContext, uuid: UuidPath) -> DeliveryStatusOutput:
    """Look at the sink and every task now."""
    return DeliveryStatusOutput.of(services().deliveries.status(context, uuid))


@routes.post("/deliveries/{uuid}/pause", needs=Permission.OPERATE, also=(202,))
def pause_delivery(context: RequestContext, uuid: UuidPath) -> Answer[DeliveryOutput]:
    """Pause the sink. Its offsets keep their place."""
    return after(services().deliveries.control(context, uuid, OperationKind.PAUSE))


@routes.post("/deliveries/{uuid}/resume", needs=Permission.OPERATE, also=(202,))
def resume_delivery(context: RequestContext, uuid: UuidPath) -> Answer[DeliveryOutput]:
    """Go on where it was paused."""
    return after(services().deliveries.control(context, uuid, OperationKind.RESUME))


@routes.post("/deliveries/{uuid}/restart", needs=Permission.OPERATE, also=(202,))
def restart_delivery(context: RequestContext, uuid: UuidPath) -> Answer[DeliveryOutput]:
    """Restart the sink and all of its tasks."""
    return after(services().deliveries.control(context, uuid, OperationKind.RESTART))


@routes.post("/deliveries/{uuid}/restart-task", needs=Permission.OPERATE, also=(202,))
def restart_delivery_task(context: RequestContext, uuid: UuidPath, query: TaskQuery) -> Answer[DeliveryOutput]:
    """Restart one task."""
    return after(services().deliveries.control(context, uuid, OperationKind.RESTART_TASK, task=query.task))


@routes.put("/deliveries/{uuid}/mappings", needs=Permission.WRITE, also=(202,))
def update_delivery_mappings(context: RequestContext, uuid: UuidPath, body: MappingsBody) -> Answer[DeliveryOutput]:
    """Write other tables from now on; the whole validation is repeated. Offsets are kept, nothing is backfilled."""
    return after_mappings(services().deliveries.update_mappings(context, uuid, body.given()))


def after(delivery: Delivery) -> Answer[DeliveryOutput]:
    """The delivery after an operation; 202 when that is not settled yet."""
    return Answer(body=DeliveryOutput.of(delivery), status=202 if delivery.open_operation else 200)


def after_mappings(delivery: Delivery) -> Answer[DeliveryOutput]:
    """The same, with what a change of mappings does not do."""
    body = DeliveryOutput.of(delivery, notice=OFFSETS_NOTICE)
    return Answer(body=body, status=202 if delivery.open_operation else 200)


def after_delete(left: Delivery | None) -> Answer[DeliveryOutput | None]:
    """Nothing when it is gone; the delivery with its open operation when that is not settled yet."""
    return Answer(body=DeliveryOutput.of(left) if left else None, status=202 if left else 204)
