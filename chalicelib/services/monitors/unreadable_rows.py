"""Rows that this release cannot read: noted by the process that meets one, reported until it can be read."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from chalicelib.domain.monitoring.unreadable_rows import UNREADABLE_ROWS, unreadable_row
from chalicelib.errors import StoreUnavailable
from chalicelib.kit.bounded import Bounded
from chalicelib.kit.clock import Clock
from chalicelib.kit.unreadable import Unreadable, log_unreadable
from chalicelib.services.monitors.reports import MonitorReports
from chalicelib.stores.documents import Documents, batch_read
from chalicelib.stores.monitoring.unreadable_notes import LAPSES_AFTER, UnreadableNote, UnreadableNotes

MAX_REPORTED = 100
"""Rows that have an incident at once. Of more, each has its line in the log."""

_MAX_WRITTEN = 10
"""Notes that one request or message writes. The next ones write the others."""

_MET_AGAIN_AFTER = timedelta(minutes=10)
"""A process writes the same note again only after so long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableRows:
    """`readers` are the stores that the schedule may read, by the kind of their rows."""

    store: UnreadableNotes
    readers: Mapping[str, Documents[Any]]
    reports: MonitorReports
    clock: Clock
    _written: Bounded[tuple[str, str], datetime] = field(default_factory=lambda: Bounded(1_000))

    def note(self, rows: Iterable[Unreadable]) -> None:
        """Store that these cannot be read, with a line in the log for each that nobody has noted. Never raises: what
        was asked for does not depend on it.
        """
        now = self.clock()
        fresh = (row for row in rows if self._is_fresh(row, now))
        for row in islice(fresh, _MAX_WRITTEN):
            try:
                is_news = self.store.write(row, now)
            except StoreUnavailable:
                log_unreadable(row)
                return  # each try may take seconds
            self._written[row.kind, row.id] = now
            if is_news:
                log_unreadable(row)

    def check(self) -> int:
        """Report those that still cannot be read, and forget the others; how many there are.

        What the schedule may not read, such as users, counts as unreadable for a day after a process has met it.
        Raises StoreUnavailable.
        """
        now, notes = self.clock(), self.store.list(MAX_REPORTED)
        if not notes:
            return 0
        lost = self._unreadable(notes, now)
        conditions = [unreadable_row(note.kind, note.row_id) for note in lost]
        if self.reports.publish(UNREADABLE_ROWS, now, conditions):
            for note in notes:
                if note not in lost:
                    self.store.remove(note)
        return len(lost)

    def _is_fresh(self, row: Unreadable, now: datetime) -> bool:
        written_at = self._written.get((row.kind, row.id))
        return written_at is None or now - written_at >= _MET_AGAIN_AFTER

    def _unreadable(self, notes: Sequence[UnreadableNote], now: datetime) -> list[UnreadableNote]:
        known = [note for note in notes if note.kind in self.readers]
        rows = batch_read(*((self.readers[note.kind], note.row_id) for note in known))
        read = zip(known, rows, strict=True)
        lost = {note for note, row in read if row is not None and not self.readers[note.kind].is_whole(row)}
        lost |= {note for note in notes if note.kind not in self.readers and now - note.met_at < LAPSES_AFTER}
        return [note for note in notes if note in lost]
