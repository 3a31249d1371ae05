"""What has changed at a resource: the newest 500 events of each, for thirty days.

Events are written with the change itself: those of incidents, alerts and schemas by its transaction, those of observed
states by the transaction of the tick.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from pynamodb.attributes import TTLAttribute, UnicodeAttribute

from chalicelib.domain.table import TableName
from chalicelib.domain.timeline.event import CHANGES, EntryKind, TimelineEvent
from chalicelib.domain.timeline.merge import EventsRead
from chalicelib.kit.adapters import adapter
from chalicelib.kit.clock import Deadline
from chalicelib.stores.batch_writer import delete, put, write_rows
from chalicelib.stores.tables import Table, meta, store_errors
from chalicelib.stores.transaction import Transaction
from chalicelib.stores.unreadable import read_row, readable

MAX_KEPT = 500
KEPT_FOR = timedelta(days=30)
_MAX_TRIMMED = 200
_FILTERED_ROWS = 1_000
"""Events of a source that one call reads to select those of some tables: each has 400 bytes, and a call reads 1 MB."""


class TimelineRow(Table):
    """One event. `resource` is a type and an id, `position` the key of the event, `body` its change as JSON."""

    Meta = meta("timeline")  # type: ignore[assignment]
    resource = UnicodeAttribute(hash_key=True)
    position = UnicodeAttribute(range_key=True)
    kind = UnicodeAttribute()
    body = UnicodeAttribute()
    expires_at = TTLAttribute(null=True)


class Timeline:
    """Events by resource: `pipeline/<id>`, `delivery/<id>`, `connect_cluster/<id>`, and schemas by `source/<id>`."""

    @staticmethod
    def rows(events: Iterable[TimelineEvent]) -> list[TimelineRow]:
        return [_row(event) for event in events]

    def add(self, transaction: Transaction, *events: TimelineEvent | None) -> None:
        """Write the events that there are with their change: one more item of the transaction for each."""
        for event in filter(None, events):
            # Without a condition: the change has one, and its event has a key of its own.
            transaction.put(_row(event), condition=None, label="timeline")

    def write(self, rows: Sequence[TimelineRow], deadline: Deadline) -> None:
        """Raises StoreUnavailable when the time is too short for all rows."""
        with store_errors():
            write_rows(TimelineRow, map(put, rows), deadline)

    def read(
        self,
        resource_type: str,
        resource_id: str,
        now: datetime,
        *,
        before: str | None = None,
        limit: int = MAX_KEPT,
        tables: Collection[TableName] | None = None,
    ) -> EventsRead:
        """The newest first, behind the key `before`: at least `limit` where there are so many. With `tables` only the
        changes of their schemas, out of a bounded number. One call.
        """
        keys = TimelineRow.position < before if before else None
        size = limit + 1 if tables is None else _FILTERED_ROWS
        with store_errors():
            found = TimelineRow.query(_key(resource_type, resource_id), keys, scan_index_forward=False, page_size=size)
            call: dict[str, Any] = next(found.page_iter, {})
            rows = [TimelineRow.from_raw_data(item) for item in call.get("Items", ())]
            goes_on = found.last_evaluated_key is not None
        events: Iterable[TimelineEvent] = readable((row for row in rows if row.expires_at > now), _event)
        if tables is not None:
            events = (event for event in events if getattr(event.change, "table", None) in tables)
        return EventsRead(tuple(events), rows[-1].position if goes_on and rows else None)

    def trim(self, row: TimelineRow, deadline: Deadline) -> None:
        """Remove the rows behind the newest `MAX_KEPT` of this row's resource, at most `_MAX_TRIMMED`."""
        resource, limit = row.resource, MAX_KEPT + _MAX_TRIMMED
        with store_errors():
            rows = TimelineRow.query(
                resource, scan_index_forward=False, attributes_to_get=["resource", "position"], limit=limit
            )
            older = (delete(TimelineRow(resource, row.position)) for row in islice(rows, MAX_KEPT, None))
            write_rows(TimelineRow, older, deadline)


def _row(event: TimelineEvent) -> TimelineRow:
    change_type: Any = CHANGES[event.kind]
    return TimelineRow(
        _key(event.resource_type, event.resource_id),
        event.key,
        kind=event.kind,
        body=adapter(change_type).dump_json(event.change).decode(),
        expires_at=event.at + KEPT_FOR,
    )


def _event(row: TimelineRow) -> TimelineEvent:
    row_id = f"{row.resource}/{row.position}".replace("/", ":")
    event: TimelineEvent = read_row("timeline_event", row_id, lambda: _parsed(row))
    return event


def _parsed(row: TimelineRow) -> TimelineEvent:
    resource_type, _, resource_id = row.resource.partition("/")
    kind, (at, _, event_id) = EntryKind(row.kind), row.position.split("#", 2)
    return TimelineEvent(
        resource_type=resource_type,
        resource_id=resource_id,
        at=datetime.fromisoformat(at),
        kind=kind,
        id=event_id,
        change=adapter(CHANGES[kind]).validate_json(row.body),
    )


def _key(resource_type: str, resource_id: str) -> str:
    return f"{resource_type}/{resource_id}"
