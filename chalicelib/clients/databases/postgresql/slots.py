"""Dropping a replication slot."""

import time
from typing import TYPE_CHECKING, LiteralString

from chalicelib.clients.databases.contract import SlotState
from chalicelib.kit.clock import Deadline

if TYPE_CHECKING:
    from chalicelib.clients.databases.postgresql.session import Session

_SLOT: LiteralString = """
SELECT active, slot_type = 'logical' AND database = current_database() AND NOT temporary
  FROM pg_replication_slots WHERE slot_name = %s
"""
_DROP: LiteralString = """
SELECT pg_drop_replication_slot(slot_name) IS NULL FROM pg_replication_slots
 WHERE slot_name = %s AND NOT active AND slot_type = 'logical' AND database = current_database()
"""
"""PostgreSQL allows this in a read-only transaction, and it is not undone with the transaction."""

_PAUSE_SECONDS = 0.25


def drop_slot(session: "Session", name: str, deadline: Deadline) -> SlotState:
    """Look at the slot until it is gone, cannot be dropped, or the time is up. Raises DatabaseFailure."""
    while True:
        found = session.rows(_SLOT, [name], most=1)
        if not found:
            return SlotState.GONE
        active, ours = found[0]
        if not ours:
            return SlotState.NOT_OURS
        if not active:
            session.rows(_DROP, [name], most=1)
        elif deadline.remaining() <= _PAUSE_SECONDS:
            return SlotState.IN_USE
        else:
            time.sleep(_PAUSE_SECONDS)
