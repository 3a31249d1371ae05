"""Routes of consumer groups."""

from chalicelib.api.contract.consumer_groups import ConsumerGroupOutput, ConsumerGroupsQuery
from chalicelib.api.contract.live_reads import observed_at
from chalicelib.api.framework.http import JsonResponse
from chalicelib.api.framework.router import Router
from chalicelib.domain.access import Permission, RequestContext
from chalicelib.kit.pages import Page
from chalicelib.wiring import services

routes = Router(tag="Consumer groups")


@routes.get("/stream/consumer-groups", needs=Permission.READ, also=(404, 409))
def list_consumer_groups(
    context: RequestContext, query: ConsumerGroupsQuery
) -> JsonResponse[Page[ConsumerGroupOutput]]:
    """List the consumer groups of a stream cluster, by id. `X-Observed-At` is when the brokers answered.

    A broker that does not list its groups is 503: they would seem to be gone.
    """
    fresh, groups = query.fresh_for(context), services().consumer_groups
    page = groups.list(context, query.cluster_id, limit=query.limit, after=query.after, fresh=fresh)
    return JsonResponse(body=page.value.map(ConsumerGroupOutput.of), status=200, headers=observed_at(page))
