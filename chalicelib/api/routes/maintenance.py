"""Routes of maintenance windows."""

from chalicelib.api.contract.lists import ListQuery
from chalicelib.api.contract.maintenance import MaintenanceBody, MaintenanceOutput
from chalicelib.api.framework.route import UuidPath
from chalicelib.api.framework.router import Router
from chalicelib.domain.access import Permission, RequestContext
from chalicelib.domain.alerts.maintenance import MaintenanceWindow
from chalicelib.kit.pages import Page
from chalicelib.wiring import services

routes = Router(tag="Monitoring")


@routes.get("/maintenance", needs=Permission.READ)
def list_maintenance(query: ListQuery) -> Page[MaintenanceOutput]:
    """List maintenance windows, newest first. Ended ones are kept for thirty days."""
    return services().alerting.maintenance.list(limit=query.limit, after=query.after).map(_shown)


@routes.post("/maintenance", needs=Permission.OPERATE, status=201, has_dry_run=True)
def create_maintenance(context: RequestContext, body: MaintenanceBody) -> MaintenanceOutput:
    """Announce planned work. Alerts in its scope are observed and kept, and not sent.

    What still fires at its end is sent with the next observation.
    """
    return _shown(services().alerting.maintenance.create(context, body.to_values()))


@routes.get("/maintenance/{uuid}", needs=Permission.READ)
def get_maintenance(uuid: UuidPath) -> MaintenanceOutput:
    """Show a maintenance window."""
    return _shown(services().alerting.maintenance.get(uuid))


@routes.delete("/maintenance/{uuid}", needs=Permission.OPERATE, has_dry_run=True)
def delete_maintenance(context: RequestContext, uuid: UuidPath) -> None:
    """Delete a maintenance window. An active one ends by that: what still fires is sent with the next observation."""
    services().alerting.maintenance.delete(context, uuid)


def _shown(window: MaintenanceWindow) -> MaintenanceOutput:
    return MaintenanceOutput.of_window(window, services().alerting.maintenance.state(window))
