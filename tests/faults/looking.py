"""What tests ask of a house, and put into it, beside the invariants."""

from chalicelib.domain.names import OWNER_KEY, ConnectorKind, connector_name, owner_marker
from chalicelib.errors import HeadgateError
from chalicelib.kit.ids import new_id
from tests.support.in_process_app import House

WRITES = ("POST", "PUT", "DELETE")


def touches(house: House) -> list[tuple[str, str]]:
    """Every call that could change a connector."""
    calls = [one for method in WRITES for one in house.connect.calls.calls(method, "^/connectors")]
    return [(one.method, one.path) for one in calls]


def code_of(house: House, pipeline_id: str) -> str | None:
    """The code with which a deploy is refused; None when it is not."""
    try:
        house.services.pipelines.deploy(house.call(), pipeline_id)
    except HeadgateError as error:
        return error.code
    return None


def a_stranger(house: House, *, marked: bool = True, remembered: bool = True, state: str = "RUNNING") -> str:
    """A connector of our name for a resource that does not exist any more. Its name.

    `marked`: with our marker; `remembered`: the audit trail speaks of the resource.
    """
    resource_id = new_id()
    name = connector_name(ConnectorKind.SOURCE, resource_id)
    marker = {OWNER_KEY: owner_marker(ConnectorKind.SOURCE, resource_id)} if marked else {}
    house.connect.preload([name], config=marker, state=state)
    if remembered:
        house.services.audit.record_alone(house.call(), "pipeline.delete", resource_id)
    return name
