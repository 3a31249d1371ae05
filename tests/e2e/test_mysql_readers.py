"""Who reads a MySQL server, and what it may lock there, on the real stack: server ids, rights and the statement log."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from tests.e2e.mysql_captures import HISTORY, ORDERS, Captured, captured_from
from tests.support.apps.connector_in_connect import ConnectorInConnect
from tests.support.apps.real_headgate import RealHeadgate
from tests.support.apps.real_mysql import open_database
from tests.support.databases.mysql import MySQLServer, MySQLShop

pytestmark = pytest.mark.real

RIVAL = "rival"


@pytest.fixture
def captured(headgate: RealHeadgate, real_mysql: MySQLServer) -> Iterator[Captured]:
    with captured_from(headgate, real_mysql) as one:
        yield one


@contextmanager
def rival_of(captured: Captured) -> Iterator[ConnectorInConnect]:
    """A connector that somebody made in Kafka Connect itself, with the server id of the pipeline."""
    rival = ConnectorInConnect(captured.connector.url, RIVAL)
    config = {
        **captured.connector.config,
        "name": RIVAL,
        "topic.prefix": RIVAL,
        HISTORY: f"{RIVAL}.history",
        "snapshot.mode": "no_data",
        "database.password": captured.database.password,
    }
    response = httpx.post(f"{rival.url}/connectors", json={"name": RIVAL, "config": config}, timeout=60)
    assert response.status_code == 201, response.text[:2000]
    try:
        yield rival
    finally:
        httpx.delete(f"{rival.url}/connectors/{RIVAL}", timeout=30).raise_for_status()


def test_a_second_pipeline_with_the_server_id_is_refused_by_name(captured: Captured) -> None:
    taken = captured.headgate.get(captured.path)["options"]["server_id"]
    table = (captured.database.name, "orders")
    body = captured.headgate.pipeline_body(captured.source, [table], options={"server_id": taken})
    error = captured.headgate.refused("/pipelines", body, status=409)
    assert error["code"] == "SERVER_ID_CONFLICT"
    assert captured.pipeline["name"] in error["message"]


def test_a_foreign_reader_with_the_server_id_is_told_and_nothing_is_lost(captured: Captured) -> None:
    before = captured.records()
    with rival_of(captured) as rival:
        assert "same server_uuid/server_id" in captured.connector.until_failed()
        captured.until_shown("Another reader of the binary log uses the same server id", "/restart: nothing is lost")
        assert "Stop the other reader" in captured.until_incident("CDC_BINLOG_ERROR")["hint"]
        captured.insert()
        # They take turns for as long as both are started again.
        captured.post("restart")
        rival.until_failed()
        rival.start_again()
        captured.connector.until_failed()
        captured.until_incident("CDC_BINLOG_ERROR")
    captured.insert()
    captured.post("restart")
    captured.headgate.until_records(captured.topic, before + 2)
    captured.until_healthy()
    captured.until_resolved()
    assert captured.records() == before + 2


def test_a_registered_reader_with_the_server_id_is_named_by_readiness(
    headgate: RealHeadgate, real_mysql: MySQLServer
) -> None:
    database = open_database(real_mysql, "readers", ORDERS)
    source = headgate.source(database)
    headgate.discover(source)
    pipeline = headgate.pipeline(source, [(database.name, "orders")], options={"server_id": 4711})
    shop = MySQLShop(server=real_mysql, name=database.name, role=database.username, password=database.password)
    with shop.reading(4711):
        error = headgate.refused(f"/pipelines/{pipeline['id']}/deploy")
    assert [check["key"] for check in error["details"]["checks"]] == ["server_id_clash"]
    headgate.deploy(pipeline)
    headgate.call("DELETE", f"/pipelines/{pipeline['id']}?drop_history=true", expect=(204, 202))


# rights and locks


@pytest.mark.parametrize(
    ("options", "expected"),
    [({}, ["FLUSH TABLES WITH READ LOCK", "UNLOCK TABLES"]), ({"snapshot_locking": "none"}, [])],
)
def test_a_snapshot_locks_no_table(
    headgate: RealHeadgate, real_mysql: MySQLServer, options: dict[str, str], expected: list[str]
) -> None:
    """By default all writes wait for a moment, while the definitions are read; rows are read without any lock."""
    with real_mysql.general_log() as statements, captured_from(headgate, real_mysql, options=options) as one:
        one.connector.start_again()
        one.until_captured()
    assert [lock.text for lock in statements if lock.locks_all and lock.user == one.database.username] == expected
    assert [lock for lock in statements if lock.locks_a_table] == []


def test_an_account_that_may_not_lock_is_refused_with_the_statement_that_mends_it(
    headgate: RealHeadgate, real_mysql: MySQLServer
) -> None:
    database = open_database(real_mysql, "unlocked", ORDERS)
    source = headgate.source(database)
    headgate.discover(source)
    pipeline = headgate.pipeline(source, [(database.name, "orders")])
    database.run("REVOKE RELOAD ON *.* FROM {role}")
    with real_mysql.general_log() as statements:
        (check,) = headgate.refused(f"/pipelines/{pipeline['id']}/deploy")["details"]["checks"]
    assert check["key"] == "snapshot_lock"
    assert pipeline["connector_name"] not in headgate.connectors()
    assert [one for one in statements if one.locks_a_table or one.locks_all] == []
    (statement,) = [line for line in check["recommended_action"].splitlines() if line.startswith("GRANT ")]
    assert "LOCK TABLES" not in statement
    real_mysql.run(statement)
    headgate.deploy(pipeline)
    headgate.call("DELETE", f"/pipelines/{pipeline['id']}?drop_history=true", expect=(204, 202))
