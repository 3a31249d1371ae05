"""Another server answers at the address of a source: promoted standbys and restored copies, on the real stack.

A server that lacks what was captured is reported within a minute and a half, and is never shown as simply RUNNING after
that, until somebody accepts the loss. One that has everything is none of anybody's business.
"""

import contextlib
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_source_state import ORDERS, Captured, deployed, write_log
from tests.support.apps.real_headgate import RealDatabase, RealHeadgate
from tests.support.databases.blocking_proxy import BlockingProxy
from tests.support.databases.postgresql import StoppablePostgreSQL, stoppable_postgresql
from tests.support.databases.server_state import fresh_state
from tests.support.waiting import eventually

pytestmark = pytest.mark.real

TOLD_WITHIN_SECONDS = 90
LOST = "does not have the last changes that were captured"


@dataclass(kw_only=True)
class Replicated:
    """A captured database on a primary, its standby, and the address at which one of them answers."""

    captured: Captured
    primary: StoppablePostgreSQL
    standby: StoppablePostgreSQL
    proxy: BlockingProxy

    def until_synchronised(self) -> None:
        """The standby has a copy of the capture's slot, as PostgreSQL 17 and later can."""
        with_slot = "SELECT 1 FROM pg_replication_slots WHERE synced AND NOT temporary"

        def synchronised() -> list[tuple[Any, ...]]:
            # A slot moves on past what is confirmed only where the primary has logged its open transactions.
            self.primary.run("SELECT pg_log_standby_snapshot()")
            self.captured.until_captured()
            self.until_caught_up()
            return self.standby.run(with_slot)

        eventually(synchronised, bool, seconds=60)

    def until_caught_up(self) -> None:
        ((position,),) = self.primary.run("SELECT pg_current_wal_lsn()::text")
        caught_up = f"SELECT pg_last_wal_replay_lsn() >= '{position}'"
        eventually(lambda: self.standby.run(caught_up), lambda rows: rows == [(True,)], seconds=30)

    def disconnect(self) -> None:
        """The standby receives no more."""
        self.standby.run("ALTER SYSTEM SET primary_conninfo = ''", "SELECT pg_reload_conf()")
        receiving = "SELECT 1 FROM pg_stat_wal_receiver"
        eventually(lambda: self.standby.run(receiving), lambda rows: not rows, seconds=30)

    def promote(self) -> RealDatabase:
        """The primary crashes, and its standby takes over under the same address."""
        self.primary.process.kill()
        self.standby.run("SELECT pg_promote()")
        self.captured.database = replace(self.captured.database, superuser=self.standby.url, port=self.standby.port)
        return self.captured.database

    def switch(self) -> None:
        self.proxy.lead_to(self.standby.port)


@pytest.fixture
def replicated(headgate: RealHeadgate) -> Iterator[Replicated]:
    with contextlib.ExitStack() as ends:
        state = ends.enter_context(fresh_state("postgresql"))
        primary = ends.enter_context(stoppable_postgresql(state, "first"))
        standby = ends.enter_context(stoppable_postgresql(state, "second", of=primary))
        database = headgate.database("failover", *ORDERS, server=primary.url)
        proxy = ends.enter_context(BlockingProxy(primary.port))
        registered = replace(database, port=proxy.port)
        for captured in deployed(headgate, database, registered, properties={"slot.failover": "true"}):
            yield Replicated(captured=captured, primary=primary, standby=standby, proxy=proxy)


def insert_large_rows(captured: Captured, rows: int) -> None:
    """Until they are captured."""
    before = captured.headgate.records(captured.topic)
    for _ in range(rows):
        captured.rows += 1
        text = "SELECT string_agg(md5(random()::text), '') FROM generate_series(1, 300)"
        captured.database.run(f"INSERT INTO shop.orders VALUES ({captured.rows}, ({text}))")
    captured.headgate.until_records(captured.topic, before + rows)


def until_told(captured: Captured) -> None:
    """Wait for Headgate's own looks, and until they have shown it three times without a break."""
    began, shown = time.monotonic(), 0
    while shown < 3:
        one = captured.headgate.get(captured.path)
        told = one["observed_state"] in ("DEGRADED", "FAILED") and LOST in " ".join(one["reasons"])
        assert told or not shown, f"shown as {one['observed_state']} again: {one['reasons']}"
        assert told or time.monotonic() - began < TOLD_WITHIN_SECONDS, one["observed_state"]
        shown += told
        time.sleep(1)


def opened(captured: Captured) -> list[str]:
    """The codes of the open incidents about the pipeline."""
    every = captured.headgate.get(f"/operations/errors?active=true&pipeline_id={captured.pipeline['id']}")
    return sorted(one["code"] for one in every)


def go_on(captured: Captured) -> None:
    """Somebody accepts the loss: the pipeline runs, with everything that is written from now on."""
    captured.headgate.post(f"{captured.path}/restart?accept_data_loss=true")
    captured.until_captured()
    captured.look_until("RUNNING", seconds=60)
    assert captured.headgate.get(captured.path)["reasons"] == []
    eventually(lambda: opened(captured), lambda codes: codes == [], seconds=30)


def test_a_promoted_standby_that_lacks_captured_rows_is_told_until_somebody_accepts_that(
    replicated: Replicated,
) -> None:
    captured = replicated.captured
    replicated.until_synchronised()
    replicated.until_caught_up()
    replicated.disconnect()
    insert_large_rows(captured, 20)
    replicated.promote()
    replicated.switch()
    captured.insert()
    until_told(captured)
    # Its log is longer by now than all that was captured: what was seen does not go.
    write_log(captured.database, megabytes=2)
    captured.insert()
    captured.headgate.look_at(captured.source)
    time.sleep(2)
    until_told(captured)
    assert "CHANGES_LOST" in opened(captured)
    assert captured.headgate.refused(f"{captured.path}/restart", status=409)["code"] == "DATA_LOSS"
    go_on(captured)


def test_a_promoted_standby_that_has_everything_is_simply_running(replicated: Replicated) -> None:
    captured = replicated.captured
    replicated.until_synchronised()
    captured.look_until("RUNNING")
    replicated.until_caught_up()
    replicated.promote()
    replicated.switch()
    runs_on(captured, seconds=20)


def runs_on(captured: Captured, *, seconds: float) -> None:
    """It captures what is written, and no look says anything about lost changes."""
    until = time.monotonic() + seconds
    captured.until_captured()
    while time.monotonic() < until:
        captured.insert()
        captured.headgate.look_at(captured.source)
        time.sleep(2)
        assert LOST not in " ".join(captured.headgate.get(captured.path)["reasons"])
    captured.look_until("RUNNING")
    assert captured.headgate.get(captured.path)["reasons"] == []
    assert opened(captured) == []


@pytest.mark.long
def test_a_promoted_standby_whose_log_is_longer_by_now_is_told_by_its_timeline(replicated: Replicated) -> None:
    captured = replicated.captured
    replicated.until_synchronised()
    replicated.until_caught_up()
    replicated.disconnect()
    insert_large_rows(captured, 20)
    time.sleep(5)  # Connect stores the offset, and Debezium confirms it
    captured.headgate.look_at(captured.source)
    time.sleep(3)
    write_log(replicated.promote(), megabytes=4)
    replicated.switch()
    captured.until_captured()
    until_told(captured)
    go_on(captured)


@pytest.mark.long
def test_a_promoted_standby_without_the_slot_has_lost_changes(replicated: Replicated) -> None:
    captured = replicated.captured
    replicated.until_caught_up()
    replicated.promote()
    replicated.standby.run("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots")
    replicated.switch()
    captured.look_until("DEGRADED", "does not exist any more: changes were lost", seconds=TOLD_WITHIN_SECONDS)
    go_on(captured)


@pytest.fixture
def alone(headgate: RealHeadgate) -> Iterator[tuple[StoppablePostgreSQL, Captured]]:
    """A captured database on a server without a standby."""
    with fresh_state("postgresql") as state, stoppable_postgresql(state, "alone") as server:
        database = headgate.database("restored", *ORDERS, server=server.url)
        for captured in deployed(headgate, database, database):
            yield server, captured


def put_back(server: StoppablePostgreSQL, copy: Path) -> None:
    """The server starts with data that were copied from it."""
    server.process.stop()
    shutil.rmtree(server.data)
    _copy(copy, server.data)
    server.process.start()


def _copy(source: Path, target: Path) -> None:
    shutil.copytree(source, target, copy_function=_copy_file)
    for one in (target, *target.rglob("*")):
        there = source / one.relative_to(target)
        shutil.chown(one, there.stat().st_uid, there.stat().st_gid)


def _copy_file(source: str, target: str) -> None:
    shutil.copy2(source, target)


@pytest.mark.long
def test_a_volume_that_was_put_back_has_lost_changes(alone: tuple[StoppablePostgreSQL, Captured]) -> None:
    server, captured = alone
    captured.until_captured()
    copy = server.data.with_name("copy")
    server.process.stop()
    _copy(server.data, copy)
    server.process.start()
    captured.until_captured()
    insert_large_rows(captured, 20)
    put_back(server, copy)
    captured.insert()
    until_told(captured)
    go_on(captured)


@pytest.mark.long
def test_a_server_that_crashes_and_one_that_is_stopped_run_on(alone: tuple[StoppablePostgreSQL, Captured]) -> None:
    server, captured = alone
    for end in (server.process.kill, server.process.stop):
        insert_large_rows(captured, 5)
        captured.look_until("RUNNING")
        end()
        server.process.start()
        runs_on(captured, seconds=30)
