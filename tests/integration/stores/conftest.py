"""Tables on moto for every test here, empty each time, and the gate that their requests pass."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.support.call_interceptor import CallInterceptor
from tests.support.tables import Tables, on_moto


@dataclass(frozen=True, kw_only=True)
class Storage:
    """The tables and their gate."""

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
        # Other rooms' tests may hold the same tables for the whole session.
        tables.restore(before)


@pytest.fixture
def storage(_module_storage: tuple[Storage, Any]) -> Storage:
    """Empty tables."""
    made, empty = _module_storage
    made.tables.restore(empty)
    return made
