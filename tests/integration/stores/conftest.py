"""Tables on moto for the tests of stores, empty for each test, and the interceptor of their requests."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.support.call_interceptor import CallInterceptor
from tests.support.tables import Tables, on_moto


@dataclass(frozen=True, kw_only=True)
class Storage:
    """The tables, and the interceptor that their requests pass."""

    tables: Tables
    interceptor: CallInterceptor


@pytest.fixture(scope="module")
def _module_storage() -> Iterator[tuple[Storage, Any]]:
    interceptor = CallInterceptor()
    with on_moto(interceptor) as tables:
        before, empty = tables.snapshot(), tables.snapshot()
        for rows in empty.values():
            rows.clear()
        yield Storage(tables=tables, interceptor=interceptor), empty
        # Fixtures with a wider scope may use the same tables.
        tables.restore(before)


@pytest.fixture
def storage(_module_storage: tuple[Storage, Any]) -> Storage:
    """Empty tables."""
    storage, empty = _module_storage
    storage.tables.restore(empty)
    return storage
