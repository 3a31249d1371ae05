"""Routes of destinations and of their deliveries."""

from chalicelib.api.contract.connections import ConnectionTestInput
from chalicelib.api.contract.databases import TestOutput
from chalicelib.api.contract.deliveries import (
    OFFSETS_NOTICE,
    DeliveryBody,
    DeliveryMappingsOutput,
    DeliveryOutcomeOutput,
    DeliveryOutcomesOutput,
    DeliveryOutput,
    DeliveryPreviewOutput,
    DeliveryQuery,
    DestinationStatusOutput,
    MappingsBody,
)
from chalicelib.api.contract.destinations import DestinationBody, DestinationOutput, destination_definition
from chalicelib.api.contract.lists import ListQuery
from chalicelib.api.contract.live_reads import FreshListQuery
from chalicelib.api.contract.rotation import RotationOutput, RotationQuery, SystemRotationBody
from chalicelib.api.contract.runtime import DeletionQuery, DeliveryStatusOutput
from chalicelib.api.contract.searches import SearchQuery
from chalicelib.api.contract.views import Definition, ViewQuery
from chalicelib.api.framework.http import JsonResponse, WithList, deletion_response, operation_response
from chalicelib.api.framework.route import TaskPath, UuidPath
from chalicelib.api.framework.router import Router
from chalicelib.domain.access import Permission, RequestContext
from chalicelib.domain.operation import OperationKind
from chalicelib.kit.pages import Page
from chalicelib.wiring import services

routes = Router(tag="Destinations")


@routes.get("/destinations", needs=Permission.READ)
def list_destinations(query: SearchQuery) -> Page[DestinationOutput | Definition]:
    """List destinations, newest first."""
    page = services().destinations.list(limit=query.limit, after=query.after, search=query.to_search())
    return page.map(query.rendering(DestinationOutput.of, destination_definition))


@routes.post("/destinations", needs=Permission.WRITE, status=201, has_dry_run=True)
def create_destination(context: RequestContext, body: DestinationBody) -> DestinationOutput:
    """Register a destination. Creates no delivery and contacts no server."""
    return DestinationOutput.of(services().destinations.create(context, body.to_input()))


@routes.post("/destinations/test-connection", needs=Permission.WRITE)
def test_connection(context: RequestContext, body: ConnectionTestInput) -> TestOutput:
    """Test a connection, registered or not, without storing anything."""
    with services().limits.test(context):
        return TestOutput.of(services().connections.test_unsaved(context, body.to_input()))


@routes.get("/destinations/{uuid}", needs=Permission.READ)
def get_destination(uuid: UuidPath, query: ViewQuery) -> DestinationOutput | Definition:
    """Show a destination."""
    return query.rendering(DestinationOutput.of, destination_definition)(services().destinations.get(uuid))


@routes.put("/destinations/{uuid}", needs=Permission.WRITE, has_dry_run=True)
def update_destination(context: RequestContext, uuid: UuidPath, body: DestinationBody) -> DestinationOutput:
    """Replace a destination. Blank secrets keep what is stored."""
    return DestinationOutput.of(services().destinations.update(context, uuid, body.to_input()))


@routes.delete("/destinations/{uuid}", needs=Permission.ADMINISTER, has_dry_run=True)
def delete_destination(context: RequestContext, uuid: UuidPath) -> None:
    """Delete a destination without deliveries."""
    services().destinations.delete(context, uuid)


@routes.post("/destinations/{uuid}/test", needs=Permission.WRITE)
def test_destination(context: RequestContext, uuid: UuidPath) -> TestOutput:
    """Test the connection, bounded and read-only."""
    with services().limits.test(context):
        return TestOutput.of(services().destinations.test(context, uuid))


@routes.post("/destinations/{uuid}/preview", needs=Permission.WRITE)
def preview_delivery(context: RequestContext, uuid: UuidPath, body: DeliveryBody) -> DeliveryPreviewOutput:
    """Check topics, schema, keys, target, plug-in and config. Saves nothing."""
    with services().limits.test(context):
        return DeliveryPreviewOutput.of(services().deliveries.preview(context, uuid, body.to_input()))


@routes.post(
    "/destinations/{uuid}/deploy",
    needs=Permission.OPERATE,
    status=201,
    also=(202,),
    location="/api/v1/deliveries/{id}",
    has_dry_run=True,
)
def deploy_delivery(context: RequestContext, uuid: UuidPath, body: DeliveryBody) -> JsonResponse[DeliveryOutput]:
    """Create the sink connector, then the delivery. 202 with `open_operation` when the outcome is not known yet."""
    delivery = services().deliveries.deploy(context, uuid, body.to_input())
    return operation_response(DeliveryOutput.of(delivery), status=201)


@routes.get("/destinations/{uuid}/mappings", needs=Permission.READ)
def list_destination_mappings(uuid: UuidPath, query: ListQuery) -> Page[DeliveryMappingsOutput]:
    """List the mappings of every delivery of the destination, the newest delivery first."""
    page = services().deliveries.list_of(uuid, limit=query.limit, after=query.after, by_size=True)
    return page.map(DeliveryMappingsOutput.of)


@routes.get("/destinations/{uuid}/status", needs=Permission.READ)
def destination_status(
    context: RequestContext, uuid: UuidPath, query: FreshListQuery
) -> WithList[DestinationStatusOutput]:
    """Observe every sink of the destination, each separately. The two states are of all sinks on every page."""
    observed = services().deliveries.status_of(context, uuid, fresh=query.fresh_for(context))
    statuses = observed.map(DeliveryStatusOutput.of)
    body = DestinationStatusOutput.of_statuses(uuid, statuses.items)
    return WithList(body=body, field="deliveries", page=statuses.below(query.after).first(query.limit), list_path="")


@routes.post("/destinations/{uuid}/pause", needs=Permission.OPERATE, has_dry_run=True)
def pause_destination(context: RequestContext, uuid: UuidPath, query: DeliveryQuery) -> DeliveryOutcomesOutput:
    """Pause one or all deliveries."""
    return _control(context, uuid, OperationKind.PAUSE, query)


@routes.post("/destinations/{uuid}/resume", needs=Permission.OPERATE, has_dry_run=True)
def resume_destination(context: RequestContext, uuid: UuidPath, query: DeliveryQuery) -> DeliveryOutcomesOutput:
    """Resume one or all deliveries."""
    return _control(context, uuid, OperationKind.RESUME, query)


@routes.post("/destinations/{uuid}/restart", needs=Permission.OPERATE, has_dry_run=True)
def restart_destination(context: RequestContext, uuid: UuidPath, query: DeliveryQuery) -> DeliveryOutcomesOutput:
    """Restart one or all deliveries."""
    return _control(context, uuid, OperationKind.RESTART, query)


@routes.put(
    "/destinations/{uuid}/deliveries/{delivery_uuid}/mappings", needs=Permission.WRITE, also=(202,), has_dry_run=True
)
def update_destination_mappings(
    context: RequestContext, uuid: UuidPath, delivery_uuid: UuidPath, body: MappingsBody
) -> JsonResponse[DeliveryOutput]:
    """Write other tables from now on; the whole validation is repeated. Offsets are kept, nothing is backfilled."""
    delivery = services().deliveries.update_mappings(context, delivery_uuid, body.to_mappings(), of=uuid)
    return operation_response(DeliveryOutput.of(delivery, notice=OFFSETS_NOTICE))


@routes.delete(
    "/destinations/{uuid}/deliveries/{delivery_uuid}",
    needs=Permission.ADMINISTER,
    status=204,
    also=(202,),
    has_dry_run=True,
)
def delete_destination_delivery(
    context: RequestContext, uuid: UuidPath, delivery_uuid: UuidPath, query: DeletionQuery
) -> JsonResponse[DeliveryOutput | None]:
    """Delete the connector and the delivery. What was written stays in the target."""
    remaining = services().deliveries.delete(context, delivery_uuid, of=uuid, forget=query.forget)
    return deletion_response(DeliveryOutput.of(remaining) if remaining else None)


@routes.post(
    "/destinations/{uuid}/deliveries/{delivery_uuid}/tasks/{task_id}/restart",
    needs=Permission.OPERATE,
    also=(202,),
    has_dry_run=True,
)
def restart_destination_task(
    context: RequestContext, uuid: UuidPath, delivery_uuid: UuidPath, task_id: TaskPath
) -> JsonResponse[DeliveryOutput]:
    """Restart one task of a delivery."""
    kind = OperationKind.RESTART_TASK
    delivery = services().deliveries.control(context, delivery_uuid, kind, of=uuid, task=task_id)
    return operation_response(DeliveryOutput.of(delivery))


def _control(context: RequestContext, uuid: str, kind: OperationKind, query: DeliveryQuery) -> DeliveryOutcomesOutput:
    outcomes = services().deliveries.control_all(context, uuid, kind, query.delivery_id)
    return DeliveryOutcomesOutput(deliveries=[DeliveryOutcomeOutput.of(outcome) for outcome in outcomes])


@routes.post("/destinations/{uuid}/credentials", needs=Permission.WRITE)
def rotate_destination_credentials(
    context: RequestContext, uuid: UuidPath, body: SystemRotationBody, query: RotationQuery
) -> RotationOutput:
    """Test new credentials, store them, and bring them to the connectors that use them."""
    with services().limits.test(context):
        return RotationOutput.of(
            services().rotation.rotate(context, "destination", uuid, body.secrets_for, force=query.force)
        )
