"""Routes of deliveries."""

from chalicelib.api.contract.deliveries import OFFSETS_NOTICE, DeliveryOutput, MappingsBody, delivery_definition
from chalicelib.api.contract.live_reads import FreshQuery
from chalicelib.api.contract.runtime import DeletionQuery, DeliveryStatusOutput, RowOutput, TaskQuery, row_output
from chalicelib.api.contract.searches import ConnectorSearchQuery
from chalicelib.api.contract.views import Definition, ViewQuery
from chalicelib.api.framework.http import JsonResponse, deletion_response, operation_response
from chalicelib.api.framework.route import UuidPath
from chalicelib.api.framework.router import Router
from chalicelib.domain.access import Permission, RequestContext
from chalicelib.domain.operation import OperationKind
from chalicelib.kit.pages import Page
from chalicelib.wiring import services

routes = Router(tag="Deliveries")


@routes.get("/deliveries", needs=Permission.READ)
def list_deliveries(query: ConnectorSearchQuery) -> Page[DeliveryOutput | Definition | RowOutput]:
    """List deliveries, newest first unless `sort` says otherwise."""
    if query.wants_rows:
        return services().deliveries.rows(**query.to_arguments()).map(row_output)
    page = services().deliveries.list(**query.to_arguments())
    return page.map(query.rendering(DeliveryOutput.of, delivery_definition))


@routes.get("/deliveries/{uuid}", needs=Permission.READ)
def get_delivery(uuid: UuidPath, query: ViewQuery) -> DeliveryOutput | Definition:
    """Show a delivery."""
    return query.rendering(DeliveryOutput.of, delivery_definition)(services().deliveries.get(uuid))


@routes.delete("/deliveries/{uuid}", needs=Permission.ADMINISTER, status=204, also=(202,), has_dry_run=True)
def delete_delivery(
    context: RequestContext, uuid: UuidPath, query: DeletionQuery
) -> JsonResponse[DeliveryOutput | None]:
    """Delete the connector and the delivery. What was written stays in the target."""
    remaining = services().deliveries.delete(context, uuid, forget=query.forget)
    return deletion_response(DeliveryOutput.of(remaining) if remaining else None)


@routes.get("/deliveries/{uuid}/status", needs=Permission.READ)
def delivery_status(context: RequestContext, uuid: UuidPath, query: FreshQuery) -> DeliveryStatusOutput:
    """Observe the sink and every task. What was seen in the last five seconds is shown again."""
    return DeliveryStatusOutput.of(services().deliveries.status(context, uuid, fresh=query.fresh_for(context)))


@routes.post("/deliveries/{uuid}/pause", needs=Permission.OPERATE, also=(202,), has_dry_run=True)
def pause_delivery(context: RequestContext, uuid: UuidPath) -> JsonResponse[DeliveryOutput]:
    """Pause the sink. Its offsets are kept."""
    return operation_response(DeliveryOutput.of(services().deliveries.control(context, uuid, OperationKind.PAUSE)))


@routes.post("/deliveries/{uuid}/resume", needs=Permission.OPERATE, also=(202,), has_dry_run=True)
def resume_delivery(context: RequestContext, uuid: UuidPath) -> JsonResponse[DeliveryOutput]:
    """Continue where it was paused."""
    return operation_response(DeliveryOutput.of(services().deliveries.control(context, uuid, OperationKind.RESUME)))


@routes.post("/deliveries/{uuid}/restart", needs=Permission.OPERATE, also=(202,), has_dry_run=True)
def restart_delivery(context: RequestContext, uuid: UuidPath) -> JsonResponse[DeliveryOutput]:
    """Restart the sink and all of its tasks."""
    return operation_response(DeliveryOutput.of(services().deliveries.control(context, uuid, OperationKind.RESTART)))


@routes.post("/deliveries/{uuid}/restart-task", needs=Permission.OPERATE, also=(202,), has_dry_run=True)
def restart_delivery_task(context: RequestContext, uuid: UuidPath, query: TaskQuery) -> JsonResponse[DeliveryOutput]:
    """Restart one task."""
    return operation_response(
        DeliveryOutput.of(services().deliveries.control(context, uuid, OperationKind.RESTART_TASK, task=query.task))
    )


@routes.put("/deliveries/{uuid}/mappings", needs=Permission.WRITE, also=(202,), has_dry_run=True)
def update_delivery_mappings(
    context: RequestContext, uuid: UuidPath, body: MappingsBody
) -> JsonResponse[DeliveryOutput]:
    """Write other tables from now on; the whole validation is repeated. Offsets are kept, nothing is backfilled."""
    delivery = services().deliveries.update_mappings(context, uuid, body.to_mappings())
    return operation_response(DeliveryOutput.of(delivery, notice=OFFSETS_NOTICE))
