"""Routes of stream clusters, Connect clusters and plug-ins."""

from chalicelib.api.contract.clusters import (
    ConfirmationBody,
    ConnectClusterBody,
    ConnectClusterOutput,
    PluginOutput,
    StreamClusterBody,
    StreamClusterOutput,
)
from chalicelib.api.contract.lists import ListQuery
from chalicelib.api.contract.live_reads import FreshListQuery, observed_at
from chalicelib.api.framework.http import JsonResponse
from chalicelib.api.framework.route import UuidPath
from chalicelib.api.framework.router import Router
from chalicelib.domain.access import Permission, RequestContext
from chalicelib.domain.cluster import ChangeKind
from chalicelib.kit.pages import Page
from chalicelib.wiring import services

routes = Router(tag="Stream clusters")
connect_routes = Router(tag="Connect clusters")


@routes.get("/stream/clusters", needs=Permission.READ)
def list_stream_clusters(query: ListQuery) -> Page[StreamClusterOutput]:
    """List stream clusters, newest first."""
    return services().stream_clusters.list(limit=query.limit, after=query.after).map(StreamClusterOutput.of)


@routes.post("/stream/clusters", needs=Permission.ADMINISTER, status=201)
def create_stream_cluster(context: RequestContext, body: StreamClusterBody) -> StreamClusterOutput:
    """Register Kafka brokers and check them once."""
    return StreamClusterOutput.of(services().stream_clusters.create(context, body.to_input()))


@routes.get("/stream/clusters/{uuid}", needs=Permission.READ)
def get_stream_cluster(uuid: UuidPath) -> StreamClusterOutput:
    """Show a stream cluster."""
    return StreamClusterOutput.of(services().stream_clusters.get(uuid))


@routes.put("/stream/clusters/{uuid}", needs=Permission.ADMINISTER)
def update_stream_cluster(context: RequestContext, uuid: UuidPath, body: StreamClusterBody) -> StreamClusterOutput:
    """Replace a stream cluster and check it again. A blank password keeps the stored one."""
    return StreamClusterOutput.of(services().stream_clusters.update(context, uuid, body.to_input()))


@routes.delete("/stream/clusters/{uuid}", needs=Permission.ADMINISTER)
def delete_stream_cluster(context: RequestContext, uuid: UuidPath) -> None:
    """Delete a stream cluster that nothing uses."""
    services().stream_clusters.delete(context, uuid)


@connect_routes.get("/connect/clusters", needs=Permission.READ)
def list_connect_clusters(query: ListQuery) -> Page[ConnectClusterOutput]:
    """List Connect clusters, newest first."""
    return services().connect_clusters.list(limit=query.limit, after=query.after).map(ConnectClusterOutput.of)


@connect_routes.post("/connect/clusters", needs=Permission.ADMINISTER, status=201)
def create_connect_cluster(context: RequestContext, body: ConnectClusterBody) -> ConnectClusterOutput:
    """Register Kafka Connect workers and check them once."""
    return ConnectClusterOutput.of(services().connect_clusters.create(context, body.to_input()))


@connect_routes.get("/connect/clusters/{uuid}", needs=Permission.READ)
def get_connect_cluster(uuid: UuidPath) -> ConnectClusterOutput:
    """Show a Connect cluster."""
    return ConnectClusterOutput.of(services().connect_clusters.get(uuid))


@connect_routes.put("/connect/clusters/{uuid}", needs=Permission.ADMINISTER)
def update_connect_cluster(context: RequestContext, uuid: UuidPath, body: ConnectClusterBody) -> ConnectClusterOutput:
    """Replace a Connect cluster and check it again. A blank password keeps the stored one."""
    return ConnectClusterOutput.of(services().connect_clusters.update(context, uuid, body.to_input()))


@connect_routes.delete("/connect/clusters/{uuid}", needs=Permission.ADMINISTER)
def delete_connect_cluster(context: RequestContext, uuid: UuidPath) -> None:
    """Delete a Connect cluster that nothing uses."""
    services().connect_clusters.delete(context, uuid)


@connect_routes.post("/connect/clusters/{uuid}/confirm-deletions", needs=Permission.ADMINISTER)
def confirm_deletions(context: RequestContext, uuid: UuidPath, body: ConfirmationBody) -> ConnectClusterOutput:
    """Let Headgate delete the connectors that nothing needs any more. It waits for this when they are many."""
    cluster = services().connect_clusters.confirm(context, uuid, ChangeKind.DELETIONS, body.count)
    return ConnectClusterOutput.of(cluster)


@connect_routes.post("/connect/clusters/{uuid}/confirm-creations", needs=Permission.ADMINISTER)
def confirm_creations(context: RequestContext, uuid: UuidPath, body: ConfirmationBody) -> ConnectClusterOutput:
    """Let Headgate create connectors again that are missing. It waits for this when they are many."""
    cluster = services().connect_clusters.confirm(context, uuid, ChangeKind.CREATIONS, body.count)
    return ConnectClusterOutput.of(cluster)


@connect_routes.get("/connect/clusters/{uuid}/plugins", needs=Permission.READ)
def list_plugins(context: RequestContext, uuid: UuidPath, query: FreshListQuery) -> JsonResponse[Page[PluginOutput]]:
    """List the connector plug-ins that the answering worker has, by class. `X-Observed-At` is when it answered."""
    fresh = query.fresh_for(context)
    plugins = services().connect_clusters.plugins(context, uuid, limit=query.limit, after=query.after, fresh=fresh)
    return JsonResponse(body=plugins.value.map(PluginOutput.of), status=200, headers=observed_at(plugins))
