"""Routes about the whole installation: what it looks like now, and what was done."""

from chalicelib.api.contract.audit import AuditOutput, AuditQuery
from chalicelib.api.contract.overview import OverviewOutput
from chalicelib.api.router import Router
from chalicelib.domain.access import Permission
from chalicelib.kit.pages import Page
from chalicelib.wiring import services

routes = Router(tag="Operations")


@routes.get("/monitoring/overview", needs=Permission.READ)
def get_overview() -> OverviewOutput:
    """Count everything by its state, and show what was done last.

    The records of `recent_activity` are the same for every role: they say who changed what, and contain no secret. The
    rest of the audit trail is for Admins.
    """
    return OverviewOutput.of(services().overview.read())


@routes.get("/audit", needs=Permission.ADMINISTER)
def list_audit(query: AuditQuery) -> Page[AuditOutput]:
    """List the audit trail, newest first."""
    page = services().audit.list(
        limit=query.limit,
        after=query.after,
        resource_id=query.resource_id,
        include_related=query.include_related,
        meaningful=query.meaningful,
    )
    return page.map(AuditOutput.of)
