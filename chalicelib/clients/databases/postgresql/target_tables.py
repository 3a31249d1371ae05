"""Reads what the catalogue of PostgreSQL says about target tables, and counts rows."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, LiteralString

from chalicelib.clients.databases.errors import DatabaseFailure
from chalicelib.clients.databases.postgresql import catalog, queries
from chalicelib.domain.diagnosis.cause import CatalogName
from chalicelib.domain.monitoring.target_tables import WatchedTable
from chalicelib.domain.table import TableName

if TYPE_CHECKING:
    from chalicelib.clients.databases.postgresql.session import DatabaseSession, Row

TABLES_PER_STATEMENT = 500
MAX_CATALOG_NAMES = 5_000
MAX_OPEN_SCHEMAS = 5
_LAST_COUNT_SECONDS = 2.0
"""No count is begun with less."""

CATALOG_NAMES: LiteralString = """
SELECT n.nspname::text, c.relname::text, found.name, found.is_column
FROM unnest(%(schemas)s::text[], %(tables)s::text[]) AS named (schema_name, table_name)
JOIN pg_namespace n ON n.nspname = named.schema_name
JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = named.table_name
CROSS JOIN LATERAL (
    SELECT a.attname::text, true FROM pg_attribute a
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    UNION SELECT k.conname::text, false FROM pg_constraint k WHERE k.conrelid = c.oid
    UNION SELECT i.relname::text, false FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
    WHERE x.indrelid = c.oid AND x.indisunique
) AS found (name, is_column)
WHERE found.name = ANY (%(names)s::text[]) LIMIT %(max_rows)s
"""
"""The server calls a unique index that is no constraint a constraint, too. No lock is waited for."""

OPEN_SCHEMAS: LiteralString = """
SELECT n.nspname::text FROM pg_namespace n
WHERE left(n.nspname, 3) <> 'pg_' AND n.nspname <> 'information_schema'
  AND has_schema_privilege(n.oid, 'USAGE') AND has_schema_privilege(n.oid, 'CREATE')
ORDER BY n.nspname LIMIT %s
"""


def read(session: "DatabaseSession", targets: Sequence[TableName]) -> list[WatchedTable]:
    return [_table(row) for names in _chunks(targets) for row in _states(session, names)]


def open_schemas(session: "DatabaseSession") -> tuple[str, ...]:
    """Schemas in which the role may create tables, the first ones by name."""
    return tuple(name for (name,) in session.rows(OPEN_SCHEMAS, max_rows=MAX_OPEN_SCHEMAS))


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


def catalog_names(session: "DatabaseSession", tables: Sequence[TableName], names: Collection[str]) -> list[CatalogName]:
    """Of the tables, which of these names are columns, constraints or unique indexes."""
    return [
        CatalogName(TableName(schema_name, table_name), name, is_column=is_column)
        for some in _chunks(tables)
        for schema_name, table_name, name, is_column in session.rows(
            CATALOG_NAMES,
            {"schemas": catalog.names_of(some)[0], "tables": catalog.names_of(some)[1], "names": list(names)},
            max_rows=MAX_CATALOG_NAMES,
        )
    ]


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
