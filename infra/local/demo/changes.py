"""Two hundred changes to the source of a demonstration, of kinds that are easily lost or changed on the way."""

from dataclasses import dataclass
from typing import Any

import psycopg

from infra.local.demo.data import TABLES, DemoDatabase, DemoTable, insert
from infra.local.demo.report import require

_CUSTOMERS, _LINES, *_ = TABLES


@dataclass(frozen=True, kw_only=True)
class Insert:
    """New rows, numbered first to last."""

    table: DemoTable
    first: int
    last: int

    @property
    def rows(self) -> int:
        return self.last - self.first + 1


@dataclass(frozen=True, kw_only=True)
class Statement:
    """One statement in a transaction of its own, and how many rows it has to change."""

    rows: int
    sql: str


CHANGES: tuple[Insert | Statement, ...] = (
    Insert(table=_CUSTOMERS, first=601, last=660),
    Insert(table=_LINES, first=401, last=420),
    Statement(
        rows=50,
        sql="UPDATE customers SET \"Guthaben €\" = id * 0.01, name = 'geändert 🎈 ' || id WHERE id BETWEEN 1 AND 50",
    ),
    Statement(
        rows=20, sql='UPDATE "select" SET "group" = -1 WHERE "from" IN (SELECT \'straße \' || generate_series(1, 20))'
    ),
    Statement(rows=25, sql="DELETE FROM customers WHERE id BETWEEN 551 AND 575"),
    Statement(rows=11, sql='DELETE FROM "Verkauf Süd"."Order Lines" WHERE "order" BETWEEN 101 AND 111'),
    Statement(rows=3, sql="UPDATE customers SET note = '' WHERE id IN (300, 303, 306) AND note IS NULL"),
    Statement(rows=3, sql="UPDATE customers SET note = NULL WHERE id IN (301, 304, 307) AND note = ''"),
    Statement(
        rows=1,
        sql="""
            UPDATE documents SET body = (SELECT left(string_agg(md5(g::text), 'é'), 900000)
                                         FROM generate_series(1, 30000) g)
            WHERE title = 'Akte № 7'
        """,
    ),
    # The large value is left untouched, so the change log does not carry it.
    Statement(rows=1, sql="UPDATE documents SET checked = true WHERE title = 'Akte № 7'"),
    Statement(
        rows=2,
        sql="""
            UPDATE "Verkauf Süd"."Order Lines" SET "Order No" = "Order No" + 7000000000, "Line" = "Line" + 90
            WHERE "order" IN (201, 202)
        """,
    ),
)
NEW_COLUMN = 'ALTER TABLE customers ADD COLUMN "späte Spalte" text'
AFTER_NEW_COLUMN = Statement(rows=4, sql="UPDATE customers SET \"späte Spalte\" = 'да' WHERE id BETWEEN 401 AND 404")
COUNT = sum(change.rows for change in CHANGES) + AFTER_NEW_COLUMN.rows


def make_changes(source: DemoDatabase) -> int:
    """Makes all changes; returns the number of rows. Raises StepFailed when a change has another number of rows."""
    with source.as_superuser() as connection:
        rows = sum(_make(connection, change) for change in CHANGES)
        connection.execute(NEW_COLUMN)
        return rows + _make(connection, AFTER_NEW_COLUMN)


def _make(connection: psycopg.Connection[Any], change: Insert | Statement) -> int:
    if isinstance(change, Insert):
        count = insert(connection, change.table, change.first, change.last)
        statement = f"INSERT INTO {change.table.label}"
    else:
        count = connection.execute(change.sql.encode()).rowcount
        statement = " ".join(change.sql.split())
    require(count == change.rows, expected=f"{change.rows} changed rows from {statement}", actual=count)
    return count
