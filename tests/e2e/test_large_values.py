"""Large values that an update leaves alone: refused where they would be lost; after the advised repair they arrive."""

import hashlib
import json

import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.support.apps.real_headgate import Json, RealDatabase, RealHeadgate
from tests.support.waiting import eventually

pytestmark = pytest.mark.real
SIZE = 900_000
OPTIONS: Json = {"max_message_bytes": 4 * 1024 * 1024}
"""With REPLICA IDENTITY FULL a record carries the old row beside the new one."""
_LARGE = f"(SELECT left(string_agg(md5(random()::text || n), ''), {SIZE}) FROM generate_series(1, {SIZE // 32 + 1}) n)"

TABLES = {
    "quoted": '(id_text text, "Id" bigint PRIMARY KEY, large text, touched int)',
    "dated": "(day date PRIMARY KEY, large text, touched int)",
    "parted": "(id int, day date, large text, touched int, PRIMARY KEY (id, day)) PARTITION BY RANGE (day)",
}
ROWS = {
    "quoted": f"INSERT INTO shop.quoted VALUES ('x', 7, {_LARGE}, 0)",
    "dated": f"INSERT INTO shop.dated VALUES ('2026-01-05', {_LARGE}, 0)",
    "parted": f"INSERT INTO shop.parted VALUES (1, '2026-01-05', {_LARGE}, 0)",
}
PARTITION = "CREATE TABLE shop.parted_1 PARTITION OF shop.parted FOR VALUES FROM ('2026-01-01') TO ('2027-01-01')"


def last_row(headgate: RealHeadgate, topic: str, count: int) -> Json:
    """The row as the last of so many changes left it."""
    options = {"bootstrap.servers": headgate.stack.addresses.kafka, "group.id": "large", "log_level": 0}
    consumer = Consumer(options)
    try:
        consumer.assign([TopicPartition(topic, 0, count - 1)])
        message = eventually(lambda: consumer.poll(1.0), lambda found: found is not None and found.error() is None)
        assert message is not None
        return dict(json.loads(message.value() or b"{}")["after"])
    finally:
        consumer.close()


def digest(database: RealDatabase, table: str) -> str:
    """Of the large value in the source."""
    ((found,),) = database.run(f"SELECT md5(large) FROM shop.{table}")
    return str(found)


def test_large_values_behind_keys_that_debezium_cannot_use_are_refused_and_arrive_whole_once_repaired(
    headgate: RealHeadgate,
) -> None:
    database = headgate.database(
        "large",
        *(s for name, columns in TABLES.items() for s in
          (f"CREATE TABLE shop.{name} {columns}", f"ALTER TABLE shop.{name} OWNER TO {{role}}")),
        PARTITION,
        *ROWS.values(),
    )  # fmt: skip
    source = headgate.source(database)
    found = headgate.discover(source)
    assert {name: found[f"shop.{name}"]["cdc_ready"] for name in TABLES} == dict.fromkeys(TABLES, False)
    body = headgate.pipeline_body(source, [("shop", name) for name in TABLES], converter="json", options=OPTIONS)
    error = headgate.refused("/pipelines", body)
    assert error["code"] == "SOURCE_NOT_READY"
    (check,) = error["details"]["checks"]
    assert check["key"] == "large_values"
    statements = [line for line in check["recommended_action"].splitlines() if line.startswith("ALTER TABLE")]
    assert len(statements) == len(TABLES) + 1
    database.run(*statements)

    pipeline = headgate.post("/pipelines", body)
    headgate.deploy(pipeline)
    topics = dict(zip(TABLES, pipeline["topics"], strict=True))
    for topic in topics.values():
        headgate.until_records(topic, 1)
    for name in TABLES:
        database.run(f"UPDATE shop.{name} SET touched = touched + 1")
    for name, topic in topics.items():
        headgate.until_records(topic, 2)
        last = last_row(headgate, topic, 2)
        assert last["touched"] == 1
        assert len(last["large"]) == SIZE
        assert hashlib.md5(last["large"].encode()).hexdigest() == digest(database, name)  # noqa: S324 - no secret
    headgate.delete_pipeline(pipeline, database)


def test_an_update_on_a_partition_works_for_its_owner_after_readiness_has_passed(headgate: RealHeadgate) -> None:
    database = headgate.database(
        "owner",
        "CREATE TABLE shop.events (id int NOT NULL, number int) PARTITION BY RANGE (id)",
        "CREATE TABLE shop.events_1 PARTITION OF shop.events FOR VALUES FROM (0) TO (100)",
        "ALTER TABLE shop.events OWNER TO {role}",
        "INSERT INTO shop.events VALUES (1, 0)",
    )
    source = headgate.source(database)
    headgate.discover(source)
    body = headgate.pipeline_body(source, [("shop", "events")])
    (check,) = headgate.refused("/pipelines", body)["details"]["checks"]
    assert check["key"] == "replica_identity"
    database.run(*(line for line in check["recommended_action"].splitlines() if line.startswith("ALTER TABLE")))
    pipeline = headgate.post("/pipelines", body)
    headgate.deploy(pipeline)
    headgate.until_records(pipeline["topics"][0], 1)
    database.run("UPDATE shop.events SET number = 1", "DELETE FROM shop.events")
    headgate.until_records(pipeline["topics"][0], 3)
    headgate.delete_pipeline(pipeline, database)
