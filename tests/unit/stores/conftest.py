"""Empty tables on moto for every test here, and a store whose reply is lost."""

from botocore.exceptions import ReadTimeoutError

from tests.integration.stores.conftest import _module_storage, storage
from tests.support.call_interceptor import InterceptedCall, Point

__all__ = ["_module_storage", "lose_first_reply", "storage"]


def lose_first_reply(point: Point, send: InterceptedCall) -> object:
    """Send the request. The first answer does not arrive."""
    answer = send()
    if point.number_on_side == 0:
        raise ReadTimeoutError(endpoint_url="http://127.0.0.1")
    return answer
