"""Another MySQL server answers at the address of a source, on the real stack: a replica or a restored copy."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.e2e.mysql_captures import ACCEPTED, FIRST_ROW, ORDERS, Captured, captured_from, said
from tests.support.apps.real_headgate import RealHeadgate
from tests.support.databases.blocking_proxy import BlockingProxy
from tests.support.databases.mysql import CAPTURE_RIGHTS, MySQLServer, mysql_or_skip, running_mysql
from tests.support.databases.mysql_replication import promote, replicate, until_replicated

pytestmark = pytest.mark.real

RECONNECTS = {"connect.keep.alive.interval.ms": "2000"}
"""How often a connector looks whether its session has ended: by default once a minute."""


@pytest.fixture
def primary() -> Iterator[MySQLServer]:
    with mysql_or_skip() as started:
        yield started


@pytest.fixture
def other() -> Iterator[MySQLServer]:
    with running_mysql({"server-id": "2"}) as started:
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


def test_a_replica_with_all_transactions_is_captured_from_without_a_loss(
    captured: Captured, primary: MySQLServer, other: MySQLServer, proxy: BlockingProxy
) -> None:
    replicate(other, primary, captured.database.username, captured.database.password)
    before = captured.records()
    proxy.closed()
    captured.insert()  # nobody has read this one when the failover begins
    until_replicated(other, primary)
    promote(other)
    captured.database = replace(captured.database, server=other)
    proxy.lead_to(other.port)
    proxy.open()
    print(captured.readiness("same_server"))
    print(captured.shown())
    captured.insert()
    captured.headgate.until_records(captured.topic, before + 2)
    print(captured.shown())
    captured.until_healthy()
    assert captured.records() == before + 2
    print(captured.readiness("same_server"))
    captured.post("restart")
    captured.until_captured()
    assert captured.records() == before + 3


def test_a_copy_without_the_transactions_is_told_and_passed(
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
    shown = captured.until_shown("Another server answers than the one that was captured from", ACCEPTED)
    print(said(shown))
    print(captured.until_incident("CHANGES_LOST"))
    assert "Another server answers" in captured.refused()
    print(captured.readiness("same_server"))
    before = captured.records()
    captured.post(ACCEPTED)
    captured.until_captured()
    captured.until_healthy()
    captured.until_resolved()
    print(before, captured.records())
