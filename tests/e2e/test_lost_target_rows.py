"""Rows of a target that somebody else removes, while Debezium and the sink run; topics of an earlier pipeline."""

import time

import pytest

from tests.support.apps.real_headgate import Json, RealDatabase, RealHeadgate
from tests.support.waiting import eventually

pytestmark = pytest.mark.real

ROWS = 990
TABLES = ("orders", "items")
LOOKS = 20


@pytest.fixture(scope="module")
def source(measured: RealHeadgate) -> RealDatabase:
    """A source with two tables of 990 rows."""
    statements = (
        statement
        for table in TABLES
        for statement in (
            f"CREATE TABLE shop.{table} (id int PRIMARY KEY, note text)",
            f"ALTER TABLE shop.{table} OWNER TO {{role}}",
            f"INSERT INTO shop.{table} SELECT number, 'a note' FROM generate_series(1, {ROWS}) AS number",
        )
    )
    return measured.database("lost_source", *statements)


@pytest.fixture(scope="module")
def pipeline(measured: RealHeadgate, source: RealDatabase) -> Json:
    return measured.captured(source, *TABLES)


@pytest.fixture(scope="module")
def target(measured: RealHeadgate) -> RealDatabase:
    return measured.database("lost_target")


@pytest.fixture(scope="module")
def destination(measured: RealHeadgate, target: RealDatabase) -> Json:
    return measured.destination(target)


@pytest.fixture(scope="module")
def deliveries(measured: RealHeadgate, pipeline: Json, target: RealDatabase, destination: Json) -> dict[str, Json]:
    """A delivery of each table; all rows have arrived, and looks have seen them. The last test deletes them."""
    made = {}
    for topic, table in zip(pipeline["topics"], TABLES, strict=True):
        body = measured.delivery_body(pipeline, {topic: table})
        measured.until_records(topic, ROWS)
        warnings = measured.post(f"/destinations/{destination['id']}/preview", body)["warnings"]
        codes = {warning["code"] for warning in warnings}
        assert "AUTO_CREATE_AFTER_DROP" in codes
        assert "TOPIC_OLDER_THAN_PIPELINE" not in codes
        made[table] = measured.deliver(destination, body)
    for table in TABLES:
        eventually(lambda: count(target, table) == ROWS, seconds=60)  # noqa: B023 - called at once
    measured.until_tables_are_known(destination, *made.values())
    assert all(shown(measured, delivery)["observed_state"] == "RUNNING" for delivery in made.values())
    return made


def count(target: RealDatabase, table: str) -> int:
    rows = target.content("shop", table, ["id"])
    return len(rows) if isinstance(rows, list) else -1


def look(headgate: RealHeadgate, destination: Json) -> None:
    headgate.tick()
    headgate.look_at_destination(destination)


def shown(headgate: RealHeadgate, delivery: Json) -> Json:
    return dict(headgate.get(f"/deliveries/{delivery['id']}/status?fresh=true"))


def replaced(headgate: RealHeadgate, delivery: Json) -> list[str]:
    """The severities of the open incidents about lost rows of the delivery."""
    active = headgate.get("/operations/errors?active=true")
    about = [one for one in active if one["delivery_id"] == delivery["id"]]
    return [one["severity"] for one in about if one["code"] == "TARGET_REPLACED"]


def test_rows_that_are_deleted_at_the_source_are_no_loss(
    measured: RealHeadgate,
    source: RealDatabase,
    target: RealDatabase,
    destination: Json,
    deliveries: dict[str, Json],
) -> None:
    source.run("DELETE FROM shop.items")
    for _ in range(LOOKS):
        look(measured, destination)
        time.sleep(2)
        status = shown(measured, deliveries["items"])
        assert (status["observed_state"], replaced(measured, deliveries["items"])) == ("RUNNING", []), status
    assert count(target, "items") == 0


def test_a_dropped_table_that_the_sink_makes_again_is_told_and_never_reads_running_again(
    measured: RealHeadgate,
    source: RealDatabase,
    target: RealDatabase,
    destination: Json,
    deliveries: dict[str, Json],
) -> None:
    orders = deliveries["orders"]
    assert replaced(measured, orders) == []
    target.run("DROP TABLE shop.orders")
    source.run("UPDATE shop.orders SET note = 'another' WHERE id = 7")
    eventually(lambda: count(target, "orders") == 1, seconds=60)
    look(measured, destination)
    measured.until_looked()
    assert replaced(measured, orders) == ["ERROR"]
    for _ in range(LOOKS):
        look(measured, destination)
        status = shown(measured, orders)
        assert status["observed_state"] == "DEGRADED", status
        assert any("shop.orders" in reason and "990 rows before" in reason for reason in status["reasons"])
        time.sleep(1)
    assert replaced(measured, orders) == ["ERROR"]
    assert replaced(measured, deliveries["items"]) == []
    (incident,) = (
        one
        for one in measured.get("/operations/errors?active=true")
        if (one["code"], one["delivery_id"]) == ("TARGET_REPLACED", orders["id"])
    )
    measured.call("PATCH", f"/operations/errors/{incident['id']}?status=RESOLVED")
    measured.until_state(f"/deliveries/{orders['id']}/status?fresh=true", "RUNNING")


def test_topics_that_an_earlier_pipeline_has_left_are_announced(
    measured: RealHeadgate, source: RealDatabase, pipeline: Json, destination: Json, deliveries: dict[str, Json]
) -> None:
    for delivery in deliveries.values():
        measured.delete(f"/deliveries/{delivery['id']}")
    measured.delete_pipeline(pipeline, source)
    tables = [("shop", table) for table in TABLES]
    (source_row,) = (one for one in measured.get("/sources") if one["id"] == pipeline["source_id"])
    body = measured.pipeline_body(source_row, tables, topic_prefix=pipeline["topic_prefix"])
    # Workers may have another clock: a minute apart is the same time.
    time.sleep(65)
    preview = measured.post("/pipelines/preview", body)
    assert "TOPIC_OLDER_THAN_PIPELINE" in {warning["code"] for warning in preview["warnings"]}
    again = dict(measured.post("/pipelines", body))
    measured.deploy(again)
    delivery = measured.delivery_body(again, dict(zip(again["topics"], TABLES, strict=True)))
    warnings = measured.post(f"/destinations/{destination['id']}/preview", delivery)["warnings"]
    assert "TOPIC_OLDER_THAN_PIPELINE" in {warning["code"] for warning in warnings}
    measured.delete_pipeline(again, source)
