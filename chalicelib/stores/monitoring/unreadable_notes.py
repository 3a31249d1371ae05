"""Notes of rows that some process could not read, until the schedule has seen that they can be read again."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from pynamodb.exceptions import UpdateError

from chalicelib.kit.unreadable import Unreadable
from chalicelib.stores.counts import CountRow
from chalicelib.stores.tables import is_condition_failure, store_errors

_KIND = "unreadable"
_WRITTEN_AGAIN_AFTER = timedelta(hours=12)
LAPSES_AFTER = 2 * _WRITTEN_AGAIN_AFTER
"""Of a row that the schedule may not read: it counts as unreadable for so long after a process has met it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableNote:
    """A row, by its kind and its id; `met_at` is when a process could not read it last."""

    kind: str
    row_id: str
    met_at: datetime


class UnreadableNotes:
    """Rows of the table of counts. Raises StoreUnavailable."""

    @staticmethod
    def write(row: Unreadable, now: datetime) -> bool:
        """Store that it was met; whether that is news: there was no note of it, or an old one."""
        column = CountRow.at
        is_news = column.does_not_exist() | (column < now - _WRITTEN_AGAIN_AFTER)
        with store_errors():
            try:
                CountRow(_KIND, f"{row.kind}/{row.id}").update([column.set(now)], condition=is_news)
            except UpdateError as error:
                if not is_condition_failure(error):
                    raise
                return False
        return True

    @staticmethod
    def list(limit: int) -> Sequence[UnreadableNote]:
        with store_errors():
            rows = CountRow.query(_KIND, limit=limit)
            named = [(row.part.split("/", 1), row.at) for row in rows]
        return [UnreadableNote(kind=kind, row_id=row_id, met_at=at) for (kind, row_id), at in named]

    @staticmethod
    def remove(note: UnreadableNote) -> None:
        """A process that meets the row later writes it again."""
        with store_errors():
            CountRow(_KIND, f"{note.kind}/{note.row_id}").delete()
