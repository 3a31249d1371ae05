"""Reads what MySQL shows of target tables, and counts rows.

The server's own numbers of rows are estimates that may be wrong by half, and 0 for some moments after each change of a
definition. So rows are counted, up to a bound that keeps the look cheap.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, LiteralString

from chalicelib.clients.databases.errors import DatabaseFailure
from chalicelib.clients.databases.mysql import target_queries as queries
from chalicelib.clients.databases.mysql.catalog import chunks
from chalicelib.domain.diagnosis.cause import CatalogName
from chalicelib.domain.monitoring.target_tables import MAX_COUNTED, WatchedTable
from chalicelib.domain.providers.mysql.sql import quoted_table
from chalicelib.domain.table import TableName

if TYPE_CHECKING:
    from chalicelib.clients.databases.mysql.connection import Row
    from chalicelib.clients.databases.mysql.session import MySQLSession

COUNTED_PER_LOOK = MAX_COUNTED
"""Rows that one look counts of all tables together."""
MIN_COUNTED = 200
"""Rows that it counts of each, however many tables there are."""
_PER_STATEMENT = 100
_MAX_CATALOG_NAMES = 5_000
_LAST_COUNT_SECONDS = 2.0
"""No count is begun with less."""


def read(session: "MySQLSession", targets: Sequence[TableName]) -> list[WatchedTable]:
    """A table that is counted up to the bound has at least so many rows. Its own deletions are not known."""
    bound = max(MIN_COUNTED, COUNTED_PER_LOOK // max(1, len(targets)))
    asked, folded = frozenset(targets), {_folded(name): name for name in targets}
    tables = []
    for row in _states(session, targets):
        name = TableName(row[0], row[1])
        # A server that folds names spells them in lower case.
        tables.append(_table(session, row, name if name in asked else folded[_folded(name)], bound))
    return tables


def count(session: "MySQLSession", bounds: Mapping[TableName, int]) -> dict[TableName, int]:
    counted = ((name, _counted(session, name, bound)) for name, bound in bounds.items())
    return {name: rows for name, rows in counted if rows is not None}


def catalog_names(session: "MySQLSession", tables: Sequence[TableName], names: Collection[str]) -> list[CatalogName]:
    """Of the tables, which of these names are columns or constraints."""
    folded, found = {_folded(name): name for name in tables}, []
    for sql, is_column in ((queries.NAMED_COLUMNS, True), (queries.NAMED_CONSTRAINTS, False)):
        for some in chunks(tables, _PER_STATEMENT):
            for database, table, name in _named(session, sql, some, sorted(names)):
                found.append(CatalogName(folded[_folded(TableName(database, table))], name, is_column=is_column))
    return found


def _named(
    session: "MySQLSession", sql: LiteralString, tables: Sequence[TableName], names: Sequence[str]
) -> "list[Row]":
    places: LiteralString = ", ".join(["(%s, %s)"] * len(tables))
    statement = sql.format(tables=places, names=", ".join(["%s"] * len(names)))
    parameters = [part for table in tables for part in (table.schema_name, table.table_name)]
    return session.rows(statement, [*parameters, *names], max_rows=_MAX_CATALOG_NAMES)


def _states(session: "MySQLSession", targets: Sequence[TableName]) -> "list[Row]":
    if session.version_number >= 80000:
        session.rows(queries.STATISTICS_NOW, max_rows=0)
    return [
        row
        for names in chunks(targets, _PER_STATEMENT)
        for row in session.rows_of(queries.STATES, names, max_rows=len(names))
    ]


def _table(session: "MySQLSession", row: "Row", name: TableName, bound: int) -> WatchedTable:
    _, _, made_at, estimate, partitions = row
    counted = _counted(session, name, bound)
    rows = min(bound, int(estimate) // 2) if counted is None else counted
    return WatchedTable(
        name=name,
        # Nothing tells a table that was made again from one whose definition was changed: both have another time.
        identity="",
        storage=str(made_at),
        partitions=int(partitions),
        rows=rows,
        live=rows,
        deleted=None,
        countable=counted is not None,
    )


def _counted(session: "MySQLSession", name: TableName, bound: int) -> int | None:
    """The rows of the table, at most the bound; None where it may not be read, is locked, or time is short."""
    if session.deadline.remaining() < _LAST_COUNT_SECONDS:
        return None
    statement = queries.COUNT_ROWS.format(table=quoted_table(name), bound=bound)
    try:
        return int(session.row(statement)[0])
    except DatabaseFailure:  # it is locked, was dropped, or takes too long
        return None


def _folded(name: TableName) -> TableName:
    return TableName(name.schema_name.lower(), name.table_name.lower())
