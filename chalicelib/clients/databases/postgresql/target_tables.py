"""Reads what the catalogue of PostgreSQL says about target tables, and counts rows."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from chalicelib.clients.databases.errors import DatabaseFailure
from chalicelib.clients.databases.postgresql import catalog, queries
from chalicelib.domain.monitoring.target_tables import WatchedTable
from chalicelib.domain.table import TableName

if TYPE_CHECKING:
    from chalicelib.clients.databases.postgresql.session import DatabaseSession, Row

TABLES_PER_STATEMENT = 500
_LAST_COUNT_SECONDS = 2.0
"""No count is begun with less."""


def read(session: "DatabaseSession", targets: Sequence[TableName]) -> list[WatchedTable]:
    return [_table(row) for names in _chunks(targets) for row in _states(session, names)]


def count(session: "DatabaseSession", bounds: Mapping[TableName, int]) -> dict[TableName, int]:
    from psycopg import sql

    rows = {}
    for name, bound in bounds.items():
        if session.deadline.remaining() < _LAST_COUNT_SECONDS:
            break
        table = sql.Identifier(name.schema_name, name.table_name)
        statement = sql.SQL(queries.COUNT_ROWS).format(table=table, bound=sql.Literal(bound))
        try:
            with session.attempt():
                rows[name] = int(session.row(statement)[0])
        except DatabaseFailure:  # it is locked, was dropped, or takes too long
            continue
    return rows


def _states(session: "DatabaseSession", targets: Sequence[TableName]) -> "list[Row]":
    return session.rows(queries.TARGET_TABLE_STATES, catalog.names_of(targets), max_rows=len(targets))


def _table(row: "Row") -> WatchedTable:
    schema_name, table_name, identity, storage, partitions, rows, live, deleted, countable = row
    return WatchedTable(
        name=TableName(schema_name, table_name),
        identity=identity,
        storage=storage,
        partitions=partitions,
        rows=rows,
        live=live,
        deleted=deleted,
        countable=countable,
    )


def _chunks(targets: Sequence[TableName]) -> Iterator[Sequence[TableName]]:
    for start in range(0, len(targets), TABLES_PER_STATEMENT):
        yield targets[start : start + TABLES_PER_STATEMENT]
