"""Routes of connections."""

from chalicelib.api.contract.connections import (
    ChangedConnectionOutput,
    ConnectionBody,
    ConnectionOutput,
    ConnectionQuery,
    ConnectionTestInput,
    connection_definition,
)
from chalicelib.api.contract.databases import TestOutput
from chalicelib.api.contract.rotation import RotationOutput, RotationQuery, SystemRotationBody
from chalicelib.api.contract.views import Definition, ViewQuery
from chalicelib.api.framework.route import UuidPath
from chalicelib.api.framework.router import Router
from chalicelib.domain.access import Permission, RequestContext
from chalicelib.kit.pages import Page
from chalicelib.wiring import services

routes = Router(tag="Connections")


@routes.get("/connections", needs=Permission.READ)
def list_connections(query: ConnectionQuery) -> Page[ConnectionOutput | Definition]:
    """List connections, newest first."""
    search = query.to_search()
    page = services().connections.filtered(query.capability, limit=query.limit, after=query.after, search=search)
    return page.map(query.rendering(ConnectionOutput.of, connection_definition))


@routes.post("/connections", needs=Permission.WRITE, status=201, has_dry_run=True)
def create_connection(context: RequestContext, body: ConnectionBody) -> ConnectionOutput:
    """Register an address with credentials, for sources and destinations to share. Contacts no server."""
    return ConnectionOutput.of(services().connections.create(context, body.to_input()))


@routes.post("/connections/test", needs=Permission.WRITE)
def test_unsaved_connection(context: RequestContext, body: ConnectionTestInput) -> TestOutput:
    """Test a connection, registered or not, without storing anything."""
    with services().limits.test(context):
        return TestOutput.of(services().connections.test_unsaved(context, body.to_input()))


@routes.get("/connections/{uuid}", needs=Permission.READ)
def get_connection(uuid: UuidPath, query: ViewQuery) -> ConnectionOutput | Definition:
    """Show a connection and what uses it."""
    return query.rendering(ConnectionOutput.of, connection_definition)(services().connections.get(uuid))


@routes.put("/connections/{uuid}", needs=Permission.WRITE, has_dry_run=True)
def update_connection(context: RequestContext, uuid: UuidPath, body: ConnectionBody) -> ChangedConnectionOutput:
    """Replace a connection, also for all that use it. Blank secrets keep what is stored."""
    return ChangedConnectionOutput.of_change(services().connections.update(context, uuid, body.to_input()))


@routes.delete("/connections/{uuid}", needs=Permission.ADMINISTER, has_dry_run=True)
def delete_connection(context: RequestContext, uuid: UuidPath) -> None:
    """Delete a connection that nothing uses."""
    services().connections.delete(context, uuid)


@routes.post("/connections/{uuid}/test", needs=Permission.WRITE)
def test_registered_connection(context: RequestContext, uuid: UuidPath) -> TestOutput:
    """Test the connection, bounded and read-only."""
    with services().limits.test(context):
        return TestOutput.of(services().connections.test(context, uuid))


@routes.post("/connections/{uuid}/credentials", needs=Permission.WRITE)
def rotate_connection_credentials(
    context: RequestContext, uuid: UuidPath, body: SystemRotationBody, query: RotationQuery
) -> RotationOutput:
    """Test new credentials, store them, and bring them to the connectors that use them."""
    with services().limits.test(context):
        return RotationOutput.of(
            services().rotation.rotate(context, "connection", uuid, body.secrets_for, force=query.force)
        )
