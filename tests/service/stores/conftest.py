"""Tables on moto for every test here, empty each time, and the interceptor that their requests pass."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError

from chalicelib.kit.pages import Page
from tests.support.apps.call_interceptor import CallInterceptor, InterceptedCall, Point
from tests.support.apps.tables import Tables, in_memory


@dataclass(frozen=True, kw_only=True)
class Storage:
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
def storage(_module_storage: tuple[Storage, Any]) -> Iterator[Storage]:
    storage, empty = _module_storage
    storage.tables.restore(empty)
    yield storage
    storage.interceptor.unwatch()


@pytest.fixture
def tables(storage: Storage) -> Tables:
    return storage.tables


@pytest.fixture
def interceptor(storage: Storage) -> CallInterceptor:
    return storage.interceptor


def ids_by_pages(list_after: Callable[[str | None], Page[Any]]) -> list[str]:
    """The ids of all entities of a list that is read page by page."""
    page = list_after(None)
    ids = [entity.id for entity in page.items]
    while page.next_key is not None:
        page = list_after(page.next_key)
        ids += [entity.id for entity in page.items]
    return ids


def lose_first_reply(point: Point, send: InterceptedCall) -> object:
    """Send the request. The first answer does not arrive."""
    answer = send()
    if point.number_on_side == 0:
        raise ReadTimeoutError(endpoint_url="http://127.0.0.1")
    return answer
