"""Routes of the topics of a stream cluster."""

from chalicelib.api.contract.live_reads import observed_at
from chalicelib.api.contract.topics import (
    TopicClusterQuery,
    TopicDetailOutput,
    TopicListQuery,
    TopicOutput,
    TopicQuery,
)
from chalicelib.api.framework.http import JsonResponse
from chalicelib.api.framework.router import Router
from chalicelib.domain.access import Permission, RequestContext
from chalicelib.kit.pages import Page
from chalicelib.wiring import services

routes = Router(tag="Topics")


@routes.get("/stream/topics", needs=Permission.READ, also=(404, 409))
def list_topics(context: RequestContext, query: TopicListQuery) -> JsonResponse[Page[TopicOutput]]:
    """List the topics of a stream cluster, by name. `X-Observed-At` is when the brokers answered."""
    limit, after, fresh = query.limit, query.after, query.fresh_for(context)
    topics = services().topics.list(context, query.cluster_id, limit=limit, after=after, fresh=fresh)
    return JsonResponse(body=topics.value.map(TopicOutput.of), status=200, headers=observed_at(topics))


@routes.get("/stream/topics/{name}", needs=Permission.READ)
def get_topic(context: RequestContext, name: str, query: TopicQuery) -> TopicDetailOutput:
    """Show a topic with its partitions and settings."""
    topic = services().topics.get(context, query.cluster_id, name, fresh=query.fresh_for(context))
    return TopicDetailOutput.answered(topic)


@routes.delete("/stream/topics/{name}", needs=Permission.ADMINISTER, has_dry_run=True)
def delete_topic(context: RequestContext, name: str, query: TopicClusterQuery) -> None:
    """Delete a topic that is not protected and that no pipeline uses."""
    services().topics.delete(context, query.cluster_id, name)
