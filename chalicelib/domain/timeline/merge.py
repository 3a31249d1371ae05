"""One page of a timeline, merged from what was read of each of its sources."""

from collections.abc import Sequence
from dataclasses import dataclass

from chalicelib.domain.timeline.entry import TimelineEntry
from chalicelib.domain.timeline.event import TimelineEvent
from chalicelib.domain.timeline.operations import TrailPart
from chalicelib.kit.pages import Page

_SEPARATOR = "\n"
_BEHIND = "~"
"""Behind every position of a time: its records are read again."""
_END_OF_TRAIL = "0"
"""Before every position."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a timeline goes on: behind the entry with this key. The audit trail is read behind another position, as an
    operation stands at the time of its request, and its newest record is later.
    """

    key: str
    trail: str

    def __str__(self) -> str:
        return f"{self.key}{_SEPARATOR}{self.trail}"

    @staticmethod
    def of(text: str) -> "Place":
        key, _, trail = text.partition(_SEPARATOR)
        return Place(key, trail)


@dataclass(frozen=True, slots=True)
class EventsRead:
    """Events of one source of a timeline, newest first. Those with smaller keys than `horizon` were not read; None: all
    were.
    """

    events: Sequence[TimelineEvent] = ()
    horizon: str | None = None


def merged_page(
    events: Sequence[EventsRead], operations: TrailPart, *, limit: int, after: Place | None
) -> Page[TimelineEntry]:
    """The newest entries behind `after`, at most `limit`, without those that an unread one might precede."""
    horizon = max(filter(None, (operations.horizon, *(part.horizon for part in events))), default=None)
    entries = [TimelineEntry.of(event) for part in events for event in part.events]
    entries += [operation.entry for operation in operations.entries]
    complete = [
        entry
        for entry in sorted(entries, key=lambda entry: entry.key, reverse=True)
        if (after is None or entry.key < after.key) and (horizon is None or entry.key >= horizon)
    ]
    shown = complete[:limit]
    keys = tuple(str(Place(entry.key, _trail(operations, entry.key))) for entry in shown)
    if len(complete) > limit or horizon is None:
        return Page(tuple(shown), keys, more=len(complete) > limit)
    return Page(tuple(shown), keys, more=True, last_key=str(Place(horizon, _trail(operations, horizon))))


def _trail(operations: TrailPart, key: str) -> str:
    """Where the audit trail is read for the entries behind this key."""
    behind = [operation.newest for operation in operations.entries if operation.entry.key < key]
    newest = max(filter(None, (*behind, operations.rest)), default=None)
    return f"{newest}{_BEHIND}" if newest else _END_OF_TRAIL
