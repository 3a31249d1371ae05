"""Ticks of clusters of any size: calls to the store and to Connect, and CPU beside what parsing the answer takes."""

import gc
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx

from tests.bench.calls import World
from tests.bench.meter import Metered, metered
from tests.bench.seeds import connector_names, remembered

REPEATS = 5
CPU_BUDGET_MS = 80.0


@dataclass(frozen=True, kw_only=True)
class Tick:
    """One kind of tick. CPU is this thread's alone, the least of several."""

    name: str
    connectors: int
    seen: Metered
    connect_calls: int
    reads_allowed: int
    writes_allowed: int
    cpu_ms: float = 0.0
    parsing_ms: float = 0.0

    @property
    def writes(self) -> int:
        """Calls to the store that write."""
        return self.seen.total - self.seen.reads

    @property
    def holds(self) -> bool:
        """Whether calls keep to the budget; CPU is judged by who prints it."""
        within = self.seen.reads <= self.reads_allowed and self.writes <= self.writes_allowed
        return within and self.connect_calls == 1

    @property
    def over_parsing_ms(self) -> float:
        """CPU beside parsing the same JSON."""
        return self.cpu_ms - self.parsing_ms


def ticks(world: World, connectors: int) -> list[Tick]:
    """A cluster of so many connectors: a quiet tick, and one in which a connector has failed."""
    from chalicelib.domain.cluster_view import ClusterView

    stage, names = world.stage, connector_names(connectors)
    double = stage.doubles.connect_double
    for name in double.names():
        double.drop(name)
    double.preload(names)
    observations = stage.services.stores.observations
    observations.read([world.connect])
    worker = httpx.get(f"{double.url}/connectors/{names[0]}/status").json()["connector"]["worker_id"]
    view = observations.read([world.connect]).get(world.connect, ClusterView())
    known = remembered(names, worker, epoch=view.epoch)
    observations.write(world.connect, ClusterView(epoch=view.epoch, remembered=known), changed=True)
    text = httpx.get(f"{double.url}/connectors?expand=status").content
    # The tables and the doubles live in this process, too: what they hold is not the tick's to go through.
    gc.collect()
    gc.freeze()
    quiet = _tick(world, "quiet", connectors, 1, 1, repeats=REPEATS, parse=lambda: json.loads(text))
    double.show(names[0], "FAILED", task=0)
    failed = _tick(world, "one task failed", connectors, 1, 2, repeats=1, parse=lambda: None)
    return [quiet, failed]


def _tick(
    world: World, name: str, connectors: int, reads: int, writes: int, *, repeats: int, parse: Callable[[], Any]
) -> Tick:
    from chalicelib.kit.clock import Deadline

    reconciler, double = world.stage.services.reconciler, world.stage.doubles.connect_double
    before = double.calls.count()
    with metered() as seen:
        cpu = _cpu(lambda: reconciler.tick(world.connect, Deadline.after(60)))
    calls = double.calls.count() - before
    for _ in range(repeats - 1):
        cpu = min(cpu, _cpu(lambda: reconciler.tick(world.connect, Deadline.after(60))))
    return Tick(
        name=name, connectors=connectors, seen=seen, connect_calls=calls, reads_allowed=reads, writes_allowed=writes,
        cpu_ms=cpu, parsing_ms=min(_cpu(parse) for _ in range(repeats)),
    )  # fmt: skip


def _cpu(act: Callable[[], Any]) -> float:
    began = time.thread_time()
    act()
    return (time.thread_time() - began) * 1000
