"""Reads what the account may do, as SHOW GRANTS says it, and proves what that does not say of single tables."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from chalicelib.clients.databases.errors import DatabaseFailure, FailureCode
from chalicelib.clients.databases.mysql import queries
from chalicelib.clients.databases.mysql.grants import Grant, show_grants
from chalicelib.domain.providers.mysql.facts import Grants
from chalicelib.domain.table import TableName

if TYPE_CHECKING:
    from chalicelib.clients.databases.mysql.session import MySQLSession

MAX_PROVEN = 50
"""Tables of which one session proves what the account may do, with a statement for each."""

_DEBEZIUM_LOOKS_FOR = ("ALL", "LOCK TABLES")
"""Debezium 3.6, BinlogConnectorConnection.userHasPrivileges: anywhere in a line, names included."""


def read_grants(session: "MySQLSession", account: str) -> Grants:
    """The grants of the account, with those of its active roles. Raises DatabaseFailure."""
    roles = session.attempt(queries.ACTIVE_ROLES, max_rows=1)
    active = str(roles[0]["roles"]).split(",") if roles else []
    shown = show_grants(session)
    return Grants(
        account=account,
        global_privileges=frozenset(_on_everything(shown.grants)),
        inactive_roles=tuple(role for role in shown.roles if role not in active),
        partly_granted=tuple(dict.fromkeys(_partly_granted(shown.grants))),
        satisfies_debezium=any(word in line.upper() for line in shown.lines for word in _DEBEZIUM_LOOKS_FOR),
    )


def _on_everything(grants: Iterable[Grant]) -> Iterator[str]:
    for grant in grants:
        if grant.database is None and not grant.revoked:
            yield from grant.privileges


def _partly_granted(grants: Iterable[Grant]) -> Iterator[TableName]:
    for grant in grants:
        if grant.column_privileges and grant.database is not None and grant.table is not None:
            yield TableName(grant.database, grant.table)


def partly_readable(session: "MySQLSession", grants: Grants, tables: Iterable[TableName]) -> frozenset[TableName]:
    """Those of the tables of which the account may read some columns only: the server shows it no others, and no
    definition either, also where it may read each column.
    """
    listed = set(tables)
    names = [name for name in grants.partly_granted if name in listed]
    hidden = _denied(session.denies, queries.READ_DEFINITION, names)
    return hidden | _denied(session.denies, queries.READ_ALL_COLUMNS, [name for name in names if name not in hidden])


def hidden_definitions(session: "MySQLSession", grants: Grants, databases: Iterable[str]) -> frozenset[TableName]:
    """Tables of the databases that the account sees, and whose definition it may not read."""
    listed = set(databases)
    names = [name for name in grants.partly_granted if name.schema_name in listed]
    return _denied(session.denies, queries.READ_DEFINITION, names)


def denied_tables(session: "MySQLSession", tables: Sequence[TableName]) -> frozenset[TableName]:
    """Those of tables that are not in the catalogue that the account may not read: they may exist."""
    return _denied(session.denies, queries.READ_ANY_COLUMN, tables)


def _denied(denies: Callable[..., bool], sql: str, tables: Sequence[TableName]) -> frozenset[TableName]:
    found: set[TableName] = set()
    for name in tables[:MAX_PROVEN]:
        try:
            if denies(sql, name):
                found.add(name)
        except DatabaseFailure as failure:
            if failure.failure_code is not FailureCode.TIMEOUT:
                raise
            # Somebody changes a definition: it would be waited for with each table.
            break
    return frozenset(found)
