"""All tasks of a cluster fail at once: how many ticks, calls and megabytes until each has its incident."""

import resource
import time
from dataclasses import dataclass

from chalicelib.kit.clock import Deadline
from chalicelib.stores.monitoring.incidents import IncidentRows
from tests.bench.dynamodb_meter import Metered, metered
from tests.bench.operation_costs import BenchData
from tests.bench.seeds import connector_names

MOST_TICKS = 12
TICK_SECONDS = 25.0
"""What a tick may take in production. Here the tables are in this process, and far slower than DynamoDB."""

NOT_RESTARTED = "org.postgresql.util.PSQLException: FATAL: password authentication failed for user"
"""A failure that Headgate does not try to restart away: restarts would be most of the calls."""

CALLS_PER_HUNDRED = 6
"""Calls to the store for a hundred incidents: their claims, and the transactions that open them."""


@dataclass(frozen=True, kw_only=True)
class Storm:
    """What it took. `open_again` are the incidents after another tick: none is opened twice. `megabytes` is by how much
    the process grew, with the tables, which are in it.
    """

    connectors: int
    opened: int
    open_again: int
    ticks: int
    seen: Metered
    connect_calls: int
    megabytes: float
    seconds: float

    @property
    def most_calls(self) -> int:
        """Calls to the store that are allowed."""
        return 50 * self.ticks + self.connectors * CALLS_PER_HUNDRED // 100

    @property
    def most_ticks(self) -> int:
        """Ticks that are allowed. Those of production need fewer: the tables here are slow."""
        return MOST_TICKS

    @property
    def holds(self) -> bool:
        once = self.opened == self.open_again == self.connectors
        return once and self.ticks <= self.most_ticks and self.seen.total <= self.most_calls


def storm(data: BenchData, connectors: int) -> Storm:
    """Fail the first task of each connector that the last measurement of ticks has left, and tick."""
    services, double = data.bench_app.services, data.bench_app.doubles.connect_double
    names = connector_names(connectors)
    for name in names:
        double.show(name, "FAILED", task=0, trace=NOT_RESTARTED)
    tick = services.tick
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    before, began, ticks = double.calls.count("GET"), time.monotonic(), 0
    with metered() as seen:
        while ticks < MOST_TICKS and _opened() < connectors:
            tick.run(data.connect, Deadline.after(TICK_SECONDS))
            ticks += 1
    megabytes = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) / 1024
    opened = _opened()
    tick.run(data.connect, Deadline.after(TICK_SECONDS))
    return Storm(
        connectors=connectors,
        opened=opened,
        open_again=_opened(),
        ticks=ticks,
        seen=seen,
        connect_calls=double.calls.count("GET") - before,
        megabytes=megabytes,
        seconds=time.monotonic() - began,
    )


def _opened() -> int:
    """How many incidents are active."""
    return sum(1 for _ in IncidentRows.by_active.query("active", attributes_to_get=["id"]))
