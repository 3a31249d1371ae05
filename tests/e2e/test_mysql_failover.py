"""Another MySQL server answers at the address of a source, on the real stack: a replica or a restored copy."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.e2e.mysql_captures import ACCEPTED, FIRST_ROW, ORDERS, Captured, captured_from
from tests.support.apps.real_headgate import RealHeadgate
from tests.support.databases.blocking_proxy import BlockingProxy
from tests.support.databases.mysql import CAPTURE_RIGHTS, MySQLServer, mysql_or_skip, running_mysql
from tests.support.databases.mysql_replication import promote, replicate, until_replicated
from tests.support.waiting import eventually

pytestmark = pytest.mark.real

RECONNECTS = {"connect.keep.alive.interval.ms": "2000"}
"""How often a connector looks whether its session has ended: by default once a minute."""


NO_GTIDS = {"gtid-mode": "OFF", "enforce-gtid-consistency": "OFF"}
ANOTHER = "Another server answers than the one that was captured from"


@pytest.fixture
def settings() -> dict[str, str]:
    """Of both servers."""
    return {}


@pytest.fixture
def primary(settings: dict[str, str]) -> Iterator[MySQLServer]:
    with mysql_or_skip(settings) as started:
        yield started


@pytest.fixture
def other(settings: dict[str, str]) -> Iterator[MySQLServer]:
    with running_mysql({**settings, "server-id": "2"}) as started:
        yield started


@pytest.fixture
def proxy(primary: MySQLServer) -> Iterator[BlockingProxy]:
    """The address of the source, which leads to one server and then to the other."""
    with BlockingProxy(primary.port) as proxy:
        yield proxy


@pytest.fixture
def captured(headgate: RealHeadgate, primary: MySQLServer, proxy: BlockingProxy) -> Iterator[Captured]:
    with captured_from(headgate, primary, port=proxy.port, properties=RECONNECTS) as one:
        one.until_healthy()
        yield one


def goes_on_there(captured: Captured) -> None:
    """The call that is offered: what is written from now on arrives."""
    before = captured.records()
    captured.post(ACCEPTED)
    captured.until_captured()
    captured.until_healthy()
    captured.until_resolved()
    assert captured.records() == before + 1


def test_a_source_that_moves_to_a_replica_with_all_transactions_goes_on_there_without_a_loss(
    captured: Captured, primary: MySQLServer, other: MySQLServer, proxy: BlockingProxy
) -> None:
    headgate, source = captured.headgate, captured.source
    replicate(other, primary, captured.database.username, captured.database.password)
    before = captured.records()
    # A later position of the first server would look like one of the other server.
    captured.until_last_position_is_seen()
    proxy.closed()
    captured.insert()  # nobody has read this one when the failover begins
    until_replicated(other, primary)
    promote(other)
    captured.database = replace(captured.database, server=other)
    captured.insert()
    config = {**captured.database.config, "port": other.port}
    body = {**{key: source[key] for key in ("name", "provider")}, "config": config}
    headgate.call("PUT", f"/sources/{source['id']}", {**body, "credentials": captured.database.credentials})
    check = captured.readiness("same_server")
    assert (check["status"], check["current_value"]) == ("warn", f"server {other.value('@@server_uuid')}")
    headgate.discover(source)
    captured.post("deploy")
    headgate.until_records(captured.topic, before + 2)
    captured.until_healthy()
    assert captured.records() == before + 2
    # A look knows it once Connect has stored a position of the other server.
    eventually(lambda: captured.shown() and captured.readiness("same_server")["status"] == "pass")


def test_a_replica_that_is_promoted_behind_a_running_connector_is_captured_from(
    captured: Captured, primary: MySQLServer, other: MySQLServer, proxy: BlockingProxy
) -> None:
    replicate(other, primary, captured.database.username, captured.database.password)
    until_replicated(other, primary)
    promote(other)
    before = captured.records()
    captured.database = replace(captured.database, server=other)
    captured.insert()
    proxy.lead_to(other.port)
    captured.insert()
    captured.headgate.until_records(captured.topic, before + 2)
    captured.until_healthy()
    assert captured.records() == before + 2


def test_a_replica_without_the_last_transactions_is_told_and_passed(
    captured: Captured, primary: MySQLServer, other: MySQLServer, proxy: BlockingProxy
) -> None:
    replicate(other, primary, captured.database.username, captured.database.password)
    until_replicated(other, primary)
    promote(other)
    captured.until_captured()  # from the primary alone
    captured.until_captured()  # the offset has the transactions before the last one
    captured.database = replace(captured.database, server=other)
    proxy.lead_to(other.port)
    captured.until_shown("a replica without them was promoted", ACCEPTED)
    captured.until_incident("CHANGES_LOST")
    assert "a replica without them was promoted" in captured.refused()
    captured.rows = 1000
    goes_on_there(captured)


@pytest.mark.parametrize("settings", [{}, NO_GTIDS], ids=["GTIDs", "no GTIDs"])
def test_a_restored_copy_without_the_transactions_is_told_and_passed(
    captured: Captured, other: MySQLServer, proxy: BlockingProxy
) -> None:
    database = captured.database
    other.run(
        f"CREATE DATABASE `{database.name}`",
        f"CREATE USER {database.username} IDENTIFIED BY '{database.password}'",
        f"GRANT {CAPTURE_RIGHTS} ON *.* TO {database.username}",
    )
    captured.database = replace(database, server=other)
    captured.database.run(ORDERS, FIRST_ROW)
    proxy.lead_to(other.port)
    captured.until_shown(ANOTHER, ACCEPTED)
    assert ANOTHER in captured.until_incident("CHANGES_LOST")["message"]
    assert ANOTHER in captured.refused()
    goes_on_there(captured)
