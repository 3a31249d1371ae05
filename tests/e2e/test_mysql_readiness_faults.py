"""A real Debezium over each mis-set MySQL server does what readiness has said: it stops, it loses rows, or it works.

`tests/integration/databases/test_mysql_readiness.py` has what readiness says about each of these faults.
"""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import pytest

from chalicelib.domain.readiness import CheckOutcome
from infra.local.stack.real_stack import RealStack
from tests.e2e.test_readiness_faults import failing
from tests.support.apps.bare_connectors import BareConnectors
from tests.support.apps.deployed_faults import (
    DeployedFault,
    after_an_outage,
    deploy,
    is_in,
    shops,
    wait_for,
    watch,
)
from tests.support.apps.real_headgate import Json, RealHeadgate
from tests.support.apps.real_mysql import open_database
from tests.support.databases.mysql import MySQLServer, MySQLShop, Statement, open_mysql_shop, running_mysql
from tests.support.databases.mysql_9 import find_mysql_9
from tests.support.databases.mysql_capture import SERVER_ID, plan_of, readiness_of
from tests.support.databases.mysql_faults import FAULTS, MYSQL_9_FAULTS, WORKS, Deployed, MySQLFault
from tests.support.databases.readiness import failing as failing_checks
from tests.support.waiting import eventually

pytestmark = pytest.mark.real

HEALTHY = MySQLFault(check="", outcome=CheckOutcome.PASS, deployed=WORKS)
MAY_LOCK = {"LOCK TABLES and no RELOAD", "LOCK TABLES beside RELOAD"}


@dataclass(frozen=True, kw_only=True)
class AllDeployed:
    """What became of each fault, and all that was asked of the server that most of them share."""

    faults: dict[str, DeployedFault]
    statements: list[Statement]


@pytest.fixture(scope="module")
def connect(real_stack: RealStack) -> Iterator[BareConnectors]:
    connectors = BareConnectors.of(real_stack)
    yield connectors
    connectors.close()


@pytest.fixture(scope="module")
def deployed(connect: BareConnectors, real_mysql: MySQLServer) -> AllDeployed:
    with shops(real_mysql, FAULTS) as opened:
        return deploy_all(connect, real_mysql, opened)


@pytest.fixture(scope="module")
def deployed_on_9(connect: BareConnectors, mysql_9: MySQLServer) -> AllDeployed:
    with shops(mysql_9, MYSQL_9_FAULTS, find_mysql_9()) as opened:
        return deploy_all(connect, mysql_9, opened)


def deploy_all(connect: BareConnectors, server: MySQLServer, opened: dict[str, MySQLShop]) -> AllDeployed:
    """All faults at once: what each waits for takes most of the time."""
    with server.general_log() as statements, ThreadPoolExecutor(4) as pool:
        made = pool.map(lambda name: deploy(connect, FAULTS[name], opened[name]), opened)
        faults = dict(zip(opened, made, strict=True))
        try:
            watch(connect, faults)
            for one in faults.values():
                if one.fault.deployed is Deployed.STOPS_LATER and one.outcome is Deployed.WORKS:
                    after_an_outage(connect, one)
        finally:
            for one in faults.values():
                connect.delete(one.name)
    return AllDeployed(faults=faults, statements=statements)


@pytest.mark.parametrize("name", FAULTS)
def test_a_connector_over_the_fault_does_what_readiness_says(deployed: AllDeployed, name: str) -> None:
    if name not in deployed.faults:
        pytest.skip("this version of MySQL does not have the fault")
    assert deployed.faults[name].outcome is FAULTS[name].deployed


@pytest.mark.parametrize("name", MYSQL_9_FAULTS)
def test_a_connector_over_the_fault_of_a_mysql_9_does_what_readiness_says(
    deployed_on_9: AllDeployed, name: str
) -> None:
    assert deployed_on_9.faults[name].outcome is FAULTS[name].deployed


@pytest.mark.parametrize("name", FAULTS)
def test_readiness_fails_exactly_where_a_connector_stops_or_loses_rows(name: str) -> None:
    fault = FAULTS[name]
    # What only happens when somebody deletes in one way, or drops a partition, is a warning.
    is_expected = fault.deployed is WORKS or name in ("rows that a foreign key deletes", "partition that is truncated")
    assert (fault.outcome is not CheckOutcome.FAIL) is is_expected


def test_no_account_without_the_right_ever_locks_a_table(deployed: AllDeployed) -> None:
    accounts = {one.shop.role: name for name, one in deployed.faults.items()}
    locks = [one for one in deployed.statements if one.command == "Query" and locks_a_table(one.text)]
    assert {accounts.get(one.user) for one in locks} <= MAY_LOCK
    # The log has what is looked for: the global lock of the snapshots.
    assert [one for one in deployed.statements if one.text.upper().startswith("FLUSH TABLES WITH READ LOCK")]


def locks_a_table(text: str) -> bool:
    words = text.upper()
    return words.startswith("LOCK TABLE") or (words.startswith("FLUSH TABLE") and "`" in words)


@contextmanager
def a_long_statement(shop: MySQLShop, seconds: int) -> Iterator[None]:
    """Another table is read for so long: the global lock has to wait."""
    shop.run("CREATE TABLE slow (id INT PRIMARY KEY)", "INSERT INTO slow VALUES (1)")
    reading = threading.Thread(target=shop.run, args=(f"SELECT SLEEP({seconds}) FROM slow",))
    reading.start()
    try:
        eventually(lambda: shop.run("SELECT 1 FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP%'"))
        yield
    finally:
        reading.join()


def test_only_with_the_right_to_lock_tables_a_busy_server_has_its_tables_locked(
    connect: BareConnectors, real_mysql: MySQLServer
) -> None:
    faults = {"without": HEALTHY, "with": FAULTS["LOCK TABLES beside RELOAD"]}
    with shops(real_mysql, faults) as opened, a_long_statement(opened["with"], 14):
        with real_mysql.general_log() as statements:
            made = {name: deploy(connect, fault, opened[name]) for name, fault in faults.items()}
            watch(connect, made)
        for one in made.values():
            connect.delete(one.name)
    locks = [one for one in statements if one.command == "Query" and locks_a_table(one.text)]
    assert {one.user for one in locks} == {opened["with"].role}
    assert made["without"].outcome is Deployed.STOPS
    assert made["with"].outcome is WORKS


def test_a_reader_with_the_same_id_ends_the_connector(connect: BareConnectors, real_mysql: MySQLServer) -> None:
    with shops(real_mysql, {"shop": HEALTHY}) as opened:
        shop = opened["shop"]
        assert failing_checks(readiness_of(shop, plan_of(shop))) == set()
        one = deploy(connect, MySQLFault(check="", deployed=WORKS, plan={"server_id": SERVER_ID}), shop)
        watch(connect, {"one": one})
        assert one.outcome is WORKS
        # Debezium does not register: SHOW REPLICAS does not have it, and no other statement shows its id.
        assert real_mysql.run("SHOW SLAVE HOSTS" if is_old(real_mysql) else "SHOW REPLICAS") == ()
        with shop.reading(SERVER_ID):
            assert failing_checks(readiness_of(shop, plan_of(shop))) == {"server_id_clash"}
            assert wait_for(partial(is_in, connect, one.name, "FAILED"), 30)
        assert "with the same server_uuid/server_id" in connect.trace(one.name)
        connect.delete(one.name)


def is_old(server: MySQLServer) -> bool:
    return str(server.value("VERSION()")).startswith("8.0.1")


def replicate(replica: MySQLServer, of: MySQLServer, account: str, password: str) -> None:
    place = "SOURCE" if not is_old(replica) else "MASTER"
    source = f"{place}_HOST = '127.0.0.1', {place}_PORT = {of.port}, {place}_USER = '{account}'"
    more = f"{place}_PASSWORD = '{password}', {place}_AUTO_POSITION = 1, GET_{place}_PUBLIC_KEY = 1"
    replica.run(
        f"CHANGE {'REPLICATION SOURCE' if place == 'SOURCE' else 'MASTER'} TO {source}, {more}",
        f"START {'REPLICA' if place == 'SOURCE' else 'SLAVE'}",
    )


@pytest.mark.parametrize("logs", [True, False], ids=["logs what it gets", "logs only its own"])
def test_a_replica_brings_changes_only_where_it_logs_what_it_gets(connect: BareConnectors, logs: bool) -> None:
    settings = {"server-id": "2", "log-slave-updates": "ON" if logs else "OFF"}
    with running_mysql() as primary, running_mysql(settings) as replica, open_mysql_shop(primary) as shop:
        replicate(replica, primary, shop.role, shop.password)
        shop.run("INSERT INTO orders VALUES (1, 'one', 1.50)")
        there = MySQLShop(server=replica, name=shop.name, role=shop.role, password=shop.password)
        eventually(lambda: replica.run(f"SHOW DATABASES LIKE '{shop.name}'") and there.run("SELECT id FROM orders"))
        assert failing_checks(readiness_of(there, plan_of(there))) == (set() if logs else {"replica"})
        one = deploy(connect, MySQLFault(check="replica", deployed=WORKS), there)
        # The change is made on the primary.
        one.changed_by = shop
        watch(connect, {"one": one})
        connect.delete(one.name)
    assert one.outcome is (WORKS if logs else Deployed.LOSES)


# through the API of Headgate


@pytest.fixture(scope="module")
def drafted(headgate: RealHeadgate, real_mysql: MySQLServer) -> tuple[MySQLShop, Json]:
    """A shop that is ready, and a draft of a pipeline over it."""
    table = "CREATE TABLE orders (id BIGINT PRIMARY KEY, customer VARCHAR(100))"
    database = open_database(real_mysql, "drafted", table, "INSERT INTO orders VALUES (1, 'one')")
    source = headgate.source(database)
    headgate.discover(source)
    body = headgate.pipeline_body(source, [(database.name, "orders")])
    shop = MySQLShop(server=real_mysql, name=database.name, role=database.username, password=database.password)
    return shop, headgate.post("/pipelines", body)


API_FAULTS = {
    "no RELOAD": "REVOKE RELOAD ON *.* FROM {role}",
    "no REPLICATION SLAVE": "REVOKE REPLICATION SLAVE ON *.* FROM {role}",
    "no REPLICATION CLIENT": "REVOKE REPLICATION CLIENT ON *.* FROM {role}",
    "no SELECT": "REVOKE SELECT ON *.* FROM {role}",
    "two connections": "ALTER USER {role} WITH MAX_USER_CONNECTIONS 2",
    "table that was renamed": "RENAME TABLE orders TO elsewhere",
}
REPAIRS = {
    "two connections": "ALTER USER {role} WITH MAX_USER_CONNECTIONS 0",
    "table that was renamed": "RENAME TABLE elsewhere TO orders",
}


@pytest.mark.parametrize("name", API_FAULTS)
def test_the_fault_is_refused_by_its_check_and_nothing_is_created(
    headgate: RealHeadgate, drafted: tuple[MySQLShop, Json], name: str
) -> None:
    shop, pipeline = drafted
    check = "tables" if name == "table that was renamed" else FAULTS[name].check
    shop.run(API_FAULTS[name])
    try:
        assert failing(headgate.refused(f"/pipelines/{pipeline['id']}/deploy")) == {check}
        assert pipeline["connector_name"] not in headgate.connectors()
    finally:
        grant = API_FAULTS[name].replace("REVOKE", "GRANT").replace(" FROM ", " TO ")
        shop.run(REPAIRS.get(name, grant))


def test_the_draft_that_was_refused_for_every_fault_is_deployed_once_all_are_repaired(
    headgate: RealHeadgate, drafted: tuple[MySQLShop, Json]
) -> None:
    shop, pipeline = drafted
    headgate.deploy(pipeline)
    # Readiness does not look for definitions that Debezium's default parser cannot read: no capture has that parser.
    assert headgate.get(f"/pipelines/{pipeline['id']}")["config"]["ddl.parser.type"] == "legacy"
    (topic,) = pipeline["topics"]
    headgate.until_records(topic, 1)
    shop.run("UPDATE orders SET customer = 'two'")
    headgate.until_records(topic, 2)
    report = headgate.get(f"/sources/{pipeline['source_id']}/cdc-readiness?pipeline_id={pipeline['id']}&fresh=true")
    assert [check for check in report["checks"] if check["status"] == "fail"] == []
    headgate.delete(f"/pipelines/{pipeline['id']}")
