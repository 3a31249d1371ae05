"""What tests here ask of a house beside the invariants."""

from chalicelib.errors import HeadgateError
from tests.support.house import House

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
