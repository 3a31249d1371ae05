"""Measures how the values of cases arrive at both kinds of targets."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.providers.measured_types.model import ArrivalOutcome, measured_values
from chalicelib.domain.providers.measured_types.names import without_modifiers
from chalicelib.domain.providers.mysql.target_columns import TYPES as INTO_MYSQL
from chalicelib.domain.providers.postgresql.target_columns import TYPES as INTO_POSTGRESQL
from chalicelib.domain.table import Column, SourceTable
from tests.types.capture import Measured, capture, discovered_tables, make_tables, raw_tables, tables_of
from tests.types.cases import MYSQL, POSTGRESQL, Case
from tests.types.deliver import Result, deliver
from tests.types.servers import World, new_name

_TYPES = {MYSQL: INTO_MYSQL, POSTGRESQL: INTO_POSTGRESQL}


@dataclass(frozen=True, kw_only=True)
class CaseResult:
    """What became of a case: for each column of a target the snapshot's result, then that of later changes.

    The key is the target with `made`, `created`, or the type of another column.
    """

    case: Case
    raw_column: Any
    """As the client of the source has read it."""
    cells: Mapping[tuple[DatabaseProvider, str], tuple[Result, Result]]


def measure(world: World, source: DatabaseProvider, cases: Sequence[Case]) -> list[CaseResult]:
    tables = tables_of(source, cases)
    make_tables(world, tables)
    raw = raw_tables(world, source)
    discovered = discovered_tables(source, raw)
    captured = capture(world, tables, source)
    print(f"{source}: {len(cases)} cases are captured", flush=True)
    cells: dict[str, dict[tuple[DatabaseProvider, str], dict[str, Result]]] = {case.name: {} for case in cases}
    # One kind of target after the other: two kinds of sinks that start at once get in each other's way.
    for target in (POSTGRESQL, MYSQL):
        for into, results in _delivered(world, target, captured, discovered):
            for result in results:
                name = result.measured.case.name
                key = (target, _column_type(result, into, target, discovered))
                cells[name].setdefault(key, {})[result.measured.phase] = result
    return [_case_result(case, cells[case.name], tables, raw) for case in cases]


def _delivered(
    world: World, target: DatabaseProvider, captured: Sequence[Measured], discovered: Mapping[str, SourceTable]
) -> Iterator[tuple[str, list[Result]]]:
    for into, tables in _rounds(target, captured, discovered):
        schema = new_name(f"{into}_{captured[0].provider}").replace("-", "_")
        world.server(target).add_schema(schema)
        for one in tables:
            column_type = column_type_of(into, target, one, discovered)
            if column_type:
                _make_target(world, target, schema, one, column_type)
        alone = frozenset(one.table for one in tables if _stopped_before(one, target, into))
        results = deliver(world, target, schema, tables, alone=alone)
        counted = {outcome: sum(one.outcome is outcome for one in results) for outcome in ArrivalOutcome}
        print(f"  {target}, {into}: {', '.join(f'{n} {one}' for one, n in counted.items() if n)}", flush=True)
        yield into, results


def _stopped_before(one: Measured, target: DatabaseProvider, into: str) -> bool:
    """Whether the last measurement saw the delivery stop: then no other table has to wait for it."""
    of_type = measured_values(one.provider).get(one.case.type, ())
    before = next((values.targets[target] for values in of_type if values.values == one.case.values), None)
    if before is None:
        return False
    columns = (before.created,) if into == "created" else (before.made,) if into == "made" else before.others
    return any(column.stops for column in columns)


def _rounds(
    target: DatabaseProvider, captured: Sequence[Measured], discovered: Mapping[str, SourceTable]
) -> Iterator[tuple[str, list[Measured]]]:
    """Tables made beforehand, tables of the sink, then those with a first, second, ... other type."""
    yield "made", list(captured)
    yield "created", list(captured)
    number = 0
    while some := [one for one in captured if number < len(other_types(target, one, discovered))]:
        yield f"other{number}", some
        number += 1


def column_type_of(
    into: str, target: DatabaseProvider, one: Measured, discovered: Mapping[str, SourceTable]
) -> str | None:
    """The type of the column to make; None where the sink makes the table."""
    if into == "created":
        return None
    if into.startswith("other"):
        return other_types(target, one, discovered)[int(into.removeprefix("other"))]
    table = discovered[one.table]
    return _TYPES[target].equal_type(table, column_of(table)) or "text"


def other_types(target: DatabaseProvider, one: Measured, discovered: Mapping[str, SourceTable]) -> tuple[str, ...]:
    """Those that the case names, and the source's own where that is not the one to make."""
    table = discovered[one.table]
    column, others = column_of(table), one.case.others.get(target, ())
    equal = _TYPES[target].equal_type(table, column)
    is_own = target is one.provider and equal and without_modifiers(equal) != without_modifiers(column.type)
    return (*others, column.type) if is_own and not one.stopped else others


def column_of(table: SourceTable) -> Column:
    return next(column for column in table.columns if column.name == "v")


def _make_target(world: World, target: DatabaseProvider, schema: str, one: Measured, column_type: str) -> None:
    # What a target does not know, as without PostGIS, is tried with a type that can hold any value.
    known = column_type if world.server(target).knows(column_type) else "bytea"
    columns = f"id int NOT NULL PRIMARY KEY, n int, v {known}"
    world.server(target).in_target(f"CREATE TABLE {schema}.{one.table} ({columns})")


def _column_type(result: Result, into: str, target: DatabaseProvider, discovered: Mapping[str, SourceTable]) -> str:
    return column_type_of(into, target, result.measured, discovered) or "" if into.startswith("other") else into


def _case_result(
    case: Case,
    cells: Mapping[tuple[DatabaseProvider, str], Mapping[str, Result]],
    tables: Sequence[Measured],
    raw: Sequence[Any],
) -> CaseResult:
    name = next(one.table for one in tables if one.case is case)
    columns = next(table.raw_columns for table in raw if table.name.table_name == name)
    return CaseResult(
        case=case,
        raw_column=next(column for column in columns if column.name == "v"),
        cells={key: (phases["snapshot"], phases["stream"]) for key, phases in cells.items()},
    )
