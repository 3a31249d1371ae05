"""Routes of connectors in Kafka Connect. They only read: nothing here changes a connector."""

from chalicelib.api.contract.connectors import ConnectorOutput, ConnectorQuery, ConnectorsQuery, ConnectorStatusOutput
from chalicelib.api.contract.live_reads import observed_at
from chalicelib.api.framework.http import JsonResponse
from chalicelib.api.framework.route import ConnectorPath
from chalicelib.api.framework.router import Router
from chalicelib.domain.access import Permission, RequestContext
from chalicelib.kit.pages import Page
from chalicelib.wiring import services

routes = Router(tag="Connectors")


@routes.get("/connect/connectors", needs=Permission.READ, also=(404, 409))
def list_connectors(context: RequestContext, query: ConnectorsQuery) -> JsonResponse[Page[ConnectorOutput]]:
    """List the connectors of a Connect cluster, or of all, by name. `X-Observed-At` is when Connect answered.

    A cluster that cannot be read is 503, also among others: its connectors would seem to be gone.
    """
    fresh, reads = query.fresh_for(context), services().connector_reads
    connectors = reads.list(context, query.cluster_id, limit=query.limit, after=query.after, fresh=fresh)
    return JsonResponse(body=connectors.value.map(ConnectorOutput.of), status=200, headers=observed_at(connectors))


@routes.get("/connect/connectors/{name}/status", needs=Permission.READ)
def get_connector_status(context: RequestContext, name: ConnectorPath, query: ConnectorQuery) -> ConnectorStatusOutput:
    """Show the state of a connector and its tasks, of Headgate or of others. Traces are withheld."""
    fresh, reads = query.fresh_for(context), services().connector_reads
    return ConnectorStatusOutput.of(reads.status(context, query.cluster_id, name, fresh=fresh))
