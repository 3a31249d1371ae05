"""What Headgate makes of a MySQL shop of the tests: its client, what it discovers, and whether a capture is ready."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from chalicelib.clients.databases.contract import TableListing
from chalicelib.clients.databases.mysql.client import MySQL
from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.database import DatabaseProvider, SslMode
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.providers.mysql.capture_plan import MySQLCapturePlan
from chalicelib.domain.providers.mysql.capture_tables import source_tables
from chalicelib.domain.providers.mysql.facts import MySQLRawTable, MySQLServerFacts
from chalicelib.domain.providers.mysql.readiness.checks import CHECKS
from chalicelib.domain.readiness import ReadinessReport, judge, unreachable
from chalicelib.domain.source import DISCOVERY_BOUND
from chalicelib.domain.table import SourceTable, TableName
from chalicelib.errors import HeadgateError
from chalicelib.kit.clock import Deadline, utc_now
from chalicelib.kit.masking import Secret
from tests.support.databases.mysql import HOST, MySQLServer, MySQLShop
from tests.support.databases.mysql_faults import MySQLFault

SERVER_ID = 200_000_001


def client_of(endpoint: OpenedEndpoint[DatabaseAddress]) -> MySQL:
    return MySQL(endpoint=endpoint, check_host=lambda host: (host,))


def endpoint_of(shop: MySQLShop, *, secrets: Mapping[str, str] | None = None, **changes: Any) -> OpenedEndpoint[Any]:
    """The shop as a source registers it; `changes` are fields of the address."""
    address = DatabaseAddress(
        provider=DatabaseProvider.MYSQL, host=HOST, port=shop.server.port, database_name=shop.name,
        username=shop.role, ssl_mode=SslMode.PREFER,
    )  # fmt: skip
    revealed = {"password": shop.password, **(secrets or {})}
    return OpenedEndpoint(replace(address, **changes), {name: Secret(value) for name, value in revealed.items()})


def orders(shop: MySQLShop) -> TableName:
    return TableName(shop.name, "orders")


def plan_of(shop: MySQLShop, *tables: str, **changes: Any) -> MySQLCapturePlan:
    """A plan to capture these tables of the shop, its orders where none is named."""
    names = tuple(TableName(shop.name, table) for table in tables or ("orders",))
    return replace(MySQLCapturePlan(tables=names, server_id=SERVER_ID), **changes)


def plan_of_fault(shop: MySQLShop, fault: MySQLFault) -> MySQLCapturePlan:
    heartbeat = TableName(shop.name, fault.heartbeat) if fault.heartbeat else None
    return plan_of(shop, *fault.tables, heartbeat_table=heartbeat, **fault.plan)


def version_number(server: MySQLServer) -> int:
    """80015 for 8.0.15."""
    major, minor, patch = str(server.value("VERSION()")).split("-")[0].split(".")
    return int(major) * 10_000 + int(minor) * 100 + int(patch)


def break_shop(shop: MySQLShop, fault: MySQLFault) -> None:
    """Runs the fault's statements."""
    for statement in fault.statements:
        shop.run(statement.replace("{password}", shop.password))


def facts_of(shop: MySQLShop, *tables: TableName, **changes: Any) -> MySQLServerFacts:
    return client_of(endpoint_of(shop, **changes)).server_facts(tables or (orders(shop),), Deadline.after(15))


def readiness_of(shop: MySQLShop, plan: MySQLCapturePlan | None, **changes: Any) -> ReadinessReport:
    """The verdict, as a source with these changes of its address gets it."""
    tables = plan.captured_tables if plan else None
    try:
        facts = client_of(endpoint_of(shop, **changes)).server_facts(tables, Deadline.after(15))
    except HeadgateError as error:
        return unreachable(CHECKS, error, utc_now())
    return judge(CHECKS, facts, plan, utc_now())


def listing_of(shop: MySQLShop, bound: int = DISCOVERY_BOUND) -> TableListing:
    return client_of(endpoint_of(shop)).list_tables(Deadline.after(15), bound)


def table_of(shop: MySQLShop, table: str) -> MySQLRawTable:
    """A table of the shop, as it is listed."""
    return next(one for one in listing_of(shop).tables if one.name == TableName(shop.name, table))


def discovered(shop: MySQLShop, table: str = "orders") -> SourceTable:
    """A table of the shop as discovery stores it, judged beside all others."""
    tables = source_tables(listing_of(shop).tables, "s", utc_now())
    return next(one for one in tables if one.name == TableName(shop.name, table))
