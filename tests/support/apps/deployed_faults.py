"""Deploys a real Debezium over each of the mis-set MySQL servers, all at once, and watches what becomes of it."""

import secrets
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.pipeline import Capture, CaptureOptions
from infra.local.stack.mysql_programs import Programs
from tests.support.apps.bare_connectors import BareConnectors
from tests.support.databases.mysql import MySQLServer, MySQLShop, open_mysql_shop, running_mysql
from tests.support.databases.mysql_capture import break_shop, endpoint_of, plan_of_fault, version_number
from tests.support.databases.mysql_faults import Deployed, MySQLFault
from tests.support.entities import make_pipeline, make_source

SETTLE_SECONDS = 120.0
SILENT_SECONDS = 12.0
"""How long rows may be missing while the others have all theirs."""
_STARTED_AT_ONCE = 4
_numbers = iter(range(210_000_001, 220_000_000))


@dataclass(kw_only=True)
class DeployedFault:
    """One connector over one fault. `changed_at`: when the row of the snapshot was changed, in the shop itself or in
    `changed_by`.
    """

    fault: MySQLFault
    shop: MySQLShop
    name: str
    topic: str
    config: Mapping[str, str]
    changed_by: MySQLShop | None = None
    outcome: Deployed | None = None
    changed_at: float | None = None
    running_since: float | None = None


@contextmanager
def shops(
    server: MySQLServer, faults: Mapping[str, MySQLFault], programs: Programs | None = None
) -> Iterator[dict[str, MySQLShop]]:
    """A shop with one row for each fault, broken: on the server, or on one of its own where the fault needs one.

    Faults that this version of MySQL does not have are left out.
    """
    version = version_number(server)
    had = {name: fault for name, fault in faults.items() if fault.is_had_by(version)}
    with ExitStack() as ends, ThreadPoolExecutor(2) as pool:
        opened = pool.map(lambda fault: _server_of(ends, server, fault, programs), had.values())
        found = {}
        for name, own in zip(had, opened, strict=True):
            shop = ends.enter_context(open_mysql_shop(own))
            shop.run("INSERT INTO orders VALUES (1, 'one', 1.50)")
            break_shop(shop, had[name])
            found[name] = shop
        yield found


def _server_of(ends: ExitStack, shared: MySQLServer, fault: MySQLFault, programs: Programs | None) -> MySQLServer:
    return ends.enter_context(running_mysql(fault.server, programs=programs)) if fault.server else shared


def deploy(connect: BareConnectors, fault: MySQLFault, shop: MySQLShop) -> DeployedFault:
    """Creates the connector with the config that Headgate builds for this capture."""
    name = f"fault-{secrets.token_hex(4)}"
    plan = replace(plan_of_fault(shop, fault), **{"server_id": next(_numbers), **fault.plan})
    capture = Capture(
        topic_prefix=name,
        tables=plan.tables,
        options=CaptureOptions(heartbeat_table=plan.heartbeat_table, heartbeat_interval_ms=1_000),
        provider_options={"server_id": plan.server_id, "snapshot_locking": plan.locking},
    )
    pipeline = make_pipeline(provider=DatabaseProvider.MYSQL, capture=capture)
    source = make_source(address=endpoint_of(shop, **fault.address).address)
    deployed = DeployedFault(
        fault=fault,
        shop=shop,
        name=name,
        topic=f"{name}.{shop.name}.{fault.tables[0]}",
        config=connect.config(pipeline, source, {"password": shop.password}),
    )
    if not connect.create(name, deployed.config):
        deployed.outcome = Deployed.STOPS
    return deployed


def watch(connect: BareConnectors, deployed: Mapping[str, DeployedFault]) -> None:
    """Changes the row of each snapshot, until it is known what becomes of every connector."""
    end = time.monotonic() + SETTLE_SECONDS
    while waiting := [one for one in deployed.values() if one.outcome is None]:
        states = connect.states()
        for one in waiting:
            _look(connect, one, states.get(one.name, ""))
        if time.monotonic() > end:
            break
        time.sleep(0.5)


def _look(connect: BareConnectors, one: DeployedFault, state: str) -> None:
    now, arrived = time.monotonic(), connect.records(one.topic)
    if state == "FAILED":
        one.outcome = Deployed.STOPS
    elif state == "RUNNING":
        one.running_since = one.running_since or now
        if one.changed_at is None and (arrived >= 1 or now - one.running_since > SILENT_SECONDS):
            (one.changed_by or one.shop).run(one.fault.change)
            one.changed_at = now
        elif one.changed_at is not None and arrived >= 2:
            one.outcome = Deployed.WORKS
        elif one.changed_at is not None and now - one.changed_at > SILENT_SECONDS:
            one.outcome = Deployed.LOSES


def after_an_outage(connect: BareConnectors, one: DeployedFault) -> None:
    """Stops the connector; changes go to files of the log that the server then removes; starts it again."""
    connect.move(one.name, "stop")
    wait_for(partial(is_in, connect, one.name, ""), 20)
    for number in range(2):
        one.shop.run(f"UPDATE orders SET amount = {number}", "FLUSH BINARY LOGS")
        time.sleep(2.5)
    one.shop.run("FLUSH BINARY LOGS")
    connect.move(one.name, "resume")
    if wait_for(partial(is_in, connect, one.name, "FAILED"), 30):
        one.outcome = Deployed.STOPS_LATER


def is_in(connect: BareConnectors, name: str, state: str) -> bool:
    return connect.states().get(name) == state


def wait_for(condition: "partial[bool]", seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.3)
    return True
