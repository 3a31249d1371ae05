"""Reads who is in the way of sessions that wait for locks on target tables, from MySQL 8.0 on: for rows in
`data_lock_waits`, for tables and the whole server in `metadata_locks`, both of the schema performance_schema.

An account needs the right to read that schema; without it, it sees only that sessions of its own wait.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, LiteralString

from chalicelib.clients.databases.mysql.errors import Refused
from chalicelib.domain.monitoring.lock_waits import Blocker, LockWait, safe_name, waits_by_table
from chalicelib.domain.table import TableName

if TYPE_CHECKING:
    from chalicelib.clients.databases.mysql.connection import Row
    from chalicelib.clients.databases.mysql.session import MySQLSession

_MAX_ROWS = 100
RIGHTS = "SELECT on performance_schema.*"

# Which locks exclude writes: MySQL 8.0 source, sql/mdl.cc, matrices of scoped and object locks. Behind a statement that
# waits for one of them new writes wait as well, and it waits for everybody who has used the table in a transaction.
# The application is what the client of the session says of itself. A session that has locked tables without a
# transaction has only the time since its last statement.
_LOCK_WAITS: LiteralString = """
WITH locks AS (
    SELECT OBJECT_TYPE, OBJECT_SCHEMA, OBJECT_NAME, OWNER_THREAD_ID, LOCK_STATUS, LOCK_TYPE IN (
        'EXCLUSIVE', 'SHARED_NO_READ_WRITE', 'SHARED_NO_WRITE', 'SHARED_READ_ONLY', 'SHARED') AS excludes
    FROM performance_schema.metadata_locks
), waits (table_schema, table_name, waiter, blocker, waits_too, excludes) AS (
    SELECT p.OBJECT_SCHEMA, IF(p.OBJECT_TYPE = 'TABLE', p.OBJECT_NAME, NULL), p.OWNER_THREAD_ID, g.OWNER_THREAD_ID,
           EXISTS (SELECT 1 FROM locks o WHERE o.OWNER_THREAD_ID = g.OWNER_THREAD_ID AND o.LOCK_STATUS = 'PENDING'),
           g.excludes
    FROM locks p JOIN locks g ON g.OBJECT_TYPE = p.OBJECT_TYPE AND g.OBJECT_SCHEMA <=> p.OBJECT_SCHEMA
         AND g.OBJECT_NAME <=> p.OBJECT_NAME AND g.OWNER_THREAD_ID <> p.OWNER_THREAD_ID
    WHERE p.LOCK_STATUS = 'PENDING' AND (g.excludes OR (g.LOCK_STATUS = 'GRANTED' AND EXISTS (
        SELECT 1 FROM locks e WHERE e.OBJECT_TYPE = p.OBJECT_TYPE AND e.OBJECT_SCHEMA <=> p.OBJECT_SCHEMA
        AND e.OBJECT_NAME <=> p.OBJECT_NAME AND e.LOCK_STATUS = 'PENDING' AND e.excludes)))
    UNION ALL
    SELECT l.OBJECT_SCHEMA, l.OBJECT_NAME, w.REQUESTING_THREAD_ID, w.BLOCKING_THREAD_ID, EXISTS (
        SELECT 1 FROM performance_schema.data_lock_waits o WHERE o.REQUESTING_THREAD_ID = w.BLOCKING_THREAD_ID), 1
    FROM performance_schema.data_lock_waits w
    JOIN performance_schema.data_locks l ON l.ENGINE_LOCK_ID = w.REQUESTING_ENGINE_LOCK_ID
)
SELECT w.table_schema, w.table_name, t.PROCESSLIST_ID, (
           SELECT ATTR_VALUE FROM performance_schema.session_connect_attrs a
           WHERE a.PROCESSLIST_ID = t.PROCESSLIST_ID AND ATTR_NAME IN ('program_name', '_client_name')
           ORDER BY ATTR_NAME DESC LIMIT 1),
       t.PROCESSLIST_USER,
       IF(t.PROCESSLIST_COMMAND = 'Sleep', IF(x.THREAD_ID IS NULL, 'idle', 'idle in transaction'),
          LOWER(t.PROCESSLIST_COMMAND)),
       DATE_SUB(UTC_TIMESTAMP(), INTERVAL COALESCE(ROUND(x.TIMER_WAIT / 1000000000000), t.PROCESSLIST_TIME) SECOND)
FROM waits w
JOIN performance_schema.threads r ON r.THREAD_ID = w.waiter AND r.PROCESSLIST_USER = %s
JOIN performance_schema.threads t ON t.THREAD_ID = w.blocker
LEFT JOIN performance_schema.events_transactions_current x ON x.THREAD_ID = t.THREAD_ID AND x.STATE = 'ACTIVE'
ORDER BY w.waits_too, w.excludes DESC, t.THREAD_ID LIMIT 100
"""

_OWN_SESSIONS: LiteralString = (
    "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = %s AND ID <> CONNECTION_ID()"
    " AND STATE LIKE 'Waiting for%%lock'"
)


def read(
    session: "MySQLSession", targets: Sequence[TableName], at: datetime, username: str, secrets: Sequence[str]
) -> list[LockWait]:
    """One for each table. Those who wait for nobody come first: to end them helps."""
    rows = _rows(session, username)
    if not rows and _own_sessions_wait(session, username):
        return [LockWait(seen_at=at, rights=RIGHTS)]
    return waits_by_table(_found(rows, targets, secrets), at)


def _found(
    rows: "Sequence[Row]", targets: Sequence[TableName], secrets: Sequence[str]
) -> Iterator[tuple[TableName | None, Blocker]]:
    """Each blocker with the target table whose lock it holds; None: its lock is on more than a table."""
    names = {_folded(name.schema_name, name.table_name): name for name in targets}
    for row in rows:
        schema_name, table_name, *_ = row
        table = names.get(_folded(schema_name, table_name)) if table_name else None
        if table or not table_name:  # else it is a table of somebody else
            yield table, _blocker(row, secrets)


def _rows(session: "MySQLSession", username: str) -> "Sequence[Row]":
    try:
        return session.rows(_LOCK_WAITS, [username], max_rows=_MAX_ROWS)
    except Refused:  # the account may not read it, or the server does not have it
        return []


def _own_sessions_wait(session: "MySQLSession", username: str) -> bool:
    return bool(session.row(_OWN_SESSIONS, [username])[0])


def _blocker(row: "Row", secrets: Sequence[str]) -> Blocker:
    _, _, process_id, application, user, state, since = row
    return Blocker(
        session=int(process_id),
        ending=f"KILL {int(process_id)};",
        application=safe_name(application, secrets),
        user=safe_name(user, secrets),
        state=safe_name(state),
        since=since.replace(tzinfo=UTC) if isinstance(since, datetime) else None,
    )


def _folded(schema_name: str | None, table_name: str | None) -> tuple[str, str]:
    return (schema_name or "").lower(), (table_name or "").lower()
