"""What tests ask of a house, and put into it, beside the invariants."""

from chalicelib.domain.names import OWNER_KEY, ConnectorKind, connector_name, owner_marker
from chalicelib.errors import HeadgateError
from chalicelib.kit.ids import new_id
from tests.support.in_process_app import InProcessApp

WRITES = ("POST", "PUT", "DELETE")


def touches(app: InProcessApp) -> list[tuple[str, str]]:
    """Every call that could change a connector."""
    calls = [one for method in WRITES for one in app.connect.calls.calls(method, "^/connectors")]
    return [(one.method, one.path) for one in calls]


def code_of(app: InProcessApp, pipeline_id: str) -> str | None:
    """The code with which a deploy is refused; None when it is not."""
    try:
        app.services.pipelines.deploy(app.context(), pipeline_id)
    except HeadgateError as error:
        return error.code
    return None


def a_stranger(app: InProcessApp, *, marked: bool = True, snapshot: bool = True, state: str = "RUNNING") -> str:
    """A connector of our name for a resource that does not exist any more. Its name.

    `marked`: with our marker; `snapshot`: the audit trail speaks of the resource.
    """
    resource_id = new_id()
    name = connector_name(ConnectorKind.SOURCE, resource_id)
    marker = {OWNER_KEY: owner_marker(ConnectorKind.SOURCE, resource_id)} if marked else {}
    app.connect.preload([name], config=marker, state=state)
    if snapshot:
        app.services.audit.record_alone(app.context(), "pipeline.delete", resource_id)
    return name
