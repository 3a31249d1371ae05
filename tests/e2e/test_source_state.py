"""A RUNNING connector over a capture that cannot work is not shown as running: on the real stack, one fault each."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.support.apps.real_headgate import Json, RealDatabase, RealHeadgate
from tests.support.databases.blocking_proxy import BlockingProxy
from tests.support.databases.postgresql import running_postgresql
from tests.support.waiting import eventually

pytestmark = pytest.mark.real

ORDERS = ("CREATE TABLE shop.orders (id int PRIMARY KEY, customer text)", "ALTER TABLE shop.orders OWNER TO {role}")


@dataclass
class Captured:
    """A deployed pipeline over `shop.orders`."""

    headgate: RealHeadgate
    database: RealDatabase
    source: Json
    pipeline: Json
    rows: int = 0

    @property
    def path(self) -> str:
        return f"/pipelines/{self.pipeline['id']}"

    @property
    def slot(self) -> str:
        return str(self.pipeline["options"]["slot_name"])

    @property
    def topic(self) -> str:
        return str(self.pipeline["topics"][0])

    def insert(self) -> None:
        self.rows += 1
        self.database.run(f"INSERT INTO shop.orders VALUES ({self.rows}, 'n{self.rows}')")

    def until_captured(self) -> None:
        """Insert a row and wait until its record is in the topic."""
        before = self.headgate.records(self.topic)
        self.insert()
        eventually(lambda: self.headgate.records(self.topic), lambda count: count > before, seconds=90)

    def look_until(self, state: str, reason: str = "", seconds: float = 30) -> Json:
        """Look at the source again and again until the pipeline's detail shows this state, with the reason. A pipeline
        that is DEGRADED may also have FAILED by then: its task has met the same fault.
        """
        states = {state, "FAILED"} if state == "DEGRADED" else {state}

        def shown() -> Json:
            self.headgate.look_at(self.source)
            time.sleep(1)
            return dict(self.headgate.get(self.path))

        return eventually(
            shown,
            lambda one: one["observed_state"] in states and reason in " ".join(one["reasons"]),
            seconds=seconds,
        )

    def log_until(self, status: str, retained_megabytes: int = 0) -> Json:
        """Look at the source until the pipeline's status shows such a log."""

        def shown() -> Json:
            self.headgate.look_at(self.source)
            time.sleep(1)
            return dict(self.headgate.get(f"{self.path}/status?fresh=true")["log"])

        least = retained_megabytes * 1024**2
        return eventually(
            shown, lambda log: log["status"] == status and (log["retained_bytes"] or 0) >= least, seconds=30
        )

    def connect(self, action: str) -> None:
        """Acts on the connector in Kafka Connect, without Headgate."""
        url = f"{self.headgate.stack.addresses.connect}/connectors/{self.pipeline['connector_name']}/{action}"
        assert httpx.put(url, timeout=20).status_code in (202, 204)

    def until_unread(self) -> None:
        """Wait until nobody reads from the slot."""
        query = f"SELECT 1 FROM pg_replication_slots WHERE slot_name = '{self.slot}' AND active"
        eventually(lambda: self.database.run(query), lambda rows: not rows, seconds=30)


@pytest.fixture
def captured(headgate: RealHeadgate) -> Iterator[Captured]:
    database = headgate.database("looked", *ORDERS)
    yield from deployed(headgate, database, database)


def deployed(
    headgate: RealHeadgate, database: RealDatabase, registered: RealDatabase, **more: Any
) -> Iterator[Captured]:
    """A pipeline over the database, which is registered by the address of `registered`."""
    database.run("INSERT INTO shop.orders VALUES (0, 'first')")
    source = headgate.source(registered)
    headgate.discover(source)
    pipeline = headgate.pipeline(source, [("shop", "orders")], **more)
    headgate.deploy(pipeline)
    one = Captured(headgate=headgate, database=database, source=source, pipeline=pipeline)
    headgate.until_records(one.topic, 1)
    one.look_until("RUNNING")
    yield one
    headgate.delete_pipeline(pipeline, one.database)


def test_a_slot_that_was_made_again_by_hand_is_reported_and_nothing_continues_by_mistake(captured: Captured) -> None:
    captured.until_captured()
    captured.connect("stop")
    captured.until_unread()
    captured.database.run(f"SELECT pg_drop_replication_slot('{captured.slot}')")
    captured.insert()
    captured.database.run(f"SELECT pg_create_logical_replication_slot('{captured.slot}', 'pgoutput')")
    records = captured.headgate.records(captured.topic)
    captured.insert()
    refused = captured.headgate.refused(f"{captured.path}/restart", status=409)
    assert refused["code"] == "DATA_LOSS"
    assert "changes were lost" in refused["message"]
    captured.headgate.post(f"{captured.path}/resume?accept_data_loss=true")
    # What was written since the slot was made arrives, and nothing is read again.
    captured.headgate.until_records(captured.topic, records + 1)
    captured.until_captured()
    assert captured.headgate.records(captured.topic) == records + 2
    captured.look_until("RUNNING")


def test_a_slot_that_was_made_again_before_the_first_offset_is_reported(headgate: RealHeadgate) -> None:
    database = headgate.database("fresh", *ORDERS)
    source = headgate.source(database)
    headgate.discover(source)
    # Without a snapshot and without heartbeats Connect stores nothing until the first change.
    pipeline = headgate.pipeline(
        source, [("shop", "orders")], snapshot_mode="no_data", options={"heartbeat_interval_ms": 0}
    )
    headgate.deploy(pipeline)
    one = Captured(headgate=headgate, database=database, source=source, pipeline=pipeline)
    one.connect("stop")
    one.until_unread()
    one.insert()
    one.database.run(
        f"SELECT pg_drop_replication_slot('{one.slot}')",
        f"SELECT pg_create_logical_replication_slot('{one.slot}', 'pgoutput')",
    )
    assert headgate.refused(f"{one.path}/restart", status=409)["code"] == "DATA_LOSS"
    one.connect("resume")
    one.look_until("DEGRADED", "made again before the first change was captured", seconds=60)
    headgate.post(f"{one.path}/restart?accept_data_loss=true")
    one.until_captured()
    one.look_until("RUNNING", seconds=60)
    headgate.delete_pipeline(pipeline, database)


def test_readiness_compares_the_server_with_the_one_that_was_captured_from(captured: Captured) -> None:
    path = f"/sources/{captured.source['id']}/cdc-readiness?pipeline_id={captured.pipeline['id']}"
    checks = {check["key"]: check for check in captured.headgate.get(path)["checks"]}
    shown = captured.database.run("SELECT system_identifier::text FROM pg_control_system()")
    assert (checks["same_server"]["status"], checks["same_server"]["current_value"]) == (
        "pass",
        f"system {shown[0][0]}",
    )


def test_a_slot_that_is_gone_is_reported(captured: Captured) -> None:
    captured.connect("stop")
    captured.until_unread()
    captured.database.run(f"SELECT pg_drop_replication_slot('{captured.slot}')")
    captured.headgate.look_at(captured.source)
    reasons = eventually(
        lambda: captured.headgate.get(captured.path)["reasons"], lambda found: "changes were lost" in " ".join(found)
    )
    assert captured.slot in " ".join(reasons)
    captured.database.run(f"SELECT pg_create_logical_replication_slot('{captured.slot}', 'pgoutput')")
    captured.connect("resume")
    # It runs again; that changes were lost is still said.
    captured.look_until("DEGRADED", "changes were lost", seconds=60)


def test_the_log_behind_a_slot_is_shown_and_is_at_risk_before_it_is_lost(headgate: RealHeadgate) -> None:
    with running_postgresql({"max_slot_wal_keep_size": "96MB"}) as server:
        database = headgate.database("limited", *ORDERS, server=server.url)
        for one in deployed(headgate, database, database):
            log = one.log_until("reserved")
            assert (log["kind"], log["name"], log["active"]) == ("slot", one.slot, True)
            one.connect("stop")
            one.until_unread()
            write_log(database, megabytes=50)
            unread = one.log_until("reserved", retained_megabytes=50)
            assert unread["active"] is False
            assert unread["safe_bytes"] <= log["safe_bytes"] - 50 * 1024**2
            write_log(database, megabytes=70)
            assert one.log_until("unreserved", retained_megabytes=120)["seconds_to_loss"] == 0
            reasons = " ".join(one.headgate.get(one.path)["reasons"])
            assert f'the replication slot "{one.slot}", from which nobody reads. That is more than it may' in reasons
            assert "changes were lost" not in reasons
            database.run("CHECKPOINT")
            one.log_until("lost")
            assert "has lost the log that it needs" in " ".join(one.headgate.get(one.path)["reasons"])


def write_log(database: RealDatabase, *, megabytes: int) -> None:
    """Let the server write so much log, of which nothing is captured."""
    database.run(f"SELECT pg_logical_emit_message(false, 'test', repeat('x', {megabytes * 1024**2}))")


def test_a_dropped_publication_is_reported(captured: Captured) -> None:
    captured.database.run(f"DROP PUBLICATION {captured.pipeline['options']['publication_name']}")
    seen = captured.look_until("DEGRADED", "does not exist: changes are not captured")
    status = captured.headgate.get(f"{captured.path}/status?fresh=true")
    assert status["reasons"] == seen["reasons"]


def test_a_table_that_was_swapped_for_another_is_reported(captured: Captured) -> None:
    captured.database.run(
        "ALTER TABLE shop.orders RENAME TO old_orders", ORDERS[0].replace("PRIMARY KEY", "PRIMARY KEY, more text")
    )
    captured.look_until("DEGRADED", "does not contain shop.orders")


def away(headgate: RealHeadgate, seconds: float) -> None:
    """The database is away for so long: reported within two looks, and running again by itself afterwards."""
    database = headgate.database("away", *ORDERS)
    proxy = BlockingProxy(urlsplit(database.superuser).port or 5432)
    try:
        for one in deployed(headgate, database, replace(database, port=proxy.port)):
            one.look_until("RUNNING")
            proxy.closed()
            began = time.monotonic()
            one.look_until("DEGRADED", "The source cannot be reached", seconds=90)
            time.sleep(max(0.0, seconds - (time.monotonic() - began)))
            assert headgate.get(f"{one.path}/status?fresh=true")["observed_state"] != "RUNNING"
            proxy.open()
            one.until_captured()
            one.look_until("RUNNING", seconds=90)
    finally:
        proxy.closed()


def test_a_database_that_is_away_is_reported_and_captured_from_again_by_itself(headgate: RealHeadgate) -> None:
    away(headgate, seconds=45)


@pytest.mark.long
def test_a_database_that_is_away_for_ten_minutes_is_captured_from_again_by_itself(headgate: RealHeadgate) -> None:
    """Run it with: .headgate/venv/bin/python -m pytest -c tests/pytest.ini -m long tests/e2e/test_source_state.py"""
    away(headgate, seconds=600)
