"""Options of a pipeline on the real Debezium: heartbeat table, conversion errors, columns left out, large rows."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from confluent_kafka import Consumer, Message, TopicPartition

from tests.support.apps.real_headgate import Json, RealDatabase, RealHeadgate
from tests.support.faults import places
from tests.support.topic_ends import end_offset
from tests.support.waiting import eventually

pytestmark = pytest.mark.real

HEARTBEAT_TABLE = "CREATE TABLE shop.beat (id integer PRIMARY KEY, ts timestamptz)"
IDLE_MINUTES = float(os.environ.get("HEADGATE_IDLE_MINUTES", "30"))
"""How long the database of the long test is idle."""


@contextmanager
def running(
    headgate: RealHeadgate, database: RealDatabase, *tables: str, **more: object
) -> Iterator[tuple[Json, Json]]:
    """A deployed pipeline of these tables in schema `shop`, with its source; both are removed at the end."""
    source = headgate.source(database)
    headgate.discover(source)
    pipeline = headgate.pipeline(source, [("shop", table) for table in tables], **more)
    headgate.post(f"/pipelines/{pipeline['id']}/deploy")
    try:
        yield pipeline, source
    finally:
        headgate.delete_pipeline(pipeline, database)


def owned(*statements: str, tables: tuple[str, ...]) -> list[str]:
    """The statements, and what makes the account the owner of the tables."""
    return [*statements, *(f"ALTER TABLE shop.{table} OWNER TO {{role}}" for table in tables)]


def values(headgate: RealHeadgate, topic: str) -> list[Json]:
    """The value of every record of the topic, without tombstones."""
    return [json.loads(content) for message in records(headgate, topic) if (content := message.value())]


def keys(headgate: RealHeadgate, topic: str) -> list[bytes]:
    """The key of every record of the topic."""
    return [key for message in records(headgate, topic) if isinstance(key := message.key(), bytes)]


def records(headgate: RealHeadgate, topic: str) -> list[Message]:
    """Every record of the topic."""
    server = {"bootstrap.servers": headgate.stack.addresses.kafka, "group.id": "reading", "log_level": 0}
    consumer = Consumer({**server, "enable.auto.commit": False})
    found: list[Message] = []
    try:
        for at in consumer.list_topics(topic, timeout=10).topics[topic].partitions:
            end = end_offset(consumer, topic, at)
            consumer.assign([TopicPartition(topic, at, 0)])
            read = 0
            while read < end and (message := consumer.poll(10)) is not None:
                read = (message.offset() or 0) + 1
                found.append(message)
    finally:
        consumer.close()
    return found


def advice(headgate: RealHeadgate, pipeline: Json) -> str:
    """What the status says when the pipeline's task has failed."""
    path = f"/pipelines/{pipeline['id']}/status?fresh=true"
    status = eventually(
        lambda: headgate.get(path), lambda seen: [task["state"] for task in seen["tasks"]] == ["FAILED"]
    )
    assert status["observed_state"] == "FAILED"
    return str(status["tasks"][0]["hint"]["message"])


def position(database: RealDatabase, pipeline: Json) -> int:
    """How far the pipeline has confirmed the log, in bytes; 0 without a slot."""
    slot = pipeline["options"]["slot_name"]
    rows = database.run(f"SELECT confirmed_flush_lsn - '0/0' FROM pg_replication_slots WHERE slot_name = '{slot}'")
    return int(rows[0][0] or 0) if rows else 0


def end_of_log(database: RealDatabase) -> int:
    """The end of the server's log, in bytes."""
    return int(database.run("SELECT pg_current_wal_lsn() - '0/0'")[0][0])


# an idle database beside a busy one


@pytest.fixture(scope="module")
def busy(headgate: RealHeadgate) -> RealDatabase:
    """Another database of the same server, which no pipeline captures."""
    return headgate.database("busy", "CREATE TABLE shop.noise (id serial PRIMARY KEY, note text)")


def write_noise(busy: RealDatabase) -> None:
    """About a megabyte of log."""
    busy.run("INSERT INTO shop.noise (note) SELECT repeat(md5(n::text), 8) FROM generate_series(1, 3000) n")


@contextmanager
def idle_pipelines(headgate: RealHeadgate) -> Iterator[tuple[RealDatabase, Json, RealDatabase, Json]]:
    """Two databases that nobody writes to, one captured with a heartbeat table and one without."""
    tables = ("orders", "beat")
    make = owned("CREATE TABLE shop.orders (id int PRIMARY KEY)", HEARTBEAT_TABLE, tables=tables)
    beating, silent = headgate.database("beating", *make), headgate.database("silent", *make)
    for database in (beating, silent):
        database.run("INSERT INTO shop.orders VALUES (1)")
    options = {"heartbeat_interval_ms": 3000, "heartbeat_table": {"schema_name": "shop", "table_name": "beat"}}
    with (
        running(headgate, beating, "orders", options=options) as (first, _source),
        running(headgate, silent, "orders", options={"heartbeat_interval_ms": 3000}) as (second, _other),
    ):
        for pipeline in (first, second):
            headgate.until_state(f"/pipelines/{pipeline['id']}/status?fresh=true", "RUNNING")
            headgate.until_records(pipeline["topics"][0], 1)
        yield beating, first, silent, second


def test_slot_of_an_idle_database_follows_with_a_heartbeat_table_alone(
    headgate: RealHeadgate, busy: RealDatabase
) -> None:
    with idle_pipelines(headgate) as (beating, with_table, silent, without_table):
        write_noise(busy)
        reached = end_of_log(busy)
        eventually(lambda: position(beating, with_table), lambda seen: seen >= reached, seconds=40)
        assert 0 < position(silent, without_table) < reached
        prefix = with_table["topic_prefix"]
        assert with_table["topics"] == [f"{prefix}.shop.orders"]
        assert headgate.records(f"{prefix}.shop.beat") > 0
        # Its rows cannot be delivered by mistake.
        target = headgate.destination(headgate.database("heart"))
        body = headgate.delivery_body(with_table, {f"{prefix}.shop.beat": "beat"})
        assert headgate.refused(f"/destinations/{target['id']}/preview", body)["code"] == "TOPIC_NOT_IN_PIPELINE"
        # Heartbeats stay below the prefix, where a pipeline's rights on topics end.
        assert headgate.records(f"{prefix}.headgate-heartbeat") > 0
        assert headgate.records(f"__debezium-heartbeat.{prefix}") == 0


@pytest.mark.long
def test_slot_of_an_idle_database_follows_for_half_an_hour(headgate: RealHeadgate, busy: RealDatabase) -> None:
    """.headgate/venv/bin/python -m pytest -c tests/pytest.ini -m long -s tests/e2e/test_capture_options.py"""
    behind: list[int] = []
    with idle_pipelines(headgate) as (beating, with_table, silent, without_table):
        end = time.monotonic() + IDLE_MINUTES * 60
        while time.monotonic() < end:
            write_noise(busy)
            reached = end_of_log(busy)
            eventually(lambda: position(beating, with_table), lambda seen, to=reached: seen >= to)  # type: ignore[misc]
            behind.append(end_of_log(busy) - position(beating, with_table))
            # Asked in each round: a session that nobody uses ends after half an hour.
            assert headgate.get(f"/pipelines/{with_table['id']}/status?fresh=true")["observed_state"] == "RUNNING"
            time.sleep(10)
        left = end_of_log(busy) - position(silent, without_table)
        print(f"{IDLE_MINUTES:.0f} minutes: at most {max(behind)} bytes behind with the table, {left} without")
        assert max(behind) < left


# values that cannot be converted


NOT_CONVERTED = ["'NaN'::numeric(10,2)", "'NaN'::numeric", "'infinity'::numeric"]


def sums(headgate: RealHeadgate, value: str) -> RealDatabase:
    """A database with a table whose column `v` has the type of the value."""
    make = owned(f"CREATE TABLE shop.sums (id int PRIMARY KEY, v {value.partition('::')[2]})", tables=("sums",))
    return headgate.database("sums", *make)


@pytest.mark.parametrize("value", NOT_CONVERTED)
@pytest.mark.parametrize("phase", ["snapshot", "stream"])
def test_a_value_that_cannot_be_converted_stops_the_capture_and_says_so(
    headgate: RealHeadgate, value: str, phase: str
) -> None:
    database = sums(headgate, value)
    database.run("INSERT INTO shop.sums VALUES (1, 1.5)")
    insert = f"INSERT INTO shop.sums VALUES (2, {value})"
    if phase == "snapshot":
        database.run(insert)
    with running(headgate, database, "sums") as (pipeline, _source):
        if phase == "stream":
            headgate.until_records(pipeline["topics"][0], 1)
            database.run(insert)
        assert "on_conversion_error" in advice(headgate, pipeline)


@pytest.mark.parametrize("value", NOT_CONVERTED)
def test_a_value_that_cannot_be_converted_arrives_as_null_when_that_is_asked_for(
    headgate: RealHeadgate, value: str
) -> None:
    database = sums(headgate, value)
    database.run(f"INSERT INTO shop.sums VALUES (1, {value})")
    with running(headgate, database, "sums", options={"on_conversion_error": "null"}) as (pipeline, source):
        (issue,) = headgate.discover(source)["shop.sums"]["cdc_issues"]
        assert issue["column"] == "v"
        assert "on_conversion_error null such values arrive as NULL" in issue["message"]
        headgate.until_records(pipeline["topics"][0], 1)
        database.run(f"INSERT INTO shop.sums VALUES (2, {value})")
        headgate.until_records(pipeline["topics"][0], 2)
        assert [one["payload"]["after"]["v"] for one in values(headgate, pipeline["topics"][0])] == [None, None]
        assert headgate.get(f"/pipelines/{pipeline['id']}/status?fresh=true")["observed_state"] == "RUNNING"


# columns that are left out

ODD = "Ca.r, $"


def test_exactly_the_excluded_columns_are_left_out(headgate: RealHeadgate) -> None:
    columns = 'id int PRIMARY KEY, "Se.cret, $" text, "Se.cret_ $" text, "Sexcret, $" text, note text'
    make = [f'CREATE TABLE shop."{name}" ({columns})' for name in (ODD, ODD.lower())]
    database = headgate.database("private", *make)
    for name in (ODD, ODD.lower()):
        database.run(
            f'ALTER TABLE shop."{name}" OWNER TO {{role}}',
            f'ALTER TABLE shop."{name}" REPLICA IDENTITY FULL',
            f"INSERT INTO shop.\"{name}\" VALUES (1, 'planted', 'b', 'c', 'd')",
        )
    excluded = {"schema_name": "shop", "table_name": ODD, "column_name": "Se.cret, $"}
    with running(headgate, database, ODD, options={"exclude_columns": [excluded]}) as (pipeline, source):
        other = headgate.pipeline(
            source, [("shop", ODD.lower())], options={"exclude_columns": [excluded | {"table_name": ODD.lower()}]}
        )
        headgate.until_records(pipeline["topics"][0], 1)
        database.run(f"UPDATE shop.\"{ODD}\" SET note = 'e', \"Se.cret, $\" = 'planted2'")
        headgate.until_records(pipeline["topics"][0], 2)
        read = values(headgate, pipeline["topics"][0])
        assert "planted" not in json.dumps(read)
        assert set(read[1]["payload"]["before"]) == set(read[1]["payload"]["after"])
        assert [set(one["payload"]["after"]) for one in read] == [{"id", "Se.cret_ $", "Sexcret, $", "note"}] * 2
        target = headgate.database(
            "public_copy",
            'CREATE TABLE shop.copy (id int PRIMARY KEY, note text, "Se.cret_ $" text, "Sexcret, $" text)',
            "ALTER TABLE shop.copy OWNER TO {role}",
        )
        delivery = headgate.deliver(
            headgate.destination(target), headgate.delivery_body(pipeline, {pipeline["topics"][0]: "copy"})
        )
        eventually(lambda: target.content("shop", "copy", ["id", "note"]), lambda rows: rows == ["(1,e)"])
        headgate.delete(f"/deliveries/{delivery['id']}")
        headgate.delete(f"/pipelines/{other['id']}")


def test_without_a_primary_key_an_excluded_column_would_arrive_in_the_key_so_it_is_refused(
    headgate: RealHeadgate,
) -> None:
    make = owned("CREATE TABLE shop.people (mail text NOT NULL UNIQUE, note text)", tables=("people",))
    database = headgate.database("people", *make, "ALTER TABLE shop.people REPLICA IDENTITY FULL")
    database.run("INSERT INTO shop.people VALUES ('planted', 'c')")
    column = {"schema_name": "shop", "table_name": "people", "column_name": "mail"}
    with running(headgate, database, "people") as (pipeline, source):
        headgate.until_records(pipeline["topics"][0], 1)
        assert [json.loads(key)["payload"] for key in keys(headgate, pipeline["topics"][0])] == [{"mail": "planted"}]
        body = headgate.pipeline_body(source, [("shop", "people")], options={"exclude_columns": [column]})
        assert places(headgate.refused("/pipelines", body)["details"]) == [
            {"location": ["body", "options", "exclude_columns", 0], "type": "table_without_key"}
        ]


# rows over Kafka's own limit


def test_a_row_over_a_mebibyte_needs_the_option_and_then_arrives(headgate: RealHeadgate) -> None:
    make = owned("CREATE TABLE shop.files (id int PRIMARY KEY, content text)", tables=("files",))
    database, target = headgate.database("files", *make), headgate.database("archive")
    database.run("INSERT INTO shop.files VALUES (1, repeat('x', 2 * 1024 * 1024))")
    with running(headgate, database, "files") as (pipeline, _source):
        assert "max_message_bytes" in advice(headgate, pipeline)
    with running(headgate, database, "files", options={"max_message_bytes": 8 * 1024 * 1024}) as (pipeline, _source):
        delivery = headgate.deliver(
            headgate.destination(target), headgate.delivery_body(pipeline, {pipeline["topics"][0]: "files"})
        )
        eventually(lambda: length(target), lambda found: found == 2 * 1024 * 1024)
        headgate.delete(f"/deliveries/{delivery['id']}")


def length(target: RealDatabase) -> int:
    """Characters of the delivered row; 0 without one."""
    try:
        rows = target.run("SELECT length(content) FROM shop.files")
    except psycopg.errors.UndefinedTable:
        return 0
    return int(rows[0][0]) if rows else 0


# snapshots


@pytest.mark.parametrize(
    ("mode", "has_slot", "after_restart"), [("initial", True, 2), ("initial_only", False, 2), ("always", True, 4)]
)
def test_the_snapshot_mode_decides_about_the_slot_and_what_a_restart_reads_again(
    headgate: RealHeadgate, mode: str, has_slot: bool, after_restart: int
) -> None:
    database = headgate.database("modes", *owned("CREATE TABLE shop.rows (id int PRIMARY KEY)", tables=("rows",)))
    database.run("INSERT INTO shop.rows VALUES (1), (2)")
    with running(headgate, database, "rows", snapshot_mode=mode) as (pipeline, _source):
        (topic,) = pipeline["topics"]
        headgate.until_records(topic, 2)
        time.sleep(4)  # The worker stores offsets every two seconds.
        assert (position(database, pipeline) > 0) is has_slot
        headgate.post(f"/pipelines/{pipeline['id']}/restart")
        if after_restart > 2:
            headgate.until_records(topic, after_restart)
        time.sleep(4)
        assert headgate.records(topic) == after_restart


# prefixes


def test_two_pipelines_on_one_kafka_cluster_cannot_share_a_prefix(headgate: RealHeadgate) -> None:
    """Also when the cluster is registered twice: its own id counts."""
    database = headgate.database("prefixes", *owned("CREATE TABLE shop.rows (id int PRIMARY KEY)", tables=("rows",)))
    addresses = headgate.stack.addresses
    stream = headgate.post("/stream/clusters", {"name": "the same brokers", "bootstrap_servers": addresses.kafka})
    connect = {"name": "the same workers", "base_url": addresses.connect, "stream_cluster_id": stream["id"]}
    again = headgate.post("/connect/clusters", connect)
    with running(headgate, database, "rows") as (pipeline, source):
        body = headgate.pipeline_body(
            source,
            [("shop", "rows")],
            topic_prefix=pipeline["topic_prefix"],
            stream_cluster_id=stream["id"],
            connect_cluster_id=again["id"],
        )
        refused = headgate.refused("/pipelines", body, status=409)
        assert (refused["code"], pipeline["name"] in refused["message"]) == ("NAME_CONFLICT", True)
    headgate.delete(f"/connect/clusters/{again['id']}")
    headgate.delete(f"/stream/clusters/{stream['id']}")
