"""Delivers captured values with Headgate's own sink config, and compares what arrived."""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from chalicelib.domain.connector_config import ConnectorConfig
from chalicelib.domain.credentials import Credentials
from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.delivery import Delivery, TableMapping, TableWriting
from chalicelib.domain.endpoint import Endpoint
from chalicelib.domain.providers.measured_types.model import ArrivalOutcome
from chalicelib.domain.providers.registry import target_provider
from chalicelib.kit.ids import new_id
from tests.types.canonical import expression, normalized
from tests.types.capture import Measured, rows_of
from tests.types.cases import Meaning
from tests.types.servers import SOURCE, World, new_name

_CREDENTIALS = Credentials(id="00000000-0000-4000-8000-000000000002", fields={"password": 1})
_NOW = datetime(2026, 1, 1, tzinfo=UTC)
_AT_ONCE = 3
_GROUP = 24
_QUIET_SECONDS = 45.0
"""A sink that neither fails nor writes for so long does nothing more."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """What became of one table's values. `sent` and `became` are the first value that changed."""

    measured: Measured
    outcome: ArrivalOutcome
    column_type: str | None
    sent: str | None = None
    became: str | None = None
    trace: str | None = None


def deliver(
    world: World,
    target: DatabaseProvider,
    schema: str,
    tables: Sequence[Measured],
    *,
    alone: frozenset[str] = frozenset(),
) -> list[Result]:
    """Delivers all tables into this schema of the target: existing ones, or new ones.

    Tables share a sink until it stops; then they are divided, so that each table at which it stops is found. Those in
    `alone` get one of their own at once.
    """
    results = [
        Result(measured=one, outcome=ArrivalOutcome.CAPTURE_STOPS, column_type=None) for one in tables if one.stopped
    ]
    left = [one for one in tables if not one.stopped]
    groups = [[one] for one in left if one.table in alone]
    groups += _chunks([one for one in left if one.table not in alone], _GROUP)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        while groups:
            done = list(pool.map(lambda group: _deliver_group(world, target, schema, group), groups))
            groups = []
            for finished, unfinished in done:
                results += finished
                groups += unfinished
    return results


def _chunks(items: Sequence[Any], size: int) -> list[list[Any]]:
    return [list(items[start : start + size]) for start in range(0, len(items), size)]


def _deliver_group(
    world: World, target: DatabaseProvider, schema: str, group: Sequence[Measured]
) -> tuple[list[Result], list[list[Measured]]]:
    """The results of the tables that are complete, and the others in smaller groups."""
    trace = _run_sink(world, target, schema, group)
    left = _incomplete(world, target, schema, group)
    results = [_compared(world, target, schema, one) for one in group if one not in left]
    if len(group) > 1:
        return results, _chunks(left, max(1, (len(left) + 3) // 4))
    return results + [_stopped(world, target, schema, one, trace) for one in left], []


def _run_sink(world: World, target: DatabaseProvider, schema: str, group: Sequence[Measured]) -> str | None:
    """Runs a sink until all is there, it has failed, or it does nothing any more. Returns its trace."""
    name = new_name("sink")
    world.connect.create(name, sink_config(world, target, schema, group))
    try:
        missing, since = len(group) + 1, time.monotonic()
        while time.monotonic() - since < _QUIET_SECONDS:
            time.sleep(1)  # between two looks: how long it takes is not known
            if trace := world.connect.failure(name):
                return trace
            now_missing = len(_incomplete(world, target, schema, group))
            if now_missing == 0:
                return None
            if now_missing < missing:
                missing, since = now_missing, time.monotonic()
        return "the sink does nothing more"
    finally:
        world.connect.delete(name)


def sink_config(world: World, target: DatabaseProvider, schema: str, group: Sequence[Measured]) -> ConnectorConfig:
    mappings = tuple(TableMapping(topic=one.topic, schema_name=schema, table_name=one.table) for one in group)
    writing = TableWriting(mappings=mappings)
    delivery = Delivery(
        id=new_id(),
        name="d",
        destination_id="d",
        pipeline_id="p",
        connect_cluster_id="c",
        writing=writing,
        created_at=_NOW,
        updated_at=_NOW,
    )
    endpoint = Endpoint(world.server(target).address(schema), _CREDENTIALS)
    return target_provider(target).build_config(delivery, writing, endpoint).config


def _incomplete(world: World, target: DatabaseProvider, schema: str, group: Sequence[Measured]) -> list[Measured]:
    """The tables that do not have all rows yet, or are not there."""
    server = world.server(target)
    there = server.in_target(f"SELECT table_name FROM information_schema.tables WHERE table_schema = '{schema}'")
    existing = {name for (name,) in there}
    counts = [
        f"SELECT '{one.table}', COUNT(*) FROM {schema}.{one.table} WHERE n = 2"
        for one in group
        if one.table in existing
    ]
    counted = dict(server.in_target(" UNION ALL ".join(counts))) if counts else {}
    return [one for one in group if counted.get(one.table) != rows_of(one.case)]


def _stopped(world: World, target: DatabaseProvider, schema: str, one: Measured, trace: str | None) -> Result:
    column_type = world.server(target).column_type(schema, one.table)
    return Result(measured=one, outcome=ArrivalOutcome.STOPS, column_type=column_type, trace=trace)


def _compared(world: World, target: DatabaseProvider, schema: str, one: Measured) -> Result:
    column_type = world.server(target).column_type(schema, one.table)
    if one.absent or column_type is None:
        return Result(measured=one, outcome=ArrivalOutcome.ABSENT, column_type=column_type)
    # In a column of text a shape has the form in which its own database writes it.
    is_written = one.case.meaning is Meaning.GEOMETRY and column_type in ("text", "longtext")
    meaning = Meaning.TEXT if is_written else one.case.meaning
    difference = _difference(world, target, schema, one, column_type, meaning)
    if difference is None:
        return Result(measured=one, outcome=ArrivalOutcome.EQUAL, column_type=column_type)
    sent, became = difference
    return Result(measured=one, outcome=ArrivalOutcome.CHANGED, column_type=column_type, sent=sent, became=became)


def _difference(
    world: World, target: DatabaseProvider, schema: str, one: Measured, column_type: str, meaning: Meaning
) -> tuple[str | None, str | None] | None:
    """The first value that changed, and what it became; None where all are equal."""
    source = world.server(one.provider)
    of_source = expression(one.provider, source.source_type(one.table), meaning)
    of_target = expression(target, column_type, meaning)
    sent = source.run(f"SELECT id, {of_source} FROM {SOURCE}.{one.table} ORDER BY id", lenient=True)
    arrived = world.server(target).in_target(f"SELECT id, {of_target} FROM {schema}.{one.table} ORDER BY id")
    for before, after in zip(_values(sent), _values(arrived), strict=True):
        if normalized(meaning, before) != normalized(meaning, after):
            return before, after
    return None


def _values(rows: Sequence[tuple[Any, ...]]) -> Iterator[str | None]:
    for _, value in rows:
        yield value.decode("utf-8", "replace") if isinstance(value, bytes) else value
