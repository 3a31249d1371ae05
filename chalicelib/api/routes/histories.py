"""Routes of what was: timelines, and histories of numbers."""

from chalicelib.api.contract.histories import HistoryQuery, LogHistoryOutput, MetricHistoryOutput
from chalicelib.api.contract.lists import ListQuery
from chalicelib.api.contract.timelines import TimelineEntryOutput
from chalicelib.api.framework.route import UuidPath
from chalicelib.api.framework.router import Router
from chalicelib.domain.access import Permission, RequestContext
from chalicelib.kit.pages import Page
from chalicelib.wiring import services

routes = Router(tag="Monitoring")


@routes.get("/pipelines/{uuid}/timeline", needs=Permission.READ, tag="Pipelines")
def pipeline_timeline(context: RequestContext, uuid: UuidPath, query: ListQuery) -> Page[TimelineEntryOutput]:
    """List what was done to the pipeline and what was seen of it, newest first.

    An operation is one entry, at the time of its request. Observed states, incidents, alerts and changes of the schemas
    of captured tables are kept for 30 days, and at most the newest 500 of a resource. Operations are kept as long as
    the audit trail.
    """
    page = services().timelines.of_pipeline(context, uuid, limit=query.limit, after=query.after)
    return page.map(TimelineEntryOutput.of)


@routes.get("/deliveries/{uuid}/timeline", needs=Permission.READ, tag="Deliveries")
def delivery_timeline(context: RequestContext, uuid: UuidPath, query: ListQuery) -> Page[TimelineEntryOutput]:
    """List what was done to the delivery and what was seen of it, newest first.

    An operation is one entry, at the time of its request. Observed states, incidents, alerts and changes of the schemas
    of mapped tables are kept for 30 days, and at most the newest 500 of a resource. Operations are kept as long as the
    audit trail.
    """
    page = services().timelines.of_delivery(context, uuid, limit=query.limit, after=query.after)
    return page.map(TimelineEntryOutput.of)


@routes.get("/pipelines/{uuid}/metric-history", needs=Permission.READ, tag="Pipelines")
def pipeline_metric_history(uuid: UuidPath, query: HistoryQuery) -> MetricHistoryOutput:
    """Show how many records a second the pipeline has captured."""
    return MetricHistoryOutput.of(services().histories.of_pipeline(uuid, *query.bounds))


@routes.get("/deliveries/{uuid}/metric-history", needs=Permission.READ, tag="Deliveries")
def delivery_metric_history(uuid: UuidPath, query: HistoryQuery) -> MetricHistoryOutput:
    """Show how many records a second the delivery has delivered, and how many waited."""
    return MetricHistoryOutput.of(services().histories.of_delivery(uuid, *query.bounds))


@routes.get("/sources/{uuid}/log-history", needs=Permission.READ, tag="Sources")
def source_log_history(uuid: UuidPath, query: HistoryQuery) -> LogHistoryOutput:
    """Show how much of its log the source has kept for captures, and how much more it could have kept."""
    return LogHistoryOutput.of(services().histories.of_source(uuid, *query.bounds))
