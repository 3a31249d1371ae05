"""Routes of sources and jobs."""

from chalicelib.api.contract.databases import TestOutput
from chalicelib.api.contract.jobs import JobOutput
from chalicelib.api.contract.rotation import RotationOutput, RotationQuery, SourceRotationBody
from chalicelib.api.contract.searches import SearchQuery
from chalicelib.api.contract.sources import (
    DiscoveryQuery,
    ReadinessOutput,
    ReadinessQuery,
    SourceBody,
    SourceOutput,
    SourceTableOutput,
    TablesQuery,
    source_definition,
)
from chalicelib.api.contract.views import Definition, ViewQuery
from chalicelib.api.framework.route import UuidPath
from chalicelib.api.framework.router import Router
from chalicelib.domain.access import Permission, RequestContext
from chalicelib.domain.job import JobKind
from chalicelib.kit.pages import Page
from chalicelib.wiring import services

routes = Router(tag="Sources")


@routes.get("/sources", needs=Permission.READ)
def list_sources(query: SearchQuery) -> Page[SourceOutput | Definition]:
    """List sources, newest first."""
    page = services().sources.list(limit=query.limit, after=query.after, search=query.to_search())
    return page.map(query.rendering(SourceOutput.of, source_definition))


@routes.post("/sources", needs=Permission.WRITE, status=201, has_dry_run=True)
def create_source(context: RequestContext, body: SourceBody) -> SourceOutput:
    """Register a database for capture. Contacts no server."""
    return SourceOutput.of(services().sources.create(context, body.to_input()))


@routes.get("/sources/{uuid}", needs=Permission.READ)
def get_source(uuid: UuidPath, query: ViewQuery) -> SourceOutput | Definition:
    """Show a source."""
    return query.rendering(SourceOutput.of, source_definition)(services().sources.get(uuid))


@routes.put("/sources/{uuid}", needs=Permission.WRITE, has_dry_run=True)
def update_source(context: RequestContext, uuid: UuidPath, body: SourceBody) -> SourceOutput:
    """Replace a source. Blank secrets keep what is stored."""
    return SourceOutput.of(services().sources.update(context, uuid, body.to_input()))


@routes.delete("/sources/{uuid}", needs=Permission.ADMINISTER, has_dry_run=True)
def delete_source(context: RequestContext, uuid: UuidPath) -> None:
    """Delete a source that no pipeline uses."""
    services().sources.delete(context, uuid)


@routes.post("/sources/{uuid}/test", needs=Permission.WRITE)
def test_source(context: RequestContext, uuid: UuidPath) -> TestOutput:
    """Test the connection, bounded and read-only."""
    with services().limits.test(context):
        return TestOutput.of(services().sources.test(context, uuid))


@routes.post("/sources/{uuid}/credentials", needs=Permission.WRITE)
def rotate_source_credentials(
    context: RequestContext, uuid: UuidPath, body: SourceRotationBody, query: RotationQuery
) -> RotationOutput:
    """Test new credentials, store them, and bring them to the connectors that use them."""
    with services().limits.test(context):
        return RotationOutput.of(
            services().rotation.rotate(context, "source", uuid, body.secrets_for, force=query.force)
        )


@routes.post("/sources/{uuid}/discover", needs=Permission.OPERATE, status=202)
def discover_source(context: RequestContext, uuid: UuidPath, query: DiscoveryQuery) -> JobOutput:
    """Discover tables. Poll the job until it is COMPLETED or FAILED.

    While a discovery of the source is open, its job is the answer, with the bound that it was begun with.
    """
    return JobOutput.of(
        services().jobs.request(context, JobKind.DISCOVERY, "source", uuid, max_tables=query.max_tables)
    )


@routes.post("/sources/{uuid}/health", needs=Permission.OPERATE, status=202)
def check_source_health(context: RequestContext, uuid: UuidPath) -> JobOutput:
    """Check the source's health. Poll the job until it is COMPLETED or FAILED."""
    return JobOutput.of(services().jobs.request(context, JobKind.HEALTH, "source", uuid))


@routes.get("/sources/{uuid}/tables", needs=Permission.READ)
def list_source_tables(uuid: UuidPath, query: TablesQuery) -> Page[SourceTableOutput]:
    """List the tables that discovery found, by schema and name."""
    tables = services().sources.list_tables(uuid, table_filter=query.to_input(), limit=query.limit, after=query.after)
    return tables.map(SourceTableOutput.of)


@routes.get("/sources/{uuid}/cdc-readiness", needs=Permission.READ)
def source_readiness(context: RequestContext, uuid: UuidPath, query: ReadinessQuery) -> ReadinessOutput:
    """Check whether capture will work. Never changes the source. A result counts for 30 seconds."""
    fresh = query.fresh_for(context)
    return ReadinessOutput.of(services().pipelines.readiness(context, uuid, query.pipeline_id, fresh=fresh))


@routes.get("/jobs/{uuid}", needs=Permission.READ)
def get_job(uuid: UuidPath) -> JobOutput:
    """Show a job."""
    return JobOutput.of(services().jobs.get(uuid))
