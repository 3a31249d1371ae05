"""Tables on moto for every test here, empty each time, and the gate that their requests pass."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.support.call_interceptor import Gate
from tests.support.tables import Tables, on_moto


@dataclass(frozen=True, kw_only=True)
class Room:
    """The tables and their gate."""

    tables: Tables
    gate: Gate


@pytest.fixture(scope="module")
def _room() -> Iterator[tuple[Room, Any]]:
    gate = Gate()
    with on_moto(gate) as tables:
        before, empty = tables.keep(), tables.keep()
        for rows in empty.values():
            rows.clear()
        yield Room(tables=tables, gate=gate), empty
        # Other rooms' tests may hold the same tables for the whole session.
        tables.restore(before)


@pytest.fixture
def room(_room: tuple[Room, Any]) -> Room:
    """Empty tables."""
    made, empty = _room
    made.tables.restore(empty)
    return made
