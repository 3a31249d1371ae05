"""Tables and connectors as they were before the last writes: what an index that lags behind still shows, or a worker
of Kafka Connect that has not read the latest changes yet.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from infra.local.doubles.connect_model import Connector
from tests.support.apps.call_interceptor import Point, Side
from tests.support.apps.in_process_app import InProcessApp

KEPT = 12
LAG = timedelta(seconds=60)
"""Nothing is shown as it was longer ago: an index lags by less than a second, seldom by some more."""

Rows = Mapping[Any, Any]


@dataclass(frozen=True, kw_only=True)
class _State:
    """What was there before one write, at the time of that write."""

    until: datetime
    tables: Mapping[str, Rows]
    connectors: Mapping[str, Connector]


class EarlierStates:
    """Remembers the state before each write, if `app.interceptor.before_write` calls `remember`."""

    def __init__(self, app: InProcessApp) -> None:
        self._app = app
        self._states: deque[_State] = deque(maxlen=KEPT)

    def copy(self) -> "EarlierStates":
        """The same states, to which others can be added."""
        copied = EarlierStates(self._app)
        copied._states.extend(self._states)
        return copied

    def remember(self) -> None:
        connect = self._app.connect
        connectors = {name: deepcopy(connect.connector(name)) for name in connect.names()}
        self._states.append(
            _State(until=self._app.clock.now, tables=self._app.tables.snapshot(), connectors=connectors)
        )

    @contextmanager
    def shown_at(self, point: Point, changes: int) -> Iterator[None]:
        """The state so many changes ago, or the oldest one that is known, of what the call at this point reads."""
        if point.side is Side.CONNECT:
            self._app.connect.settle()
            with self._app.connect.showing(self._earlier_connectors(changes)):
                yield
        else:
            tables = point.request.outdated_tables if point.request else ()
            with self._app.tables.showing({table: self._earlier_rows(table, changes) for table in tables}):
                yield

    def _recent(self) -> Iterator[_State]:
        """The newest first."""
        oldest = self._app.clock.now - LAG
        return (state for state in reversed(self._states) if state.until >= oldest)

    def _earlier_rows(self, table: str, changes: int) -> Rows:
        newest = found = self._app.tables.snapshot()[table]
        for state in self._recent():
            rows = state.tables[table]
            if _identities(rows) != _identities(newest):
                newest = found = rows
                changes -= 1
            if not changes:
                break
        return found

    def _earlier_connectors(self, changes: int) -> Mapping[str, Connector]:
        connect = self._app.connect
        found = {name: connect.connector(name) for name in connect.names()}
        newest = _shown(found)
        for state in self._recent():
            if _shown(state.connectors) != newest:
                newest, found = _shown(state.connectors), dict(state.connectors)
                changes -= 1
            if not changes:
                break
        return found


def _identities(rows: Rows) -> dict[Any, Any]:
    """Each row by its identity: a write replaces the rows that it changes (tests/support/dynamodb/double.py)."""
    return {
        key: {part: id(row) for part, row in found.items()} if isinstance(found, dict) else id(found)
        for key, found in rows.items()
    }


def _shown(connectors: Mapping[str, Connector]) -> dict[str, Any]:
    return {name: (one.config, one.target, one.part.state) for name, one in connectors.items()}
