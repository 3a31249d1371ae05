"""How calls and bytes grow with the number of stored rows: the slope of a line on logarithmic scales."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tests.bench.dynamodb_meter import Metered, metered
from tests.bench.operation_costs import BenchData
from tests.bench.seeds import copies, put_rows
from tests.bench.ticks import Tick

SIZES = (10, 100, 1_000, 10_000)
FLAT = 0.05


@dataclass(frozen=True, kw_only=True)
class Growth:
    """One measure by size. An `exponent` of 0 means no growth, 1 means growth in proportion to the size."""

    name: str
    values: tuple[float, ...]
    sizes: tuple[int, ...]

    @property
    def exponent(self) -> float:
        """The slope of the line."""
        xs, ys = [math.log(size) for size in self.sizes], [math.log(max(value, 1)) for value in self.values]
        mid_x, mid_y = sum(xs) / len(xs), sum(ys) / len(ys)
        over = sum((x - mid_x) * (y - mid_y) for x, y in zip(xs, ys, strict=True))
        return over / sum((x - mid_x) ** 2 for x in xs)

    @property
    def holds(self) -> bool:
        return abs(self.exponent) <= FLAT


def request_growth(data: BenchData, sizes: Sequence[int] = SIZES) -> list[Growth]:
    """Reading one source, one page of sources and the overview, with growing numbers of stored sources."""
    bench_app, stores = data.bench_app, data.bench_app.services.stores
    source = stores.resources.sources.get(data.source)
    asked: Mapping[str, Callable[[], str]] = {
        "GET one": lambda: f"/sources/{data.source}",
        "GET a page of 10": lambda: "/sources?limit=10",
        "GET the overview": lambda: "/monitoring/overview",
    }
    seen: dict[str, list[Metered]] = {name: [] for name in asked}
    for size in sizes:
        put_rows(copies(stores.resources.sources, source, size))
        bench_app.services.overview.count(within_seconds=60)  # the schedule does so each minute
        for name, path in asked.items():
            event = bench_app.event("GET", "/api/v1" + path())
            bench_app.send(event)  # the first request of a minute also stores when the session was last used
            with metered() as one:
                bench_app.send(event)
            seen[name].append(one)
    return [growth for name, ones in seen.items() for growth in _both(name, ones, sizes)]


def tick_growth(ticks: Sequence[Tick]) -> list[Growth]:
    """Quiet ticks of clusters of ever more connectors."""
    quiet = [tick for tick in ticks if tick.name == "quiet"]
    return _both("quiet tick", [tick.seen for tick in quiet], [tick.connectors for tick in quiet])


def _both(name: str, ones: Sequence[Metered], sizes: Sequence[int]) -> list[Growth]:
    received = tuple(float(one.bytes_received + one.bytes_sent) for one in ones)
    calls = tuple(float(one.total) for one in ones)
    return [
        Growth(name=f"{name}, calls", values=calls, sizes=tuple(sizes)),
        Growth(name=f"{name}, bytes", values=received, sizes=tuple(sizes)),
    ]
