"""Routes of stream clusters, Connect clusters and plug-ins."""

from chalicelib.api.contract.clusters import (
    ConfirmationBody,
    ConnectClusterBody,
    ConnectClusterOutput,
    PluginOutput,
    StreamClusterBody,
    StreamClusterOutput,
    connect_cluster_definition,
    stream_cluster_definition,
)
from chalicelib.api.contract.live_reads import FreshListQuery, observed_at
from chalicelib.api.contract.rotation import (
    ConnectClusterRotationBody,
    RotationOutput,
    RotationQuery,
    StreamClusterRotationBody,
)
from chalicelib.api.contract.searches import SearchQuery
from chalicelib.api.contract.views import Definition, ViewQuery
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
def list_stream_clusters(query: SearchQuery) -> Page[StreamClusterOutput | Definition]:
    """List stream clusters, newest first."""
    page = services().stream_clusters.list(limit=query.limit, after=query.after, search=query.to_search())
    return page.map(query.rendering(StreamClusterOutput.of, stream_cluster_definition))


@routes.post("/stream/clusters", needs=Permission.ADMINISTER, status=201, has_dry_run=True)
def create_stream_cluster(context: RequestContext, body: StreamClusterBody) -> StreamClusterOutput:
    """Register Kafka brokers and check them once."""
    return StreamClusterOutput.of(services().stream_clusters.create(context, body.to_input()))


@routes.get("/stream/clusters/{uuid}", needs=Permission.READ)
def get_stream_cluster(uuid: UuidPath, query: ViewQuery) -> StreamClusterOutput | Definition:
    """Show a stream cluster."""
    return query.rendering(StreamClusterOutput.of, stream_cluster_definition)(services().stream_clusters.get(uuid))


@routes.put("/stream/clusters/{uuid}", needs=Permission.ADMINISTER, has_dry_run=True)
def update_stream_cluster(context: RequestContext, uuid: UuidPath, body: StreamClusterBody) -> StreamClusterOutput:
    """Replace a stream cluster and check it again. A blank password keeps the stored one."""
    return StreamClusterOutput.of(services().stream_clusters.update(context, uuid, body.to_input()))


@routes.delete("/stream/clusters/{uuid}", needs=Permission.ADMINISTER, has_dry_run=True)
def delete_stream_cluster(context: RequestContext, uuid: UuidPath) -> None:
    """Delete a stream cluster that nothing uses."""
    services().stream_clusters.delete(context, uuid)


@connect_routes.get("/connect/clusters", needs=Permission.READ)
def list_connect_clusters(query: SearchQuery) -> Page[ConnectClusterOutput | Definition]:
    """List Connect clusters, newest first."""
    page = services().connect_clusters.list(limit=query.limit, after=query.after, search=query.to_search())
    return page.map(query.rendering(ConnectClusterOutput.of, connect_cluster_definition))


@connect_routes.post("/connect/clusters", needs=Permission.ADMINISTER, status=201, has_dry_run=True)
def create_connect_cluster(context: RequestContext, body: ConnectClusterBody) -> ConnectClusterOutput:
    """Register Kafka Connect workers and check them once."""
    return ConnectClusterOutput.of(services().connect_clusters.create(context, body.to_input()))


@connect_routes.get("/connect/clusters/{uuid}", needs=Permission.READ)
def get_connect_cluster(uuid: UuidPath, query: ViewQuery) -> ConnectClusterOutput | Definition:
    """Show a Connect cluster."""
    return query.rendering(ConnectClusterOutput.of, connect_cluster_definition)(services().connect_clusters.get(uuid))


@connect_routes.put("/connect/clusters/{uuid}", needs=Permission.ADMINISTER, has_dry_run=True)
def update_connect_cluster(context: RequestContext, uuid: UuidPath, body: ConnectClusterBody) -> ConnectClusterOutput:
    """Replace a Connect cluster and check it again. A blank password keeps the stored one."""
    return ConnectClusterOutput.of(services().connect_clusters.update(context, uuid, body.to_input()))


@connect_routes.delete("/connect/clusters/{uuid}", needs=Permission.ADMINISTER, has_dry_run=True)
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


@routes.post("/stream/clusters/{uuid}/credentials", needs=Permission.ADMINISTER)
def rotate_stream_cluster_credentials(
    context: RequestContext, uuid: UuidPath, body: StreamClusterRotationBody, query: RotationQuery
) -> RotationOutput:
    """Test new credentials, store them, and bring them to the connectors that use them."""
    with services().limits.test(context):
        return RotationOutput.of(
            services().rotation.rotate(context, "stream_cluster", uuid, body.secrets_for, force=query.force)
        )


@connect_routes.post("/connect/clusters/{uuid}/credentials", needs=Permission.ADMINISTER)
def rotate_connect_cluster_credentials(
    context: RequestContext, uuid: UuidPath, body: ConnectClusterRotationBody, query: RotationQuery
) -> RotationOutput:
    """Test new credentials, store them, and bring them to the connectors that use them."""
    with services().limits.test(context):
        return RotationOutput.of(
            services().rotation.rotate(context, "connect_cluster", uuid, body.secrets_for, force=query.force)
        )
