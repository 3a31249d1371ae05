"""All measurements as lines: what was measured, beside its budget."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.bench import cpu, growth, imports
from tests.bench.calls import Operation, World, discover, furnish, operations
from tests.bench.meter import Metered
from tests.bench.stage import stage
from tests.bench.ticks import CPU_BUDGET_MS, Tick, ticks

EARLY = {"httpx", "psycopg", "confluent_kafka", "boto3", "cryptography"}
"""Libraries that importing the API must not load: each is for some requests only."""

REGISTERED = "the cluster's registration is read beside what was remembered of it, to see a new address at once"
STEPS = "two transactions and a last look, and the checks read discovered tables, target claims and secrets"
KNOWN: dict[str, str] = {
    "GET /pipelines/{uuid}": "a detail with a list in it: the pipeline's deliveries are one call more",
    "POST /pipelines": "the checks read discovered tables and the source's secrets: one call each",
    "POST /pipelines/{uuid}/deploy": STEPS,
    "POST /destinations/{uuid}/deploy": STEPS,
    "DELETE /deliveries/{uuid}": "two transactions, and the target tables that it gives back are read before",
}
"""Operations that are over the budget of their kind, and why. `test_budgets` holds each to what it makes today."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One measurement beside its budget. `known` explains why it may be over; `value` is for comparing."""

    group: str
    name: str
    measured: str
    budget: str
    holds: bool
    value: float
    known: str = ""


def measure(discovered: int, *, counts_only: bool) -> list[Line]:
    """Everything, in the order in which it is printed."""
    with stage() as running:
        world = furnish(running, discovered)
        found = [_discovery(discover(world), discovered), *(_operation(one) for one in operations(world))]
        looked = [tick for size in growth.SIZES for tick in ticks(world, size)]
        found += [_tick(one) for one in looked]
        found += [_growth(one) for one in (*growth.request_growth(world), *growth.tick_growth(looked))]
        if not counts_only:
            found += _cpu(world, looked)
    return [*found, *_imports(counts_only=counts_only)]


def _operation(one: Operation) -> Line:
    return Line(
        group="DynamoDB calls per operation, 10,000 sources stored (Connect calls beside them)",
        name=one.name,
        measured=f"{one.seen.total} ({one.connect_calls} Connect)",
        budget=f"at most {one.budget}",
        holds=one.holds,
        value=one.seen.total,
        known=KNOWN.get(one.name, ""),
    )


def _discovery(seen: Metered, tables: int) -> Line:
    rows = seen.calls["BatchWriteItem"]
    fitting = -(-tables // 25)
    return Line(
        group="Jobs",
        name=f"discovery of {tables} tables",
        measured=f"{seen.total}, {rows} of them batches",
        budget=f"{fitting} batches + 10",
        holds=seen.total <= fitting + 10,
        value=seen.total,
    )


def _tick(one: Tick) -> Line:
    return Line(
        group="One tick (store reads + writes, Connect calls)",
        name=f"{one.connectors:,} connectors, {one.name}",
        measured=f"{one.seen.reads} + {one.writes}, {one.connect_calls} Connect",
        budget=f"{one.reads_allowed} + {one.writes_allowed}, 1 Connect",
        holds=one.holds,
        value=one.seen.total,
        known=REGISTERED if one.seen.reads == 2 else "",
    )


def _growth(one: growth.Growth) -> Line:
    return Line(
        group=f"Growth from {growth.SIZES[0]} to {growth.SIZES[-1]:,} (exponent)",
        name=one.name,
        measured=f"{one.exponent:+.3f}  {' '.join(f'{value:g}' for value in one.values)}",
        budget=f"within {growth.FLAT}",
        holds=one.holds,
        value=one.exponent,
    )


def _cpu(world: World, looked: list[Tick]) -> Iterator[Line]:
    largest = next(tick for tick in reversed(looked) if tick.name == "quiet")
    yield Line(
        group="CPU",
        name=f"tick of {largest.connectors:,} connectors over parsing",
        measured=f"{largest.over_parsing_ms:.0f} ms ({largest.parsing_ms:.0f} ms parsing)",
        budget=f"at most {CPU_BUDGET_MS:.0f} ms",
        holds=largest.over_parsing_ms <= CPU_BUDGET_MS,
        value=largest.over_parsing_ms,
    )
    for name, path in (("GET one source", f"/sources/{world.source}"), ("GET 50 sources", "/sources?limit=50")):
        one = cpu.request_cpu(world.stage, name, path)
        yield Line(
            group="CPU",
            name=f"{name}: own code's share",
            measured=f"{one.own_share:.0%} of {one.milliseconds:.2f} ms",
            budget=f"at most {cpu.BUDGET:.0%}",
            holds=one.own_share <= cpu.BUDGET,
            value=one.own_share,
        )


def _imports(*, counts_only: bool) -> Iterator[Line]:
    early: Any = sorted(EARLY & imports.modules_loaded())
    yield Line(
        group="Import of the API",
        name="libraries loaded before they are needed",
        measured=", ".join(early) or "none",
        budget="none",
        holds=not early,
        value=len(early),
    )
    if not counts_only:
        cost = imports.import_cost()
        yield Line(
            group="Import of the API",
            name="over its given libraries alone",
            measured=f"{cost.ratio:.2f} x ({cost.ours_ms:.0f} over {cost.base_ms:.0f} ms)",
            budget=f"at most {imports.BUDGET} x",
            holds=cost.ratio <= imports.BUDGET,
            value=cost.ratio,
        )
