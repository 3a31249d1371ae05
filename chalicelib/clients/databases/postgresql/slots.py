"""Drops replication slots, and makes those again that a server has lost."""

import time
from typing import TYPE_CHECKING, LiteralString

from chalicelib.domain.release import ReleaseState
from chalicelib.kit.clock import Deadline

if TYPE_CHECKING:
    from chalicelib.clients.databases.postgresql.session import DatabaseSession

_SLOT: LiteralString = """
SELECT active, slot_type = 'logical' AND database = current_database() AND NOT temporary
  FROM pg_replication_slots WHERE slot_name = %s LIMIT %s
"""
_DROP: LiteralString = """
SELECT pg_drop_replication_slot(slot_name) IS NULL FROM pg_replication_slots
 WHERE slot_name = %s AND NOT active AND slot_type = 'logical' AND database = current_database() LIMIT %s
"""
"""PostgreSQL allows this in a read-only transaction, and it is not undone with the transaction."""

_POSITION: LiteralString = """
SELECT active, slot_type = 'logical' AND database = current_database() AND NOT temporary,
       to_jsonb(s) ->> 'wal_status' IS NOT DISTINCT FROM 'lost', (confirmed_flush_lsn - '0/0'::pg_lsn)::bigint
  FROM pg_replication_slots s WHERE slot_name = %s LIMIT %s
"""
_CREATE: LiteralString = """
SELECT (lsn - '0/0'::pg_lsn)::bigint FROM pg_create_logical_replication_slot(%s, 'pgoutput') LIMIT %s
"""
_CREATE_FOR_FAILOVER: LiteralString = """
SELECT (lsn - '0/0'::pg_lsn)::bigint
  FROM pg_create_logical_replication_slot(%s, 'pgoutput', failover => true) LIMIT %s
"""
"""PostgreSQL allows these in a read-only transaction, too."""

_WITH_FAILOVER = 170000

_PAUSE_SECONDS = 0.25


def drop_slot(session: "DatabaseSession", name: str, deadline: Deadline) -> ReleaseState:
    """Try to drop the slot until it is gone, is not ours, or the deadline has passed. Raises DatabaseFailure."""
    while True:
        rows = session.rows(_SLOT, [name], max_rows=1)
        if not rows:
            return ReleaseState.RELEASED
        active, is_ours = rows[0]
        if not is_ours:
            return ReleaseState.NOT_OURS
        if not active:
            session.rows(_DROP, [name], max_rows=1)
        elif deadline.remaining() <= _PAUSE_SECONDS:
            return ReleaseState.IN_USE
        else:
            # The server notices a little later that a reader has gone.
            time.sleep(_PAUSE_SECONDS)


def position_to_continue_at(
    session: "DatabaseSession", name: str, deadline: Deadline, *, failover: bool, may_drop: bool
) -> int | None:
    """Where a reader of the slot goes on; a slot that is gone or lost is made again, and begins now. With `failover`
    standbys get copies of it, from PostgreSQL 17 on.

    None when something reads from it until the deadline, when it is not a slot of this database, or when it is lost and
    not `may_drop`. Raises DatabaseFailure.
    """
    while True:
        rows = session.rows(_POSITION, [name], max_rows=1)
        if not rows:
            copied = failover and session.connection.info.server_version >= _WITH_FAILOVER
            return int(session.rows(_CREATE_FOR_FAILOVER if copied else _CREATE, [name], max_rows=1)[0][0])
        active, is_ours, is_lost, position = rows[0]
        if not is_ours or (is_lost and not may_drop):
            return None
        if not active and not is_lost:
            return int(position)
        if not active:
            session.rows(_DROP, [name], max_rows=1)
        elif deadline.remaining() <= _PAUSE_SECONDS:
            return None
        else:
            time.sleep(_PAUSE_SECONDS)
