"""Reads what readiness needs to know about a MySQL server and the account."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from chalicelib.clients.databases.mysql import catalog, queries
from chalicelib.domain.providers.mysql.facts import (
    BinlogStatus,
    Grants,
    Hosting,
    MySQLServerFacts,
    Replicas,
)
from chalicelib.domain.table import TableName

if TYPE_CHECKING:
    from chalicelib.clients.databases.mysql.session import DatabaseSession

MAX_DATABASES = 2_000
_MAX_GRANTS = 2_000
_MAX_REPLICAS = 500

_GRANT_ON_ALL = re.compile(r"GRANT (.{1,4000}) ON \*\.\* TO ")
_GRANTED_ROLES = re.compile(r"GRANT ((?:`[^`]{0,64}`@`[^`]{0,255}`,?)+) TO ")

_SIGNS: Mapping[str, Hosting] = {"aurora_version": Hosting.AURORA}
"""Variables of one hosting provider only."""

_BASE_FOLDERS: tuple[tuple[str, Hosting], ...] = (
    ("/rdsdbbin", Hosting.RDS),
    ("azure", Hosting.AZURE),
)
_COMMENTS: tuple[tuple[str, Hosting], ...] = (
    ("google", Hosting.CLOUD_SQL),
    ("azure", Hosting.AZURE),
    ("percona", Hosting.PERCONA),
)


def read(session: "DatabaseSession", tables: Sequence[TableName] | None, bound: int, database: str) -> MySQLServerFacts:
    """The facts about these tables; None: about those that a discovery lists. Raises DatabaseFailure."""
    variables = global_variables(session)
    found = catalog.discovered(session, database, bound)[0] if tables is None else catalog.named(session, tables)
    transactions = session.attempt(queries.OPEN_TRANSACTIONS, max_rows=20)
    retention = session.attempt(queries.RETENTION_HOURS, max_rows=1)
    threads = session.row(queries.THREADS_CONNECTED)
    return MySQLServerFacts(
        version=f"{session.version} ({session.version_comment})",
        version_number=session.version_number,
        variables=variables,
        hosting=_hosting(variables, session.version_comment),
        encrypted=session.connection.encrypted,
        authentication=session.connection.plugin,
        grants=_grants(session),
        binlog=binlog_status(session),
        replicas=_replicas(session),
        is_replica=_is_replica(session),
        threads_connected=int(threads[1]),
        transactions_seconds=None if transactions is None else tuple(int(one["seconds"]) for one in transactions),
        retention_known=retention is not None,
        retention_hours=_number(retention[0]["value"]) if retention else None,
        databases=frozenset(row[0] for row in session.rows(queries.DATABASES, [MAX_DATABASES], max_rows=MAX_DATABASES)),
        tables=tuple(found),
    )


def global_variables(session: "DatabaseSession") -> dict[str, str]:
    names = [*queries.VARIABLES, *[""] * (48 - len(queries.VARIABLES))]
    rows = session.rows(queries.GLOBAL_VARIABLES, names, max_rows=len(names))
    return {str(name).lower(): str(value) for name, value in rows}


def binlog_status(session: "DatabaseSession") -> BinlogStatus:
    # Each statement is unknown to some versions: SHOW MASTER STATUS is gone from 8.4 on.
    rows = session.attempt(queries.BINLOG_STATUS, max_rows=1)
    if rows is None:
        rows = session.attempt(queries.MASTER_STATUS, max_rows=1)
    if rows is None:
        return BinlogStatus(denied=True)
    if not rows:
        return BinlogStatus()
    row = rows[0]
    return BinlogStatus(
        file=str(row["File"]),
        position=int(row["Position"]),
        only_databases=_names(row.get("Binlog_Do_DB")),
        ignored_databases=_names(row.get("Binlog_Ignore_DB")),
    )


def _names(text: Any) -> frozenset[str]:
    return frozenset(filter(None, str(text or "").split(",")))


def _replicas(session: "DatabaseSession") -> Replicas:
    rows = session.attempt(queries.REPLICAS, max_rows=_MAX_REPLICAS)
    if rows is None:
        rows = session.attempt(queries.SLAVE_HOSTS, max_rows=_MAX_REPLICAS)
    threads = session.attempt(queries.DUMP_THREADS, max_rows=1)
    return Replicas(
        server_ids=None if rows is None else frozenset(int(row.get("Server_Id") or row["Server_id"]) for row in rows),
        dump_threads=int(threads[0]["dump_threads"]) if threads else 0,
    )


def _is_replica(session: "DatabaseSession") -> bool | None:
    rows = session.attempt(queries.REPLICA_STATUS, max_rows=100)
    if rows is None:
        rows = session.attempt(queries.SLAVE_STATUS, max_rows=100)
    return None if rows is None else bool(rows)


def _grants(session: "DatabaseSession") -> Grants:
    roles = session.attempt(queries.ACTIVE_ROLES, max_rows=1)
    active = str(roles[0]["roles"]) if roles else "NONE"
    own = [str(row[0]) for row in session.rows(queries.GRANTS, max_rows=_MAX_GRANTS)]
    granted_roles = [role for line in own for role in _roles(line)]
    lines = own
    if active != "NONE" and granted_roles:
        lines = [
            str(row[0]) for row in session.rows(f"SHOW GRANTS FOR CURRENT_USER() USING {active}", max_rows=_MAX_GRANTS)
        ]
    inactive = tuple(role for role in granted_roles if role not in active)
    account = str(session.row("SELECT CURRENT_USER()")[0])[:400]
    return Grants(account=account, global_privileges=_privileges(lines), inactive_roles=inactive)


def _roles(line: str) -> list[str]:
    match = _GRANTED_ROLES.match(line)
    return match[1].split(",") if match else []


def _privileges(lines: Iterable[str]) -> frozenset[str]:
    granted = (match[1] for line in lines if (match := _GRANT_ON_ALL.match(line)))
    return frozenset(name.strip().upper() for names in granted for name in names.split(","))


def _hosting(variables: Mapping[str, str], comment: str) -> Hosting:
    for sign, hosting in _SIGNS.items():
        if sign in variables:
            return hosting
    folder = variables.get("basedir", "").lower()
    for part, hosting in _BASE_FOLDERS:
        if part in folder:
            return hosting
    return next((hosting for part, hosting in _COMMENTS if part in comment.lower()), Hosting.SELF_MANAGED)


def _number(value: Any) -> int | None:
    text = str(value)
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None
