"""Captures the values of cases with Headgate's own source config: some by the snapshot, the same by the stream."""

import itertools
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from chalicelib.clients.databases.mysql.client import MySQL
from chalicelib.clients.databases.postgresql.client import PostgreSQL
from chalicelib.domain.addresses import KafkaAddress
from chalicelib.domain.cluster import StreamCluster
from chalicelib.domain.connector_config import ConnectorConfig
from chalicelib.domain.credentials import Credentials
from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.pipeline import Capture, Pipeline
from chalicelib.domain.providers.registry import capture_provider
from chalicelib.domain.source import Source
from chalicelib.domain.table import SourceTable, TableName
from chalicelib.kit.clock import Deadline
from chalicelib.kit.ids import new_id
from chalicelib.kit.masking import Secret
from tests.support.waiting import eventually
from tests.types.cases import MYSQL, POSTGRESQL, Case
from tests.types.servers import PASSWORD, SOURCE, World, new_name

_CREDENTIALS = Credentials(id="00000000-0000-4000-8000-000000000001", fields={"password": 1})
_SENTINEL = "sentinel"
_NOW = datetime(2026, 1, 1, tzinfo=UTC)
_ids = itertools.count(1)
STAYS_SECONDS = 25.0
"""After this a capture that neither writes nor fails is said to stay."""


class Phase(StrEnum):
    SNAPSHOT = "snapshot"
    STREAM = "stream"


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A case's table for one phase, in which the source holds its values."""

    case: Case
    phase: Phase
    provider: DatabaseProvider
    table: str
    topic: str = ""
    stopped: bool = False
    """Nothing of it reaches the topic, because the capture does not get beyond it."""
    absent: bool = False
    """The records have no such column."""


def tables_of(provider: DatabaseProvider, cases: Sequence[Case]) -> list[Measured]:
    return [
        Measured(case=case, phase=phase, provider=provider, table=f"{str(provider)[0]}{number:03}_{phase}")
        for number, case in enumerate(cases, 1)
        for phase in Phase
    ]


def rows_of(case: Case) -> int:
    return 1 if case.literals is None else len(case.literals) + int("NOT NULL" not in case.column)


def make_tables(world: World, measured: Sequence[Measured]) -> None:
    server = world.server(measured[0].provider)
    for one in measured:
        statement = f"CREATE TABLE {one.table} (id int NOT NULL PRIMARY KEY, n int, v {one.case.column})"
        server.run(_in_schema(one.provider, statement), lenient=one.case.lenient)
        if one.phase is Phase.SNAPSHOT:
            _insert(world, one)
    server.run(
        _in_schema(measured[0].provider, f"CREATE TABLE IF NOT EXISTS {_SENTINEL} (id int NOT NULL PRIMARY KEY)")
    )


def _in_schema(provider: DatabaseProvider, statement: str) -> str:
    for word in ("CREATE TABLE IF NOT EXISTS ", "CREATE TABLE ", "INSERT INTO ", "UPDATE "):
        if statement.startswith(word):
            return f"{word}{SOURCE}.{statement.removeprefix(word)}"
    raise AssertionError(statement)


def _insert(world: World, one: Measured) -> None:
    """Rows with the values, and one with NULL; each is changed once more in another column."""
    server, case = world.server(one.provider), one.case
    if case.literals is None:
        statements = [f"INSERT INTO {one.table} (id, n) VALUES (1, 1)"]
    else:
        literals = [*case.literals, *(["NULL"] if rows_of(case) > len(case.literals) else [])]
        statements = [
            f"INSERT INTO {one.table} (id, n, v) VALUES ({at}, 1, {value})" for at, value in enumerate(literals, 1)
        ]
    changed = f"UPDATE {one.table} SET n = 2"
    server.run(*(_in_schema(one.provider, each) for each in (*statements, changed)), lenient=case.lenient)


def _fill_again(world: World, one: Measured) -> None:
    world.server(one.provider).run(f"DELETE FROM {SOURCE}.{one.table}")
    _insert(world, one)


def raw_tables(world: World, provider: DatabaseProvider) -> Sequence[Any]:
    """The tables as Headgate's own client reads them."""
    client = _CLIENTS[provider](
        endpoint=OpenedEndpoint(world.server(provider).address(), {"password": Secret(PASSWORD)}),
        check_host=_any_address,
    )
    return client.list_tables(Deadline.after(120), bound=2000).tables


def discovered_tables(provider: DatabaseProvider, raw: Sequence[Any]) -> Mapping[str, SourceTable]:
    """The same as Headgate's own discovery judges them, by name."""
    return {table.table_name: table for table in capture_provider(provider).source_tables(raw, "source", _NOW)}


_CLIENTS = {MYSQL: MySQL, POSTGRESQL: PostgreSQL}


def _any_address(host: str) -> Any:
    return (host,)


def source_config(world: World, provider: DatabaseProvider, tables: Sequence[str], prefix: str) -> ConnectorConfig:
    names = tuple(TableName(SOURCE, table) for table in tables)
    own = capture_provider(provider).own_options({}, {})
    pipeline = Pipeline(
        id=new_id(),
        name=prefix,
        source_id="s",
        provider=provider,
        stream_cluster_id="k",
        connect_cluster_id="c",
        capture=Capture(topic_prefix=prefix, tables=names, provider_options=own),
        created_at=_NOW,
        updated_at=_NOW,
    )
    source = Source(
        id="s",
        name="s",
        description=None,
        environment=None,
        address=world.server(provider).address(),
        credentials=_CREDENTIALS,
        created_at=_NOW,
        updated_at=_NOW,
    )
    kafka = KafkaAddress(bootstrap_servers=world.topics.bootstrap_servers)
    stream = StreamCluster(
        id="k",
        name="k",
        address=kafka,
        credentials=Credentials(id="k"),
        created_at=_NOW,
        updated_at=_NOW,
    )
    return capture_provider(provider).build_config(pipeline, source, stream).config


def capture(world: World, measured: Sequence[Measured], provider: DatabaseProvider) -> list[Measured]:
    """The tables with their topics, in which all records are. Cases that are alone get a connector for each phase."""
    alone = {one.case.name for one in measured if one.case.alone}
    while True:
        together = [one for one in measured if one.case.name not in alone]
        try:
            captured = _capture_together(world, together, provider) if together else []
            break
        except Failed as failure:
            named = next((one for one in together if one.table in str(failure)), None)
            if named is None:
                raise
            print(f"{named.case.name} stops the capture, and is measured alone", flush=True)
            alone.add(named.case.name)
    captured += [_capture_alone(world, one, provider) for one in measured if one.case.name in alone]
    records = world.topics.records([one.topic for one in captured])
    return [replace(one, absent=not one.stopped and _is_absent(records[one.topic])) for one in captured]


def _is_absent(records: Sequence[Any]) -> bool:
    return all("v" not in record["after"] for record in records if record["after"])


def _capture_together(world: World, measured: Sequence[Measured], provider: DatabaseProvider) -> list[Measured]:
    name = prefix = new_name("types")
    config = source_config(world, provider, [*(one.table for one in measured), _SENTINEL], prefix)
    with_topics = [replace(one, topic=f"{prefix}.{SOURCE}.{one.table}") for one in measured]
    world.connect.create(name, config)
    try:
        _until_records(world, name, [one for one in with_topics if one.phase is Phase.SNAPSHOT])
        _until_streaming(world, name, provider, f"{prefix}.{SOURCE}.{_SENTINEL}")
        streamed = [one for one in with_topics if one.phase is Phase.STREAM]
        for one in streamed:
            _fill_again(world, one)
        _until_records(world, name, streamed)
    finally:
        world.connect.delete(name)
        world.server(provider).release()
    return with_topics


def _capture_alone(world: World, one: Measured, provider: DatabaseProvider) -> Measured:
    name = prefix = new_name("types")
    with_topic = replace(one, topic=f"{prefix}.{SOURCE}.{one.table}")
    world.connect.create(name, source_config(world, provider, [one.table, _SENTINEL], prefix))
    try:
        if one.phase is Phase.STREAM:
            _until_streaming(world, name, provider, f"{prefix}.{SOURCE}.{_SENTINEL}")
            _fill_again(world, one)
        _until_records(world, name, [with_topic], seconds=STAYS_SECONDS)
    except (Failed, AssertionError):
        return replace(with_topic, stopped=True)
    finally:
        world.connect.delete(name)
        world.server(provider).release()
    return with_topic


class Failed(Exception):
    """The connector has failed."""


def _until_streaming(world: World, name: str, provider: DatabaseProvider, topic: str) -> None:
    """Adds rows until one arrives that the snapshot has not read."""

    def add_and_look() -> bool:
        _require_running(world, name)
        row = f"INSERT INTO {SOURCE}.{_SENTINEL} VALUES ({next(_ids)})"
        world.server(provider).run(row)
        time.sleep(1)  # its record needs some time: without it, a row would be added for each look
        return any(record["op"] == "c" for record in world.topics.records([topic])[topic])

    eventually(add_and_look, seconds=90)


def _until_records(world: World, name: str, measured: Sequence[Measured], seconds: float = 180) -> None:
    """Waits for all records of the tables, which are from the right phase."""
    expected = {one.topic: rows_of(one.case) * (1 if one.phase is Phase.SNAPSHOT else 2) for one in measured}

    def missing() -> list[str]:
        _require_running(world, name)
        written = world.topics.counts(list(expected))
        return [f"{topic}: {written[topic]} of {count}" for topic, count in expected.items() if written[topic] < count]

    eventually(missing, lambda left: not left, seconds=seconds)
    operations = {"r"} if measured[0].phase is Phase.SNAPSHOT else {"c", "u", "d"}
    for topic, records in world.topics.records(list(expected)).items():
        assert {record["op"] for record in records} <= operations, topic


def _require_running(world: World, name: str) -> None:
    if trace := world.connect.failure(name):
        raise Failed(trace[-6000:])
