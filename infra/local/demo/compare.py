"""Whether the target has the rows of the source: every row of every table, by key and by content."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.sql import SQL, Composable, Identifier

from infra.local.demo.api import BOUND_SECONDS
from infra.local.demo.data import TABLES, TARGET_SCHEMA, DemoDatabase, DemoTable
from infra.local.demo.report import StepFailed, counted

Rows = Mapping[str, str]
"""The hash of each row's content by the text of its key."""


@dataclass(frozen=True, kw_only=True)
class ComparedColumn:
    """A column of the source; the target's value is compared as this type."""

    name: str
    type: str


@dataclass(frozen=True)
class Snapshot:
    """All rows of both databases at one time, by table."""

    source: Mapping[str, Rows]
    target: Mapping[str, Rows]

    @property
    def rows(self) -> int:
        """Rows in the source."""
        return sum(len(rows) for rows in self.source.values())

    @property
    def target_rows(self) -> int:
        """Rows in the target."""
        return sum(len(rows) for rows in self.target.values())

    def difference(self) -> str | None:
        """The first table that differs, and how; None when none does."""
        for label, source in self.source.items():
            if (target := self.target[label]) != source:
                return f"{label} with {_sides(source, target)}: {_difference(source, target)}"
        return None

    def per_table(self) -> list[str]:
        return [f"{label}: {_sides(rows, self.target[label])}" for label, rows in self.source.items()]


def snapshot(source: DemoDatabase, target: DemoDatabase) -> Snapshot:
    with source.as_superuser() as source_connection, target.as_superuser() as target_connection:
        source_rows, target_rows = {}, {}
        for table in TABLES:
            columns = _columns(source_connection, table)
            source_rows[table.label] = _rows(source_connection, table.schema, table, columns)
            target_rows[table.label] = _rows(target_connection, TARGET_SCHEMA, table, columns)
        return Snapshot(source_rows, target_rows)


def wait_until_equal(source: DemoDatabase, target: DemoDatabase) -> Snapshot:
    """Waits until the target equals the source. Raises StepFailed, saying what differs, after the bound."""
    until = time.monotonic() + BOUND_SECONDS
    while (difference := (comparison := snapshot(source, target)).difference()) is not None:
        if time.monotonic() > until:
            raise StepFailed(expected=f"equal tables within {BOUND_SECONDS:.0f} s", actual=difference)
        time.sleep(0.5)
    return comparison


def _columns(connection: psycopg.Connection[Any], table: DemoTable) -> list[ComparedColumn]:
    """The columns as they are now: one is added while the demonstration runs."""
    rows = connection.execute(
        """
        SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
        WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum
        """,
        [Identifier(table.schema, table.name).as_string(connection)],
    )
    return [ComparedColumn(name=name, type=type_name) for name, type_name in rows]


def _rows(
    connection: psycopg.Connection[Any], schema: str, table: DemoTable, columns: Sequence[ComparedColumn]
) -> Rows:
    types = {column.name: column.type for column in columns}
    statement = SQL("SELECT {}::text, md5({}::text) FROM {}").format(
        _row(table.key, types), _row(list(types), types), Identifier(schema, table.name)
    )
    try:
        return dict(connection.execute(statement).fetchall())
    except (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn):
        return {}


def _row(names: Sequence[str], types: Mapping[str, str]) -> Composable:
    """A row of values, each as its type: a row's text tells NULL from empty text."""
    cast = SQL("CAST({} AS {})")
    values = [cast.format(Identifier(name), SQL(types[name])) for name in names]
    return SQL("ROW({})").format(SQL(", ").join(values))


def _sides(source: Rows, target: Rows) -> str:
    return f"{counted(len(source), 'row')} in the source, {len(target):,} in the target"


def _difference(source: Rows, target: Rows) -> str:
    kinds = {
        "missing": [key for key in source if key not in target],
        "too many": [key for key in target if key not in source],
        "different": [key for key in source if key in target and source[key] != target[key]],
    }
    return ", ".join(f"{len(keys)} {kind} such as {keys[0]}" for kind, keys in kinds.items() if keys)
