"""Routes of the audit trail."""

from chalicelib.api.contract.audit import AuditOutput, AuditQuery
from chalicelib.api.router import Router
from chalicelib.domain.access import Permission
from chalicelib.kit.pages import Page
from chalicelib.wiring import services

routes = Router(tag="Operations")


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
