"""All measurements as lines: what was measured, next to its budget."""

from collections.abc import Iterator
from dataclasses import dataclass

from chalicelib.stores.batch_writer import WRITES_PER_CALL
from chalicelib.stores.schema_versions import TABLES_PER_TRANSACTION
from tests.bench import cpu, growth, imports, row_lists
from tests.bench.bench_app import bench_app
from tests.bench.dynamodb_meter import Metered
from tests.bench.operation_costs import BenchData, Operation, create_data, discover, operations
from tests.bench.ticks import COMPARES, COMPARING_CPU_BUDGET_MS, CPU_BUDGET_MS, QUIET, Tick, ticks

EARLY = {"httpx", "psycopg", "pymysql", "kafka", "boto3", "cryptography", "chalicelib.wiring"}
"""What importing the API must not load: libraries of some requests only, and the wiring, which loads every service."""
ALWAYS = {
    "chalice",
    "pynamodb.transactions",
    "pydantic.main",
    "aws_lambda_powertools.logging",
    "chalicelib.services.accounts.sessions",
}
"""What it must load: what nearly every request needs is loaded when the function starts, not during a request."""

_ROWS = "10,000 pipelines as rows"


@dataclass(frozen=True, kw_only=True)
class Line:
    """One measurement next to its budget; `value` is the number to compare."""

    group: str
    name: str
    measured: str
    budget: str
    holds: bool
    value: float


def measure(discovered: int, *, counts_only: bool) -> list[Line]:
    """Everything, in the order in which it is printed."""
    with bench_app() as running:
        data = create_data(running, discovered)
        found = [_discovery(discover(data), discovered), *(_operation(one) for one in operations(data))]
        tick_results = [tick for size in growth.SIZES for tick in ticks(data, size)]
        found += [_tick(one) for one in tick_results]
        found += [_growth(one) for one in (*growth.request_growth(data), *growth.tick_growth(tick_results))]
        found += _row_lists(row_lists.row_lists(data, counts_only=counts_only), counts_only=counts_only)
        if not counts_only:
            found += _cpu(data, tick_results)
    return [*found, *_imports(counts_only=counts_only)]


def _operation(one: Operation) -> Line:
    return Line(
        group="DynamoDB calls per operation, 10,000 sources stored (in brackets: calls to Connect)",
        name=one.name,
        measured=f"{one.seen.total} ({one.connect_calls} Connect)",
        budget=f"at most {one.budget}",
        holds=one.holds,
        value=one.seen.total,
    )


def _discovery(seen: Metered, tables: int) -> Line:
    rows, versions = seen.calls["BatchWriteItem"], seen.calls["TransactWriteItems"]
    fitting, transactions = -(-tables // WRITES_PER_CALL), -(-tables // TABLES_PER_TRANSACTION)
    return Line(
        group="Jobs",
        name=f"discovery of {tables} tables",
        measured=f"{seen.total}, {rows} of them batches, {versions} transactions",
        budget=f"{fitting} batches + {transactions} transactions of versions + 14",
        holds=seen.total <= fitting + transactions + 14,
        value=seen.total,
    )


def _tick(one: Tick) -> Line:
    return Line(
        group="One tick (calls and units of the store: reads + writes; Connect calls)",
        name=f"{one.connectors:,} connectors, {one.name}",
        measured=f"{one.seen.reads} + {one.writes}, {_units(one.units)}, {one.connect_calls} Connect",
        budget=f"{one.reads_allowed} + {one.writes_allowed}, {_units(one.units_allowed)}, 1 Connect",
        holds=one.holds,
        value=one.seen.total,
    )


def _units(units: tuple[float, float] | None) -> str:
    return f"{units[0]:g} + {units[1]:g} units" if units else "units by size"


def _growth(one: growth.Growth) -> Line:
    return Line(
        group=f"Growth from {growth.SIZES[0]} to {growth.SIZES[-1]:,} (exponent)",
        name=one.name,
        measured=f"{one.exponent:+.3f}  {' '.join(f'{value:g}' for value in one.values)}",
        budget=f"within {growth.FLAT}",
        holds=one.holds,
        value=one.exponent,
    )


def _row_lists(one: row_lists.RowLists, *, counts_only: bool) -> Iterator[Line]:
    number = row_lists.PIPELINES
    yield _row_list("calls of a first page by attention", one.first.total, row_lists.CALLS_BUDGET, str(one.first))
    size = one.whole_bytes / number
    text = f"{size:.0f} bytes, {size / one.resource_bytes:.0%} of a whole one"
    yield _row_list("bytes of a pipeline", size, row_lists.BYTES_BUDGET, text)
    if counts_only:
        return
    for name, milliseconds in (("the whole list by pages", one.whole_ms), ("a first page by attention", one.first_ms)):
        spent = milliseconds / number
        share = spent / one.resource_ms
        text = f"{share:.0%} of a whole one, {spent:.3f} ms"
        yield _row_list(f"CPU of a pipeline, {name}", share, row_lists.CPU_BUDGET, text)
    pages = number / row_lists.PAGE
    yield Line(
        group=_ROWS,
        name="first pages by attention a second, two cores",
        measured=f"{one.lists_a_second:.1f} (of all pages {one.lists_a_second / pages:.2f})",
        budget=f"at least {row_lists.LISTS_A_SECOND}",
        holds=one.lists_a_second >= row_lists.LISTS_A_SECOND,
        value=one.lists_a_second,
    )


def _row_list(name: str, value: float, budget: float, measured: str) -> Line:
    allowed = f"at most {budget:g}"
    return Line(group=_ROWS, name=name, measured=measured, budget=allowed, holds=value <= budget, value=value)


def _cpu(data: BenchData, tick_results: list[Tick]) -> Iterator[Line]:
    largest = {tick.name: tick for tick in tick_results}
    for tick, budget in ((largest[QUIET], CPU_BUDGET_MS), (largest[COMPARES], COMPARING_CPU_BUDGET_MS)):
        yield Line(
            group="CPU",
            name=f"{tick.connectors:,} connectors, {tick.name}: without parsing",
            measured=f"{tick.over_parsing_ms:.0f} ms ({tick.parsing_ms:.0f} ms parsing)",
            budget=f"at most {budget:.0f} ms",
            holds=tick.over_parsing_ms <= budget,
            value=tick.over_parsing_ms,
        )
    rows = "/pipelines?view=row&limit=100"
    requests = (("GET one source", f"/sources/{data.source}"), ("GET 50 sources", "/sources?limit=50"))
    for name, path in (*requests, ("GET 100 pipelines as rows", rows)):
        one = cpu.request_cpu(data.bench_app, name, path)
        yield Line(
            group="CPU",
            name=f"{name}: share of our own code",
            measured=f"{one.own_share:.0%} of {one.milliseconds:.2f} ms",
            budget=f"at most {cpu.BUDGET:.0%}",
            holds=one.own_share <= cpu.BUDGET,
            value=one.own_share,
        )
    status = cpu.status_cpu(data.bench_app, data.pipeline_body())
    yield Line(
        group="CPU",
        name="status of one of 10,000 connectors, Connect asked",
        measured=f"{status:.1f} ms",
        budget=f"at most {cpu.STATUS_BUDGET_MS:g} ms",
        holds=status <= cpu.STATUS_BUDGET_MS,
        value=status,
    )


def _imports(*, counts_only: bool) -> Iterator[Line]:
    loaded = imports.modules_loaded()
    yield _none("libraries and wiring loaded before they are needed", EARLY & loaded)
    yield _none("route modules loaded before they are needed", imports.route_modules() & loaded)
    yield _none("modules of every request, not loaded", ALWAYS - loaded)
    if not counts_only:
        cost = imports.import_cost()
        yield Line(
            group="Import of the API",
            name="compared with its libraries alone",
            measured=f"{cost.ratio:.2f} x ({cost.ours_ms:.0f} and {cost.base_ms:.0f} ms)",
            budget=f"at most {imports.BUDGET} x",
            holds=cost.ratio <= imports.BUDGET,
            value=cost.ratio,
        )


def _none(name: str, found: set[str] | frozenset[str]) -> Line:
    names = ", ".join(sorted(found)) or "none"
    return Line(group="Import of the API", name=name, measured=names, budget="none", holds=not found, value=len(found))
