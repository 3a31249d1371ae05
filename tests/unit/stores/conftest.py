"""Empty tables on moto for every test here, and a store whose reply is lost."""

from botocore.exceptions import ReadTimeoutError

from tests.integration.stores.conftest import _store_fixture, store_fixture
from tests.support.call_interceptor import InterceptedCall, Point

__all__ = ["_store_fixture", "lose_first_reply", "store_fixture"]


def lose_first_reply(point: Point, send: InterceptedCall) -> object:
    """Send the request. The first answer does not arrive."""
    answer = send()
    if point.turn == 0:
        raise ReadTimeoutError(endpoint_url="http://127.0.0.1")
    return answer
