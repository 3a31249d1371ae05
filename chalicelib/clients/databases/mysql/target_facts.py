"""Reads what deliveries to a MySQL server depend on: its targets, and what the account may do with them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, LiteralString

from chalicelib.clients.databases.mysql import target_queries as queries
from chalicelib.clients.databases.mysql.catalog import chunks
from chalicelib.clients.databases.mysql.grants import show_grants
from chalicelib.clients.databases.mysql.target_rights import AccountRights
from chalicelib.domain.providers.mysql.target_facts import (
    UNLIMITED,
    MySQLConnectionLimit,
    MySQLTargetColumn,
    MySQLTargetFacts,
    MySQLTargetTable,
    MySQLUniqueIndex,
)
from chalicelib.domain.table import TableName

if TYPE_CHECKING:
    from chalicelib.clients.databases.mysql.session import MySQLSession

MAX_COLUMNS = 60_000
MAX_OF_OTHERS = 20_000
"""Indexes, foreign keys and triggers of all targets together."""
_PER_STATEMENT = 100


def read(session: "MySQLSession", targets: Sequence[TableName]) -> MySQLTargetFacts:
    account, database, collation, own_limit, limit = session.row(queries.SERVER)
    rows = session.rows(queries.GLOBAL_VARIABLES, queries.VARIABLES, max_rows=len(queries.VARIABLES))
    variables = {str(name).lower(): str(value) for name, value in rows}
    rights = _rights(session, variables)
    return MySQLTargetFacts(
        version_number=session.version_number,
        account=str(account)[:400],
        database=str(database),
        collation=str(collation),
        variables=variables,
        writes_anyway=rights.writes_anyway,
        connection_limits=tuple(_limits(session, str(account), int(own_limit), int(limit))),
        privileges={name: rights.on(name) for name in targets},
        tables=_tables(session, targets),
    )


def _rights(session: "MySQLSession", variables: Mapping[str, str]) -> AccountRights:
    return AccountRights(
        grants=show_grants(session).grants,
        partial_revokes=variables.get("partial_revokes") == "ON",
        folds_case=variables.get("lower_case_table_names") != "0",
    )


def _limits(session: "MySQLSession", account: str, own_limit: int, limit: int) -> Iterator[MySQLConnectionLimit]:
    """Each with the connections of others: this one ends before a delivery begins."""
    connected = session.row(queries.CONNECTIONS)
    yield MySQLConnectionLimit(name="max_connections of the server", maximum=limit, used=int(connected[1]) - 1)
    if own_limit != UNLIMITED:
        # Without PROCESS an account sees its own connections only.
        used = session.row(queries.OWN_CONNECTIONS, [account.rpartition("@")[0]])
        yield MySQLConnectionLimit(name="the connection limit of the account", maximum=own_limit, used=int(used[0]) - 1)


def _tables(session: "MySQLSession", targets: Sequence[TableName]) -> tuple[MySQLTargetTable, ...]:
    return tuple(table for names in chunks(targets, _PER_STATEMENT) for table in _some(session, names))


def _some(session: "MySQLSession", names: Sequence[TableName]) -> Iterator[MySQLTargetTable]:
    columns, indexes = _columns(session, names), _unique_indexes(session, names)
    foreign_keys = _named(session, names, queries.FOREIGN_KEYS, queries.REFERRING_FOREIGN_KEYS)
    triggers = _named(session, names, queries.TRIGGERS)
    for database, table, engine in session.rows_of(queries.TABLES, names, max_rows=len(names)):
        name = TableName(database, table)
        yield MySQLTargetTable(
            name=name,
            engine=engine,
            columns=tuple(columns[name]),
            unique_indexes=tuple(
                MySQLUniqueIndex(name=key, columns=_all(named)) for key, named in indexes[name].items()
            ),
            foreign_keys=tuple(foreign_keys[name]),
            triggers=tuple(triggers[name]),
        )


def _columns(session: "MySQLSession", names: Sequence[TableName]) -> dict[TableName, list[MySQLTargetColumn]]:
    columns: dict[TableName, list[MySQLTargetColumn]] = defaultdict(list)
    rows = session.rows_of(queries.COLUMNS, names, max_rows=MAX_COLUMNS)
    for database, table, name, ordinal, type_, nullable, default, generated, counts, collation, privileges in rows:
        column = MySQLTargetColumn(
            name=name,
            ordinal=int(ordinal),
            type=type_.decode("utf-8", "replace") if isinstance(type_, bytes) else str(type_),
            nullable=bool(nullable),
            has_default=bool(default),
            generated=bool(generated),
            auto_increment=bool(counts),
            collation=collation,
            privileges=frozenset((privileges or "").upper().split(",")),
        )
        columns[TableName(database, table)].append(column)
    return columns


def _unique_indexes(
    session: "MySQLSession", names: Sequence[TableName]
) -> dict[TableName, dict[str, list[str | None]]]:
    indexes: dict[TableName, dict[str, list[str | None]]] = defaultdict(lambda: defaultdict(list))
    for database, table, index, column in session.rows_of(
        queries.UNIQUE_INDEXES, names, max_rows=MAX_OF_OTHERS, order=queries.IN_ORDER_OF_INDEXES
    ):
        indexes[TableName(database, table)][index].append(column)
    return indexes


def _all(columns: list[str | None]) -> tuple[str, ...] | None:
    # The column of an expression or a prefix is NULL.
    named = tuple(column for column in columns if column is not None)
    return named if len(named) == len(columns) else None


def _named(
    session: "MySQLSession", names: Sequence[TableName], *statements: LiteralString
) -> dict[TableName, list[str]]:
    """Names of what belongs to the tables, without repetitions, ordered."""
    found: dict[TableName, set[str]] = defaultdict(set)
    for statement in statements:
        for database, table, name in session.rows_of(statement, names, max_rows=MAX_OF_OTHERS):
            found[TableName(database, table)].add(name)
    return defaultdict(list, {table: sorted(listed) for table, listed in found.items()})
