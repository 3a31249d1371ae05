"""Tables on moto for every test here, empty each time, and the interceptor that their requests pass."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError

from tests.support.apps.call_interceptor import CallInterceptor, InterceptedCall, Point
from tests.support.apps.tables import Tables, in_memory


@dataclass(frozen=True, kw_only=True)
class Storage:
    """The tables and the interceptor of their requests."""

    tables: Tables
    interceptor: CallInterceptor


@pytest.fixture(scope="module")
def _module_storage() -> Iterator[tuple[Storage, Any]]:
    interceptor = CallInterceptor()
    with in_memory(interceptor) as tables:
        before, empty = tables.snapshot(), tables.snapshot()
        for rows in empty.values():
            rows.clear()
        yield Storage(tables=tables, interceptor=interceptor), empty
        # Tests of other folders may use the same tables for the whole session.
        tables.restore(before)


@pytest.fixture
def storage(_module_storage: tuple[Storage, Any]) -> Storage:
    """Empty tables."""
    made, empty = _module_storage
    made.tables.restore(empty)
    return made


@pytest.fixture
def tables(storage: Storage) -> Tables:
    """Empty tables."""
    return storage.tables


@pytest.fixture
def interceptor(storage: Storage) -> CallInterceptor:
    """Sees the requests to the tables."""
    return storage.interceptor


def lose_first_reply(point: Point, send: InterceptedCall) -> object:
    """Send the request. The first answer does not arrive."""
    answer = send()
    if point.number_on_side == 0:
        raise ReadTimeoutError(endpoint_url="http://127.0.0.1")
    return answer
