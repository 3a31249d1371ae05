"""Ticks of clusters of any size: calls and units of the store, calls to Connect, CPU over parsing the answer."""

import gc
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import httpx

from chalicelib.domain.connector_config import config_hash
from chalicelib.domain.reconcile.snapshot import ClusterView
from chalicelib.kit.clock import Deadline, utc_now
from tests.bench.calls import World
from tests.bench.meter import Metered, metered
from tests.bench.seeds import connector_names, snapshot

REPEATS = 5
CPU_BUDGET_MS = 80.0
COMPARING_CPU_BUDGET_MS = 1000.0
"""For the one tick in ten minutes that hashes every config."""

QUIET, COMPARES, FAILED = "quiet", "quiet, configs compared", "one task failed"
CONFIG = {f"key.number.{number}": f"a value of the usual length, {number}" for number in range(40)}
"""As much as the config of a source with a few tables: 3 KB as JSON."""


@dataclass(frozen=True, kw_only=True)
class Tick:
    """One kind of tick. Units are those of the store; those that are allowed are None where the size of what changed
    decides. CPU is this thread's alone, the least of several.
    """

    name: str
    connectors: int
    seen: Metered
    connect_calls: int
    reads_allowed: int
    writes_allowed: int
    units_allowed: tuple[float, float] | None
    cpu_ms: float = 0.0
    parsing_ms: float = 0.0

    @property
    def writes(self) -> int:
        """Calls to the store that write."""
        return self.seen.total - self.seen.reads

    @property
    def units(self) -> tuple[float, float]:
        """Units of the store, read and written."""
        return self.seen.read_units, self.seen.write_units

    @property
    def holds(self) -> bool:
        """Whether calls and units keep to the budget; CPU is judged by who prints it."""
        within = self.seen.reads <= self.reads_allowed and self.writes <= self.writes_allowed
        reads, writes = self.units_allowed or self.units
        return within and self.connect_calls == 1 and self.units[0] <= reads and self.units[1] <= writes

    @property
    def over_parsing_ms(self) -> float:
        """CPU over parsing the same JSON."""
        return self.cpu_ms - self.parsing_ms


def ticks(world: World, connectors: int) -> list[Tick]:
    """A cluster of so many connectors: a quiet tick, one that compares configs, one in which a task has failed."""
    stage, names = world.stage, connector_names(connectors)
    double = stage.doubles.connect_double
    for name in double.names():
        double.drop(name)
    double.preload(names, config=CONFIG)
    worker = httpx.get(f"{double.url}/connectors/{names[0]}/status").json()["connector"]["worker_id"]
    _store_snapshot(world, {name: config_hash(double.config_of(name)) for name in names}, worker)
    text, whole = (
        httpx.get(f"{double.url}/connectors?{query}", timeout=60).content
        for query in ("expand=status", "expand=status&expand=info")
    )
    # The tables and the doubles are in this process, too: the garbage collector must not go through them in a tick.
    gc.collect()
    gc.freeze()
    quiet = _tick(world, QUIET, connectors, repeats=REPEATS, parse=lambda: json.loads(text))
    # Each of these has to be the first in ten minutes, so only one can be measured.
    _compare_now(world)
    compares = _tick(world, COMPARES, connectors, repeats=1, parse=lambda: json.loads(whole))
    double.show(names[0], "FAILED", task=0)
    failed = _tick(world, FAILED, connectors, writes=2, units=None, repeats=1, parse=lambda: None)
    return [quiet, compares, failed]


def _store_snapshot(world: World, hashes: dict[str, str], worker: str) -> None:
    """Store what a tick leaves that has just seen, and compared, exactly what there is."""
    observations = world.stage.services.stores.observations
    view = observations.read([world.connect]).get(world.connect, ClusterView())
    known = snapshot(hashes, worker, epoch=view.epoch)
    assert observations.write(world.connect, replace(view, compared_at=utc_now(), snapshot=known), changed=True)


def _compare_now(world: World) -> None:
    observations = world.stage.services.stores.observations
    view = observations.read([world.connect])[world.connect]
    assert observations.write(world.connect, replace(view, compared_at=None), changed=False)


def _tick(
    world: World,
    name: str,
    connectors: int,
    *,
    writes: int = 1,
    units: tuple[float, float] | None = (1.0, 1.0),
    repeats: int,
    parse: Callable[[], Any],
) -> Tick:
    tick, double = world.stage.services.tick, world.stage.doubles.connect_double
    before = double.calls.count()
    with metered() as seen:
        cpu = _cpu(lambda: tick.run(world.connect, Deadline.after(60)))
    calls = double.calls.count() - before
    for _ in range(repeats - 1):
        cpu = min(cpu, _cpu(lambda: tick.run(world.connect, Deadline.after(60))))
    return Tick(
        name=name, connectors=connectors, seen=seen, connect_calls=calls, reads_allowed=1, writes_allowed=writes,
        units_allowed=units, cpu_ms=cpu, parsing_ms=min(_cpu(parse) for _ in range(repeats)),
    )  # fmt: skip


def _cpu(act: Callable[[], Any]) -> float:
    began = time.thread_time()
    act()
    return (time.thread_time() - began) * 1000
