"""Reads who is in the way of sessions that wait for locks on target tables (`pg_locks`, `pg_blocking_pids`)."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from chalicelib.clients.databases.postgresql import catalog
from chalicelib.domain.monitoring.lock_waits import Blocker, LockWait, safe_name, waits_by_table
from chalicelib.domain.table import TableName

if TYPE_CHECKING:
    from chalicelib.clients.databases.postgresql.session import DatabaseSession, Row

_MAX_ROWS = 100

# Sessions of this user that wait, on whatever, and have or await a lock on a target; and those who block them, directly
# or through others that wait themselves (PostgreSQL, pg_blocking_pids). The table is the awaited one, else that of the
# awaited row, else one that both have locked: a row of a transaction is awaited by the number of the transaction.
LOCK_WAITS = """
WITH RECURSIVE locks AS (
    SELECT pid, locktype, relation, granted FROM pg_locks
    WHERE database IS NULL OR database IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
), targets AS (
    SELECT c.oid, n.nspname::text AS schema_name, c.relname::text AS table_name
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN unnest(%s::text[], %s::text[]) AS named (schema_name, table_name)
      ON n.nspname = named.schema_name AND c.relname = named.table_name
), waiting AS (
    SELECT DISTINCT l.pid FROM locks l JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE NOT l.granted AND a.usename = current_user AND a.pid <> pg_backend_pid()
      AND EXISTS (SELECT FROM locks o JOIN targets t ON t.oid = o.relation WHERE o.pid = l.pid)
    LIMIT 20
), chain (waiter, pid, depth) AS (
    SELECT w.pid, b.pid, 1 FROM waiting w CROSS JOIN LATERAL unnest(pg_blocking_pids(w.pid)) AS b (pid)
    UNION
    SELECT c.waiter, b.pid, c.depth + 1 FROM chain c CROSS JOIN LATERAL unnest(pg_blocking_pids(c.pid)) AS b (pid)
    WHERE c.depth < 5 AND c.pid <> 0
)
SELECT t.schema_name, t.table_name, c.pid, a.application_name::text, a.usename::text, a.state::text, a.xact_start
FROM chain c LEFT JOIN pg_stat_activity a ON a.pid = c.pid
CROSS JOIN LATERAL (
    SELECT t.schema_name, t.table_name FROM locks l JOIN targets t ON t.oid = l.relation
    WHERE l.pid = c.waiter
    ORDER BY l.granted, l.locktype = 'tuple' DESC,
             EXISTS (SELECT FROM locks o WHERE o.pid = c.pid AND o.relation = l.relation) DESC, t.table_name
    LIMIT 1
) t
ORDER BY EXISTS (SELECT FROM locks l WHERE l.pid = c.pid AND NOT l.granted), c.depth, a.xact_start, c.pid LIMIT %s
"""


def read(
    session: "DatabaseSession", targets: Sequence[TableName], at: datetime, secrets: Sequence[str]
) -> list[LockWait]:
    """One for each table. Those who wait for nobody come first: to end them helps."""
    rows = session.rows(LOCK_WAITS, catalog.names_of(targets), max_rows=_MAX_ROWS)
    return waits_by_table(((TableName(row[0], row[1]), _blocker(row, secrets)) for row in rows), at)


def _blocker(row: "Row", secrets: Sequence[str]) -> Blocker:
    _, _, process_id, application, user, state, since = row
    # A prepared transaction has no session: its number is 0.
    session = process_id if isinstance(process_id, int) and process_id > 0 else None
    return Blocker(
        session=session,
        ending=f"SELECT pg_terminate_backend({session});" if session else None,
        application=safe_name(application, secrets),
        user=safe_name(user, secrets),
        state=safe_name(state),
        since=since if isinstance(since, datetime) else None,
    )
