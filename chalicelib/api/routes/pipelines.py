"""Routes of pipelines."""

from chalicelib.api.contract.deliveries import DeliveryOutput
from chalicelib.api.contract.lists import ListQuery
from chalicelib.api.contract.live_reads import FreshQuery
from chalicelib.api.contract.pipelines import (
    ContinueQuery,
    ContinueTaskQuery,
    PipelineBody,
    PipelineDetailOutput,
    PipelineOutput,
    PipelinePreviewOutput,
    pipeline_definition,
)
from chalicelib.api.contract.runtime import PipelineDeletionQuery, PipelineStatusOutput, RowOutput, row_output
from chalicelib.api.contract.searches import ConnectorSearchQuery
from chalicelib.api.contract.views import Definition, ViewQuery
from chalicelib.api.framework.http import JsonResponse, WithList, deletion_response, operation_response
from chalicelib.api.framework.route import UuidPath
from chalicelib.api.framework.router import Router
from chalicelib.domain.access import Permission, RequestContext
from chalicelib.domain.operation import OperationKind
from chalicelib.kit.pages import Page
from chalicelib.wiring import services

routes = Router(tag="Pipelines")


@routes.get("/pipelines", needs=Permission.READ)
def list_pipelines(query: ConnectorSearchQuery) -> Page[PipelineOutput | Definition | RowOutput]:
    """List pipelines, newest first unless `sort` says otherwise."""
    if query.wants_rows:
        return services().pipelines.rows(**query.to_arguments()).map(row_output)
    page = services().pipelines.list(**query.to_arguments())
    return page.map(query.rendering(PipelineOutput.of, pipeline_definition))


@routes.post("/pipelines", needs=Permission.WRITE, status=201, has_dry_run=True)
def create_pipeline(context: RequestContext, body: PipelineBody) -> PipelineOutput:
    """Validate a pipeline against source and Connect, and store it as a draft. Deploys nothing."""
    return PipelineOutput.of(services().pipelines.create(context, body.to_input()))


@routes.post("/pipelines/preview", needs=Permission.WRITE)
def preview_pipeline(context: RequestContext, body: PipelineBody) -> PipelinePreviewOutput:
    """Generate and validate the connector config. Saves nothing, shows no secret."""
    with services().limits.test(context):
        return PipelinePreviewOutput.of(services().pipelines.preview(context, body.to_input()))


@routes.get("/pipelines/{uuid}", needs=Permission.READ)
def get_pipeline(uuid: UuidPath, query: ViewQuery) -> WithList[PipelineDetailOutput | Definition]:
    """Show a pipeline with its source, clusters, config and destinations.

    `X-Next-Cursor` is present when `destinations` does not show all: a cursor of `/pipelines/{uuid}/destinations`.
    """
    if query.wants_definition:
        return WithList(body=pipeline_definition(services().pipelines.get(uuid)))
    detail = services().pipelines.detail(uuid)
    deliveries = detail.deliveries.map(DeliveryOutput.of)
    body = PipelineDetailOutput.of_detail(detail)
    return WithList(body=body, field="destinations", page=deliveries, list_path="/destinations")


@routes.delete("/pipelines/{uuid}", needs=Permission.ADMINISTER, status=204, also=(202,), has_dry_run=True)
def delete_pipeline(
    context: RequestContext, uuid: UuidPath, query: PipelineDeletionQuery
) -> JsonResponse[PipelineOutput | None]:
    """Delete the connector and the pipeline. Publication and topics stay; without `drop_slot` the slot does, too, and
    without `drop_history` the schema history.
    """
    drop, topics = query.drop_slot, query.drop_history
    remaining = services().pipelines.delete(context, uuid, release=drop, delete_topics=topics, forget=query.forget)
    return deletion_response(PipelineOutput.of(remaining) if remaining else None)


@routes.get("/pipelines/{uuid}/status", needs=Permission.READ)
def pipeline_status(context: RequestContext, uuid: UuidPath, query: FreshQuery) -> PipelineStatusOutput:
    """Observe the connector and every task. What was seen in the last five seconds is shown again."""
    return PipelineStatusOutput.of(services().pipelines.status(context, uuid, fresh=query.fresh_for(context)))


@routes.get("/pipelines/{uuid}/destinations", needs=Permission.READ)
def list_pipeline_destinations(uuid: UuidPath, query: ListQuery) -> Page[DeliveryOutput]:
    """List the pipeline's deliveries, newest first."""
    page = services().pipelines.destinations(uuid, limit=query.limit, after=query.after)
    return page.map(DeliveryOutput.of)


@routes.post("/pipelines/{uuid}/deploy", needs=Permission.OPERATE, also=(202,), has_dry_run=True)
def deploy_pipeline(context: RequestContext, uuid: UuidPath, query: ContinueQuery) -> JsonResponse[PipelineOutput]:
    """Create and start the connector. 202 with `open_operation` when the outcome is not known yet."""
    deployed = services().pipelines.deploy(context, uuid, accept_data_loss=query.accept_data_loss)
    return operation_response(PipelineOutput.of(deployed))


@routes.post("/pipelines/{uuid}/pause", needs=Permission.OPERATE, also=(202,), has_dry_run=True)
def pause_pipeline(context: RequestContext, uuid: UuidPath) -> JsonResponse[PipelineOutput]:
    """Pause the connector. The slot keeps its position in the source."""
    return operation_response(PipelineOutput.of(services().pipelines.pause(context, uuid)))


@routes.post("/pipelines/{uuid}/resume", needs=Permission.OPERATE, also=(202,), has_dry_run=True)
def resume_pipeline(context: RequestContext, uuid: UuidPath, query: ContinueQuery) -> JsonResponse[PipelineOutput]:
    """Continue where it was paused. 409 when changes were lost meanwhile."""
    resumed = services().pipelines.resume(context, uuid, accept_data_loss=query.accept_data_loss)
    return operation_response(PipelineOutput.of(resumed))


@routes.post("/pipelines/{uuid}/restart", needs=Permission.OPERATE, also=(202,), has_dry_run=True)
def restart_pipeline(context: RequestContext, uuid: UuidPath, query: ContinueQuery) -> JsonResponse[PipelineOutput]:
    """Restart the connector and all of its tasks. 409 when changes were lost meanwhile."""
    restarted = services().pipelines.restart(context, uuid, accept_data_loss=query.accept_data_loss)
    return operation_response(PipelineOutput.of(restarted))


@routes.post("/pipelines/{uuid}/restart-task", needs=Permission.OPERATE, also=(202,), has_dry_run=True)
def restart_pipeline_task(
    context: RequestContext, uuid: UuidPath, query: ContinueTaskQuery
) -> JsonResponse[PipelineOutput]:
    """Restart one task. 409 when changes were lost meanwhile."""
    kind, parameters = OperationKind.RESTART_TASK, query.model_dump()
    return operation_response(PipelineOutput.of(services().pipelines.control(context, uuid, kind, **parameters)))
