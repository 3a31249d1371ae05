"""The route of the versions of schemas."""

from chalicelib.api.contract.schemas import SchemasQuery, SchemaVersionOutput
from chalicelib.api.framework.router import Router
from chalicelib.domain.access import Permission
from chalicelib.kit.pages import Page
from chalicelib.wiring import services

routes = Router(tag="Schemas")


@routes.get("/data/schemas", needs=Permission.READ, also=(404, 409))
def list_schema_versions(query: SchemasQuery) -> Page[SchemaVersionOutput]:
    """List the versions of the schemas of a source's tables, newest first. Discovery makes them."""
    versions = services().schema_history.list(
        query.source_id, version_filter=query.to_input(), limit=query.limit, after=query.after
    )
    return versions.map(SchemaVersionOutput.of)
