"""One fault at a time on a real MySQL server: readiness reports exactly that one, as seen by the account that captures.

`tests/e2e/test_mysql_readiness_faults.py` deploys a real connector over each of these faults.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest

from chalicelib.domain.readiness import CheckOutcome, ReadinessReport, ReadinessStatus
from chalicelib.domain.table import TableName
from infra.local.stack.mysql_programs import Programs
from tests.support.databases.mysql import MySQLServer, MySQLShop, open_mysql_shop, running_mysql
from tests.support.databases.mysql_9 import find_mysql_9
from tests.support.databases.mysql_capture import break_shop, plan_of, plan_of_fault, readiness_of, version_number
from tests.support.databases.mysql_faults import MYSQL_9_FAULTS, SERVER_FAULTS, SHARED_SERVER, MySQLFault
from tests.support.databases.readiness import check_of, failing, warning
from tests.support.waiting import eventually

MAKE_HEARTBEAT = "CREATE TABLE heartbeat (id INT PRIMARY KEY, ts TIMESTAMP NULL)"
MAY_WRITE_HEARTBEAT = "GRANT INSERT, UPDATE ON {database}.heartbeat TO {role}"

STATUS = {
    CheckOutcome.FAIL: ReadinessStatus.NOT_READY,
    CheckOutcome.WARN: ReadinessStatus.WARNING,
    CheckOutcome.PASS: ReadinessStatus.READY,
}


def test_a_working_shop_is_ready(mysql_shop: MySQLShop) -> None:
    assert_ready(mysql_shop)


def assert_ready(shop: MySQLShop) -> None:
    """Nothing is wrong, with and without a heartbeat table."""
    shop.run(MAKE_HEARTBEAT, MAY_WRITE_HEARTBEAT)
    for heartbeat in (None, TableName(shop.name, "heartbeat")):
        report = readiness_of(shop, plan_of(shop, heartbeat_table=heartbeat))
        assert [check for check in report.checks if check.status is not CheckOutcome.PASS] == []
        assert report.status is ReadinessStatus.READY


def said(report: ReadinessReport) -> tuple[set[str], set[str]]:
    return failing(report), warning(report)


def expected(fault: MySQLFault) -> tuple[set[str], set[str]]:
    return (
        {fault.check} if fault.outcome is CheckOutcome.FAIL else set(),
        {fault.check} if fault.outcome is CheckOutcome.WARN else set(),
    )


def had_by(server: MySQLServer, fault: MySQLFault) -> MySQLFault:
    """The fault; skips the test on a server of another version than have it."""
    if not fault.is_had_by(version_number(server)):
        pytest.skip("this version of MySQL does not have the fault")
    return fault


def assert_only_this_fault(shop: MySQLShop, fault: MySQLFault) -> None:
    """Breaks the shop; readiness names the fault alone, and what it recommends mends it."""
    break_shop(shop, fault)
    plan = plan_of_fault(shop, fault)
    report = readiness_of(shop, plan, **fault.address)
    assert said(report) == expected(fault), report.checks
    assert report.status is STATUS[fault.outcome]
    if not fault.check:
        return
    check = check_of(report, fault.check)
    assert check.recommended_action
    assert "LOCK TABLES ON *.* TO" not in check.recommended_action
    if fault.mended:
        run_advice(shop, check.recommended_action)
        # The server ends the connections of the first reading some time later, and until then counts them.
        eventually(lambda: said(readiness_of(shop, plan, **fault.address))[0] == set(), seconds=10)
        assert fault.check not in warning(readiness_of(shop, plan, **fault.address))


def run_advice(shop: MySQLShop, advice: str) -> None:
    """Runs the statements that a check recommends, up to the first sentence."""
    for line in advice.splitlines():
        statement, ends_as_sql, _ = line.partition(";")
        if not ends_as_sql:
            break
        shop.run(statement)


@pytest.mark.parametrize("name", SHARED_SERVER)
def test_each_fault_is_named_by_its_check_alone_and_the_recommended_sql_mends_it(
    mysql_shop: MySQLShop, name: str
) -> None:
    assert_only_this_fault(mysql_shop, had_by(mysql_shop.server, SHARED_SERVER[name]))


@contextmanager
def shop_on(settings: Mapping[str, str], programs: Programs | None = None) -> Iterator[MySQLShop]:
    with running_mysql(settings, programs=programs) as server, open_mysql_shop(server) as shop:
        yield shop


@pytest.mark.parametrize("name", SERVER_FAULTS)
def test_each_fault_of_a_server_is_named_by_its_check_alone(mysql_server: MySQLServer, name: str) -> None:
    fault = had_by(mysql_server, SERVER_FAULTS[name])
    with shop_on(fault.server) as shop:
        assert_only_this_fault(shop, fault)


# MySQL 9


@pytest.fixture
def shop_9(mysql_9: MySQLServer) -> Iterator[MySQLShop]:
    with open_mysql_shop(mysql_9) as shop:
        yield shop


def test_a_working_shop_on_mysql_9_is_ready(shop_9: MySQLShop) -> None:
    assert_ready(shop_9)


@pytest.mark.parametrize("name", [name for name, fault in MYSQL_9_FAULTS.items() if not fault.server])
def test_each_fault_on_mysql_9_is_named_by_its_check_alone(shop_9: MySQLShop, name: str) -> None:
    assert_only_this_fault(shop_9, MYSQL_9_FAULTS[name])


@pytest.mark.parametrize("name", [name for name, fault in MYSQL_9_FAULTS.items() if fault.server])
def test_each_fault_of_a_mysql_9_is_named_by_its_check_alone(mysql_9: MySQLServer, name: str) -> None:
    fault = had_by(mysql_9, MYSQL_9_FAULTS[name])
    with shop_on(fault.server, find_mysql_9()) as shop:
        assert_only_this_fault(shop, fault)


def test_rows_that_a_foreign_key_changes_are_in_the_log_of_mysql_9(shop_9: MySQLShop) -> None:
    shop_9.run(*SHARED_SERVER["rows that a foreign key deletes"].statements)
    assert warning(readiness_of(shop_9, plan_of(shop_9, "items"))) == set()


def test_rights_that_are_partly_revoked_on_mysql_9_count(shop_9: MySQLShop) -> None:
    shop_9.run("SET GLOBAL partial_revokes = ON", "REVOKE SELECT ON {database}.* FROM {role}")
    assert failing(readiness_of(shop_9, plan_of(shop_9))) == {"grant_select"}
    shop_9.run("GRANT SELECT ON {database}.* TO {role}", "SET GLOBAL partial_revokes = OFF")
    assert failing(readiness_of(shop_9, plan_of(shop_9))) == set()
