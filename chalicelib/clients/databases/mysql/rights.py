"""Reads what the account may do, as SHOW GRANTS says it, and proves what that does not say of single tables."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from chalicelib.clients.databases.errors import DatabaseFailure, FailureCode
from chalicelib.clients.databases.mysql import queries
from chalicelib.domain.providers.mysql.facts import Grants
from chalicelib.domain.table import TableName

if TYPE_CHECKING:
    from chalicelib.clients.databases.mysql.session import MySQLSession

MAX_PROVEN = 50
"""Tables of which one session proves what the account may do, with a statement for each."""
_MAX_GRANTS = 2_000

_GRANT_ON_ALL = re.compile(r"GRANT (.{1,4000}) ON \*\.\* TO ")
_GRANT_ON_TABLE = re.compile(r"GRANT (.{1,100000}) ON `((?:[^`]|``){1,64})`\.`((?:[^`]|``){1,64})` TO ", re.DOTALL)
_GRANTED_ROLES = re.compile(r"GRANT ((?:`[^`]{0,64}`@`[^`]{0,255}`,?)+) TO ")
_DEBEZIUM_LOOKS_FOR = ("ALL", "LOCK TABLES")
"""Debezium 3.6, BinlogConnectorConnection.userHasPrivileges: anywhere in a line, names included."""


def read_grants(session: "MySQLSession", account: str) -> Grants:
    """The grants of the account, with those of its active roles. Raises DatabaseFailure."""
    roles = session.attempt(queries.ACTIVE_ROLES, max_rows=1)
    active = str(roles[0]["roles"]).split(",") if roles else []
    lines = [str(row[0]) for row in session.rows(queries.GRANTS, max_rows=_MAX_GRANTS)]
    granted = (role for line in lines for role in _roles(line))
    return Grants(
        account=account,
        global_privileges=_privileges(lines),
        inactive_roles=tuple(role for role in granted if role not in active),
        partly_granted=tuple(dict.fromkeys(_partly_granted(lines))),
        satisfies_debezium=any(word in line.upper() for line in lines for word in _DEBEZIUM_LOOKS_FOR),
    )


def _roles(line: str) -> list[str]:
    match = _GRANTED_ROLES.match(line)
    return match[1].split(",") if match else []


def _privileges(lines: Iterable[str]) -> frozenset[str]:
    granted = (match[1] for line in lines if (match := _GRANT_ON_ALL.match(line)))
    return frozenset(name.strip().upper() for names in granted for name in names.split(","))


def _partly_granted(lines: Iterable[str]) -> Iterable[TableName]:
    for line in lines:
        match = _GRANT_ON_TABLE.match(line)
        if match and "(" in match[1]:
            yield TableName(_unquoted(match[2]), _unquoted(match[3]))


def _unquoted(name: str) -> str:
    return name.replace("``", "`")


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
