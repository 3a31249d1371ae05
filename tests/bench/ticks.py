"""Ticks of clusters of several sizes: calls and units of the store, calls to Connect, CPU time without parsing."""

import gc
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import httpx

from chalicelib.domain.connector_config import config_hash
from chalicelib.domain.timing import ONCE_A_MINUTE
from chalicelib.kit.clock import Deadline, utc_now
from tests.bench.dynamodb_meter import Metered, metered
from tests.bench.operation_costs import BenchData
from tests.bench.seeds import connector_names, pipeline_rows, preload_ours, put_rows, quiet_memory

REPEATS = 5
CPU_BUDGET_MS = 80.0
COMPARING_CPU_BUDGET_MS = 1000.0
"""For one tick in ten minutes, which hashes every config."""

ROWS_PER_PAGE = 500
"""Rows of small pipelines in one megabyte, at least."""

QUIET, REPORTS, COMPARES = "quiet", "quiet, reported to alerting", "quiet, configs compared"
FAILED = "one task failed"
CONFIG = {f"key.number.{number}": f"a value of the usual length, {number}" for number in range(40)}
"""About the size of the config of a source with a few tables: 3 KB of JSON."""


@dataclass(frozen=True, kw_only=True)
class Tick:
    """One kind of tick. Units are those of the store; `units_allowed` is None where the size of the change decides.
    CPU times are those of this thread, the minimum of several runs.
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
        """Whether calls and units are within the budget; the CPU time has a line of its own."""
        within = self.seen.reads <= self.reads_allowed and self.writes <= self.writes_allowed
        reads, writes = self.units_allowed or self.units
        return within and self.connect_calls == 1 and self.units[0] <= reads and self.units[1] <= writes

    @property
    def over_parsing_ms(self) -> float:
        """CPU time without that of parsing the same JSON."""
        return self.cpu_ms - self.parsing_ms


def ticks(data: BenchData, connectors: int) -> list[Tick]:
    """A cluster of so many connectors: a quiet tick, the one in a minute that reports to alerting, one that compares
    configs, one in which a task has failed.
    """
    bench_app, names = data.bench_app, connector_names(connectors)
    double = bench_app.doubles.connect_double
    for name in double.names():
        double.drop(name)
    preload_ours(double, names, bench_app.services, CONFIG)
    worker = httpx.get(f"{double.url}/connectors/{names[0]}/status").json()["connector"]["worker_id"]
    hashes = {name: config_hash(double.config_of(name)) for name in names}
    put_rows(pipeline_rows(bench_app.services.stores.resources.pipelines, data.connect, hashes, source_id=data.source))
    _store_memory(data, hashes, worker)
    text, whole = (
        httpx.get(f"{double.url}/connectors?{query}", timeout=60).content
        for query in ("expand=status", "expand=status&expand=info")
    )
    # Tables and doubles are in this process: the garbage collector must not examine them during a tick.
    gc.collect()
    gc.freeze()
    quiet = _tick(data, QUIET, connectors, repeats=REPEATS, parse=lambda: json.loads(text))
    _report_now(data)
    bench_app.services.tick.run(data.connect, Deadline.after(60))  # ends the alert of the cluster before this one
    _report_now(data)
    reports = _tick(data, REPORTS, connectors, reads=3, units=(6.0, 1.0), repeats=1, parse=lambda: json.loads(text))
    # Each of these has to be the first tick in ten minutes, so only one can be measured.
    _compare_now(data)
    # It reads again what is desired: a page for each megabyte of pipelines, and at least one of deliveries.
    pages = 2 + connectors // ROWS_PER_PAGE
    pipelines = data.bench_app.services.stores.resources.pipelines

    def read_and_parse() -> None:
        # The tables are in this process as well: a real store reads them elsewhere.
        list(pipelines.columns_in("connect_cluster_id", data.connect, Deadline.after(60)))
        json.loads(whole)

    compares = _tick(data, COMPARES, connectors, reads=1 + pages, units=None, repeats=1, parse=read_and_parse)
    double.show(names[0], "FAILED", task=0)
    failed = _tick(data, FAILED, connectors, reads=14, writes=4, units=None, repeats=1, parse=lambda: None)
    double.show(names[0], "RUNNING", task=0)
    bench_app.services.tick.run(data.connect, Deadline.after(60))  # ends its incident
    return [quiet, reports, compares, failed]


def _store_memory(data: BenchData, hashes: dict[str, str], worker: str) -> None:
    """Store the memory of a tick that has just read and compared all connectors."""
    observations = data.bench_app.services.stores.connectors.observations
    _, view = observations.cluster_and_view(data.connect, data.bench_app.services.stores.resources.connects)
    memory = quiet_memory(hashes, worker, epoch=view.epoch)
    now = utc_now()
    stored = replace(view, observed_at=now, compared_at=now, reported_at=now, memory=memory)
    assert observations.write(data.connect, stored, changed=True)


def _compare_now(data: BenchData) -> None:
    observations = data.bench_app.services.stores.connectors.observations
    view = observations.read([data.connect])[data.connect]
    assert observations.write(data.connect, replace(view, compared_at=None), changed=False)


def _report_now(data: BenchData) -> None:
    observations = data.bench_app.services.stores.connectors.observations
    view, minute_ago = observations.read([data.connect])[data.connect], utc_now() - ONCE_A_MINUTE
    # The time of a report is written only by the tick that reports, so there was one a minute ago, and one now.
    reported = observations.write(
        data.connect, replace(view, observed_at=minute_ago, reported_at=minute_ago), changed=False
    )
    assert reported
    assert observations.write(data.connect, replace(reported, observed_at=utc_now()), changed=False)


def _tick(
    data: BenchData,
    name: str,
    connectors: int,
    *,
    reads: int = 1,
    writes: int = 1,
    units: tuple[float, float] | None = (5.0, 1.0),
    repeats: int,
    parse: Callable[[], Any],
) -> Tick:
    tick, double = data.bench_app.services.tick, data.bench_app.doubles.connect_double
    before = double.calls.count()
    with metered() as seen:
        cpu = _cpu(lambda: tick.run(data.connect, Deadline.after(60)))
    calls = double.calls.count() - before
    for _ in range(repeats - 1):
        cpu = min(cpu, _cpu(lambda: tick.run(data.connect, Deadline.after(60))))
    return Tick(
        name=name, connectors=connectors, seen=seen, connect_calls=calls, reads_allowed=reads, writes_allowed=writes,
        units_allowed=units, cpu_ms=cpu, parsing_ms=min(_cpu(parse) for _ in range(repeats)),
    )  # fmt: skip


def _cpu(act: Callable[[], Any]) -> float:
    began = time.thread_time()
    act()
    return (time.thread_time() - began) * 1000
