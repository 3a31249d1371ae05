"""What the client reads about the log of a real PostgreSQL: its end, its timeline, and where others were left."""

import contextlib
from collections.abc import Iterator
from dataclasses import replace

import pytest

from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.providers.postgresql.server_log import ServerLog
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret
from tests.support.databases.postgresql import (
    RunningPostgreSQL,
    Shop,
    StoppablePostgreSQL,
    client,
    open_shop,
    stoppable_postgresql,
)
from tests.support.databases.server_state import fresh_state
from tests.support.waiting import eventually


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[StoppablePostgreSQL, StoppablePostgreSQL]]:
    """A primary and its standby."""
    with contextlib.ExitStack() as ends:
        state = ends.enter_context(fresh_state("postgresql"))
        primary = ends.enter_context(stoppable_postgresql(state, "first"))
        yield primary, ends.enter_context(stoppable_postgresql(state, "second", of=primary))


def log_of(shop: Shop, server: StoppablePostgreSQL, timeline: int | None = None) -> ServerLog:
    """The log of the server, looked at for a capture from this timeline."""
    endpoint = OpenedEndpoint(replace(shop.address, port=server.port), {"password": Secret(shop.password)})
    return client(endpoint).capture_facts([shop.plan(timeline=timeline)], Deadline.after(15)).log


def position(server: StoppablePostgreSQL, function: str) -> int:
    return int(server.run(f"SELECT {function}() - '0/0'::pg_lsn")[0][0])


def test_the_log_of_a_server_ends_where_it_writes_and_goes_on_elsewhere_after_a_promotion(
    servers: tuple[StoppablePostgreSQL, StoppablePostgreSQL],
) -> None:
    primary, standby = servers
    running = RunningPostgreSQL(
        port=primary.port, superuser_password=primary.superuser_password, log=primary.folders.log("postgres")
    )
    with open_shop(running) as shop:
        before = position(primary, "pg_current_wal_insert_lsn")
        log = log_of(shop, primary)
        assert before <= (log.end or 0) <= position(primary, "pg_current_wal_insert_lsn")
        assert (log.timeline, log.switches) == (1, None)
        assert 0 < (log.checkpoint or 0) <= (log.end or 0)
        end = log.end or 0
        eventually(lambda: position(standby, "pg_last_wal_replay_lsn"), lambda replayed: replayed >= end)
        waiting = log_of(shop, standby, timeline=1)
        assert (waiting.end, waiting.timeline, waiting.switches, waiting.checkpoint) == (None, None, None, None)
        assert None not in (log.started, waiting.started)
        standby.run("SELECT pg_promote()")
        assert log_of(shop, standby, timeline=2).switches is None
        promoted = log_of(shop, standby, timeline=1)
        assert (promoted.timeline, list(promoted.switches or {})) == (2, [1])
        assert end <= (promoted.switches or {})[1] <= (promoted.end or 0)
        assert log_of(shop, primary, timeline=2).switches == {}


def test_a_role_that_may_not_replicate_does_not_learn_where_a_timeline_was_left(shop: Shop) -> None:
    shop.run("ALTER ROLE {role} NOREPLICATION")
    log = client(shop.endpoint).capture_facts([shop.plan(timeline=7)], Deadline.after(15)).log
    assert (log.timeline, log.switches) == (1, {})  # nothing was before the first


def test_a_server_that_does_not_tell_about_its_log_can_be_read_all_the_same(shop: Shop) -> None:
    with shop.server.connect(shop.name) as admin:
        admin.execute("REVOKE EXECUTE ON FUNCTION pg_walfile_name(pg_lsn) FROM PUBLIC")
    facts = client(shop.endpoint).capture_facts([shop.plan(timeline=7)], Deadline.after(15))
    assert facts.log == ServerLog()
    assert facts.system_identifier is not None
