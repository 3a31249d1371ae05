"""Dropping the replication slot of a pipeline that is being deleted."""

from collections.abc import Mapping
from dataclasses import dataclass

from chalicelib.clients.databases.contract import SlotState
from chalicelib.domain.access import RequestContext
from chalicelib.domain.source import Source
from chalicelib.errors import HeadgateError, StoreUnavailable
from chalicelib.kit.clock import Deadline
from chalicelib.services.client_factory import ClientFactory

_WAIT_SECONDS = 8.0
"""A deleted Debezium connector lets go of its slot within five seconds, unless it is in the middle of a transaction."""

_SETTLE_SECONDS = 5.0
"""What the request needs afterwards."""

_WHY_NOT: Mapping[SlotState, str] = {
    SlotState.IN_USE: "Something still reads from the slot, so it was not dropped.",
    SlotState.NOT_OURS: "The slot of this name is not a logical slot of this database, so it was not dropped.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotRemoval:
    """Drops slots."""

    clients: ClientFactory

    def drop(self, context: RequestContext, source: Source, slot: str) -> str | None:
        """Drop the slot; None when it is gone, else a sentence about why it is not. Raises StoreUnavailable."""
        seconds = min(_WAIT_SECONDS, max(1.0, context.deadline.remaining() - _SETTLE_SECONDS))
        try:
            state = self.clients.database(source.endpoint).drop_slot(slot, Deadline.after(seconds))
        except StoreUnavailable:
            raise
        except HeadgateError as error:
            return f"Headgate does not know whether the slot was dropped. {error.message}"
        return _WHY_NOT.get(state)
