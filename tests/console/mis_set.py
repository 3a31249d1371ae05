"""Mis-set servers whose sources are registered: each opened with one fault of `tests/support/databases`.

A pipeline is drafted while its source is well, and then the fault is made: over a source that is not ready none can be.
"""

import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial

from pymysql.constants import CLIENT

from chalicelib.domain.database import SslMode
from chalicelib.domain.readiness import CheckOutcome
from chalicelib.domain.table import TableName
from infra.local.process.ports import kept_ports
from infra.local.stack import postgres
from infra.local.stack.folders import Folders
from infra.local.stack.layout import ROOT
from tests.support.apps.sandbox import Json, Sandbox
from tests.support.databases.mysql import CAPTURE_RIGHTS, MySQLServer, MySQLShop, open_mysql_shop, running_mysql
from tests.support.databases.mysql_capture import break_shop, version_number
from tests.support.databases.mysql_faults import FAULTS as MYSQL_FAULTS
from tests.support.databases.mysql_faults import MySQLFault
from tests.support.databases.postgresql import ORDERS, RunningPostgreSQL, Shop, open_shop
from tests.support.databases.postgresql_faults import FAULTS as POSTGRESQL_FAULTS
from tests.support.databases.postgresql_faults import PostgreSQLFault
from tests.support.databases.server_state import fresh_state
from tests.support.servers import running_server


@dataclass(frozen=True, kw_only=True)
class MisSet:
    """A registered source whose server has a fault. `run` runs a text as it is, as the superuser."""

    source: Json
    run: Callable[[str], None]
    pipeline: Json | None = None
    restart: Callable[[], None] | None = None


Opener = Callable[[Sandbox], AbstractContextManager[MisSet]]


def postgresql_servers() -> dict[str, Opener]:
    """All that have a failing check, by their faults."""
    failing = {name: fault for name, fault in POSTGRESQL_FAULTS.items() if not fault.warns}
    databases: dict[str, Opener] = {name: partial(_postgresql, fault=fault) for name, fault in failing.items()}
    return {**databases, "settings that need a restart": _postgresql_settings}


def mysql_servers(shared: MySQLServer) -> dict[str, Opener]:
    """All of this version that have a failing check, by their faults; some have a server of their own."""
    version = version_number(shared)
    return {
        name: partial(_mysql, shared=shared, fault=fault)
        for name, fault in MYSQL_FAULTS.items()
        if fault.check and fault.outcome is CheckOutcome.FAIL and fault.is_had_by(version)
    }


@contextmanager
def _registered(sandbox: Sandbox, provider: str, config: Json, password: str) -> Iterator[Json]:
    body = {
        "name": sandbox.name(provider),
        "provider": provider,
        "config": {"host": "127.0.0.1", "ssl_mode": "prefer", "connection_timeout_seconds": 5, **config},
        "credentials": {"password": password},
    }
    source = sandbox.admin.post_ok("/sources", body)
    yield source
    assert sandbox.admin.delete(f"/sources/{source['id']}").status_code == 204


@contextmanager
def _drafted(sandbox: Sandbox, source: Json, tables: list[TableName], options: Json) -> Iterator[Json]:
    """A draft of a pipeline over the source, which must be ready for it."""
    job = sandbox.finished_job(sandbox.admin.post_ok(f"/sources/{source['id']}/discover", status=202))
    assert job["status"] == "COMPLETED", job
    listed = [{"schema_name": one.schema_name, "table_name": one.table_name} for one in tables]
    draft = sandbox.new_pipeline(source_id=source["id"], tables=listed, options=options)
    yield draft
    assert sandbox.admin.delete(f"/pipelines/{draft['id']}").status_code == 204


# PostgreSQL


@contextmanager
def _postgresql(sandbox: Sandbox, fault: PostgreSQLFault) -> Iterator[MisSet]:
    with open_shop(sandbox.postgresql) as shop, ExitStack() as ends:
        config = {"port": shop.server.port, "database_name": shop.name, "username": shop.role}
        source = ends.enter_context(_registered(sandbox, "postgresql", config, shop.password))
        undo = _make_what_is_missing(shop, fault)
        options = {
            "publication_name": f"pub_{shop.name}",
            "slot_name": f"slot_{shop.name}",
            "publication_mode": "existing" if fault.existing else "filtered",
        }
        draft = ends.enter_context(_drafted(sandbox, source, list(fault.tables), options))
        shop.run(*undo, *fault.statements)
        yield MisSet(source=source, pipeline=draft, run=partial(_psql, shop.server, shop.name))


def _make_what_is_missing(shop: Shop, fault: PostgreSQLFault) -> list[str]:
    """What the draft needs and the fault leaves out; returns the statements that take it away again."""
    others = [f"shop.{table.table_name}" for table in fault.tables if table != ORDERS]
    for table in others:
        shop.run(f"CREATE TABLE {table} (id int PRIMARY KEY)", f"ALTER TABLE {table} OWNER TO {{role}}")
    undo = [f"DROP TABLE {table}" for table in others]
    if not fault.existing:
        return undo
    shop.run(
        "CREATE PUBLICATION pub_{database} FOR TABLE " + ", ".join(f"shop.{one.table_name}" for one in fault.tables)
    )
    return ["DROP PUBLICATION pub_{database}", *undo]


def _psql(server: RunningPostgreSQL, database: str, text: str) -> None:
    """As somebody pastes it: each statement by itself, in the order of the text."""
    url = f"{server.url.rpartition('/')[0]}/{database}"
    command = [str(ROOT / "infra" / "psql"), url, "-X", "-q", "-v", "ON_ERROR_STOP=1"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


@contextmanager
def _postgresql_settings(sandbox: Sandbox) -> Iterator[MisSet]:
    """A server that logs too little and has neither slots nor senders; its superuser captures."""
    too_little = {"wal_level": "replica", "max_replication_slots": "0", "max_wal_senders": "0"}
    with fresh_state("postgresql") as state, ExitStack() as ends:
        folders = Folders(state)
        plan = postgres.plan(folders, port=kept_ports(folders.ports, ["postgres"])["postgres"])
        # What stands in the command could not be changed by a statement.
        kept = [word for word in plan.command if word.partition("=")[0] not in too_little]
        command = [word for word, after in zip(kept, [*kept[1:], ""], strict=True) if (word, after) != ("-c", "-c")]
        process = ends.enter_context(running_server(replace(plan, command=command)))
        port = int(plan.command[plan.command.index("-p") + 1])
        server = RunningPostgreSQL(port=port, superuser_password=postgres.superuser_password(folders), log=plan.log)
        _psql(
            server, "postgres", "".join(f"ALTER SYSTEM SET {name} = '{value}';\n" for name, value in too_little.items())
        )
        process.restart()
        config = {"port": port, "database_name": "postgres", "username": postgres.SUPERUSER}
        source = ends.enter_context(_registered(sandbox, "postgresql", config, server.superuser_password))
        yield MisSet(source=source, run=partial(_psql, server, "postgres"), restart=process.restart)


# MySQL


@contextmanager
def _mysql(sandbox: Sandbox, shared: MySQLServer, fault: MySQLFault) -> Iterator[MisSet]:
    with ExitStack() as ends:
        server = ends.enter_context(running_mysql()) if fault.server else shared
        shop = ends.enter_context(open_mysql_shop(server))
        mode = SslMode(fault.address.get("ssl_mode", SslMode.PREFER)).value
        config = {"port": server.port, "database_name": shop.name, "username": shop.role, "ssl_mode": mode}
        source = ends.enter_context(_registered(sandbox, "mysql", config, shop.password))
        draft = ends.enter_context(_draft_of(sandbox, source, shop, fault))
        restart = server.process.restart if fault.server else None
        yield MisSet(source=source, pipeline=draft, run=partial(_run_as_root, shop), restart=restart)


@contextmanager
def _draft_of(sandbox: Sandbox, source: Json, shop: MySQLShop, fault: MySQLFault) -> Iterator[Json]:
    """Drafted while the account may do everything and every table is there; then the fault is made."""
    made = [one for one in fault.statements if one.startswith("CREATE TABLE")]
    others = [table for table in fault.tables if table != "orders"]
    shop.run(*made, *(f"CREATE TABLE {table} (id INT PRIMARY KEY)" for table in others))
    shop.run("GRANT ALL ON *.* TO {role}")
    options: Json = {"snapshot_locking": fault.plan["locking"].value} if "locking" in fault.plan else {}
    if fault.heartbeat:
        options |= {"heartbeat_interval_ms": 10_000}
        options |= {"heartbeat_table": {"schema_name": shop.name, "table_name": fault.heartbeat}}
    tables = [TableName(shop.name, table) for table in fault.tables]
    with _drafted(sandbox, source, tables, options) as draft:
        shop.run("REVOKE ALL, GRANT OPTION FROM {role}", f"GRANT {CAPTURE_RIGHTS} ON *.* TO {{role}}")
        shop.run(*(f"DROP TABLE {table}" for table in others))
        if fault.server:
            _start_with(shop.server, fault.server)
        break_shop(shop, replace(fault, statements=[one for one in fault.statements if one not in made]))
        yield draft


def _start_with(server: MySQLServer, settings: Mapping[str, str]) -> None:
    options = [f"--{name}={value}" for name, value in settings.items()]
    server.process.plan = replace(server.process.plan, command=[*server.process.plan.command, *options])
    server.process.restart()


def _run_as_root(shop: MySQLShop, text: str) -> None:
    options = {"database": shop.name, "client_flag": CLIENT.MULTI_STATEMENTS}
    with shop.server.connect(**options) as connection, connection.cursor() as cursor:
        cursor.execute(text)
        while cursor.nextset():
            pass
