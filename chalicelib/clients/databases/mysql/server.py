"""Reads what readiness needs to know about a MySQL server and the account."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from chalicelib.clients.databases.mysql import catalog, queries, rights
from chalicelib.clients.databases.mysql.errors import Refused
from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.providers.mysql.facts import (
    AmazonRetention,
    BinlogStatus,
    ConnectionUse,
    Grants,
    MySQLHosting,
    MySQLServerFacts,
    Readers,
)
from chalicelib.domain.table import TableName

if TYPE_CHECKING:
    from chalicelib.clients.databases.mysql.session import MySQLSession

_MAX_REPLICAS = 500
_MAX_CHANNELS = 300
_MAX_TRANSACTIONS = 20

_VARIABLES: Mapping[str, MySQLHosting] = {"aurora_version": MySQLHosting.AURORA}
"""Variables of one hosting provider only."""
_BASE_FOLDERS: tuple[tuple[str, MySQLHosting], ...] = (("/rdsdbbin", MySQLHosting.RDS), ("azure", MySQLHosting.AZURE))
_HOSTS: tuple[tuple[str, MySQLHosting], ...] = (
    (".rds.amazonaws.com", MySQLHosting.RDS),
    (".rds.amazonaws.com.cn", MySQLHosting.RDS),
    (".mysql.database.azure.com", MySQLHosting.AZURE),
)
_VERSIONS: tuple[tuple[str, MySQLHosting], ...] = (
    ("google", MySQLHosting.CLOUD_SQL),
    ("azure", MySQLHosting.AZURE),
    ("percona", MySQLHosting.PERCONA),
)
"""Words in the version and its comment."""


def read(
    session: "MySQLSession", tables: Sequence[TableName] | None, bound: int, address: DatabaseAddress
) -> MySQLServerFacts:
    """The facts about these tables; None: about those that a discovery lists. Raises DatabaseFailure."""
    variables = global_variables(session)
    account, account_maximum = session.row(queries.ACCOUNT)
    grants = rights.read_grants(session, str(account)[:400])
    found = (
        catalog.discovered(session, address.database_name, bound, grants)[0]
        if tables is None
        else catalog.named(session, tables, grants)
    )
    seen = {table.name for table in found}
    sessions, threads, own_threads = session.row(queries.SESSIONS, [address.username, address.username])
    version = f"{session.version} ({session.version_comment})"
    return MySQLServerFacts(
        version=version,
        version_number=session.version_number,
        host=address.host,
        proxy_version=session.proxy_version,
        variables=variables,
        hosting=_hosting(variables, version, address.host),
        encrypted=session.connection.encrypted,
        authentication=session.connection.plugin,
        grants=grants,
        binlog=binlog_status(session),
        readers=Readers(
            registered=_registered(session),
            threads=threads,
            own_threads=own_threads,
            sees_all=grants.has("PROCESS"),
        ),
        connections=_connections(session, variables, sessions, account_maximum),
        is_replica=_is_replica(session),
        transactions_seconds=_transactions(session),
        amazon_retention=_amazon_retention(session),
        tables=tuple(found),
        denied=rights.denied_tables(session, [name for name in tables or () if name not in seen]),
        hidden_definitions=_hidden_definitions(session, grants, tables),
    )


def global_variables(session: "MySQLSession") -> dict[str, str]:
    rows = session.rows(queries.GLOBAL_VARIABLES, queries.VARIABLES, max_rows=len(queries.VARIABLES))
    return {str(name).lower(): str(value) for name, value in rows}


def binlog_status(session: "MySQLSession") -> BinlogStatus:
    try:
        rows = session.records(*queries.BINLOG_STATUS, max_rows=1)
    except Refused:
        return BinlogStatus(denied=True)
    if not rows:
        return BinlogStatus()
    row = rows[0]
    return BinlogStatus(
        file=str(row["File"])[:512],
        position=int(row["Position"]),
        only_databases=_names(row.get("Binlog_Do_DB")),
        ignored_databases=_names(row.get("Binlog_Ignore_DB")),
    )


def _names(text: Any) -> frozenset[str]:
    return frozenset(filter(None, str(text or "").split(",")))


def _registered(session: "MySQLSession") -> frozenset[int] | None:
    rows = session.attempt(*queries.REPLICAS, max_rows=_MAX_REPLICAS)
    # `Server_Id` or `Server_id`, by version.
    return None if rows is None else frozenset(int(next(iter(row.values()))) for row in rows)


def _connections(
    session: "MySQLSession", variables: Mapping[str, str], own: int, account_maximum: int
) -> ConnectionUse:
    _, used = session.row(queries.THREADS_CONNECTED)
    return ConnectionUse(
        used=max(0, int(used) - 1),
        maximum=int(variables.get("max_connections", 0)),
        account_used=max(0, own - 1),
        account_maximum=account_maximum,
    )


def _is_replica(session: "MySQLSession") -> bool | None:
    rows = session.attempt(*queries.REPLICA_STATUS, max_rows=_MAX_CHANNELS)
    return None if rows is None else bool(rows)


def _transactions(session: "MySQLSession") -> tuple[int, ...] | None:
    rows = session.attempt(queries.OPEN_TRANSACTIONS, max_rows=_MAX_TRANSACTIONS)
    return None if rows is None else tuple(int(row["seconds"]) for row in rows)


def _amazon_retention(session: "MySQLSession") -> AmazonRetention | None:
    rows = session.attempt(queries.AMAZON_RETENTION, max_rows=1)
    return AmazonRetention(hours=_number(rows[0]["value"])) if rows else None


def _hidden_definitions(
    session: "MySQLSession", grants: Grants, tables: Sequence[TableName] | None
) -> tuple[TableName, ...]:
    databases = {name.schema_name for name in tables or ()}
    return tuple(sorted(rights.hidden_definitions(session, grants, databases)))


def _hosting(variables: Mapping[str, str], version: str, host: str) -> MySQLHosting:
    for name, hosting in _VARIABLES.items():
        if name in variables:
            return hosting
    host, folder = host.lower().rstrip("."), variables.get("basedir", "").lower()
    signs = (
        *(hosting for end, hosting in _HOSTS if host.endswith(end)),
        *(hosting for part, hosting in _BASE_FOLDERS if part in folder),
        *(hosting for word, hosting in _VERSIONS if word in version.lower()),
    )
    return next(iter(signs), MySQLHosting.SELF_MANAGED)


def _number(value: Any) -> int | None:
    text = str(value)
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None
