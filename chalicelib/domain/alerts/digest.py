"""Which of the waiting notifications of a channel the next message is about: one, or many of them in a digest."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from chalicelib.domain.alerts.notification import Notification
from chalicelib.kit.ids import id_from

DIGEST_ABOVE = 10
"""When more notifications than this are due, one message is about many of them."""

MAX_LINES = 50
MAX_ROWS = 90
"""Notifications of one message: they are settled in one transaction, which has at most 100 items."""

COLLECT_FOR = timedelta(minutes=1)
"""How long a rule that sends digests only collects for the next one."""

DELAYED_AFTER = timedelta(hours=1)
EARLY = timedelta(seconds=2)
"""A wake-up may come so much too early. Nothing is sent before it is due."""


@dataclass(frozen=True, slots=True)
class Line:
    """One alert: a notification, and the recovery that is said in the same line."""

    row: Notification
    recovery: Notification | None = None

    @property
    def rows(self) -> tuple[Notification, ...]:
        return (self.row, self.recovery) if self.recovery else (self.row,)


@dataclass(frozen=True, slots=True, kw_only=True)
class NextMessage:
    """What is sent next, when it is due (None: at once), and how many others that are due too it leaves for later."""

    lines: tuple[Line, ...]
    digest_id: str | None
    due_at: datetime | None
    waiting: int

    @property
    def rows(self) -> tuple[Notification, ...]:
        return tuple(row for line in self.lines for row in line.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingNotifications:
    """Open notifications of one channel. `firing` are the messages that recoveries follow, by id.

    `digests`: the provider takes them. `digest_only` says whether all rules of a notification may send nothing else.
    `probing`: the provider seems to be down.
    """

    rows: Sequence[Notification]
    firing: Mapping[str, Notification]
    digests: bool
    digest_only: Callable[[Notification], bool]
    probing: bool = False

    def next(self, now: datetime) -> NextMessage | None:
        """The next message; None when nothing is due."""
        due = sorted(self._due(now), key=_urgency)
        first = [row for row in due if not self._follows(row)]
        if not first:
            return None
        if self.probing:  # the one that was tried least often, so that an outage uses up the attempts of none
            return _message([Line(min(first, key=lambda row: row.attempts))], None, due)
        if again := first[0].digest_id:  # the same message as before, so that people recognise it
            return _message(list(self._lines(first, due, again)), again, due)
        if self.digests and (len(due) > DIGEST_ABOVE or self.digest_only(first[0])):
            # The id follows from the alerts: a worker that dies before it has stored it makes the same digest again.
            lines = list(self._lines(first, due, None))
            return _message(lines, id_from("digest", *(line.row.id for line in lines)), due)
        return _message([Line(first[0])], None, due)

    def _due(self, now: datetime) -> Iterator[Notification]:
        """Those that may be sent: not claimed, and not collected for a digest."""
        collected = {row.id: row.created_at for row in self.rows if self.digests and self.digest_only(row)}
        # From the oldest on: none waits for longer than that.
        begun = min(collected.values(), default=now) + COLLECT_FOR
        for row in self.rows:
            if is_due(row, now) and (row.id not in collected or begun <= now + EARLY):
                yield row

    def _follows(self, row: Notification) -> bool:
        """Whether it is a recovery whose firing message has not ended yet."""
        firing = self.firing.get(row.after_id) if row.after_id else None
        return firing is not None and firing.status.is_open

    def _lines(
        self, first: Sequence[Notification], due: Sequence[Notification], digest_id: str | None
    ) -> Iterator[Line]:
        """Lines of a digest: as many as it may have. A recovery is said in the line of what it follows."""
        of_digest = [row for row in due if row.digest_id == digest_id]
        recoveries = {row.after_id: row for row in of_digest if self._follows(row)}
        rows = 0
        for row in [row for row in first if row.digest_id == digest_id][:MAX_LINES]:
            line = Line(row, recoveries.get(row.id))
            rows += len(line.rows)
            # A line is there with both of its notifications, or not at all: both are settled in one transaction.
            if rows > MAX_ROWS:
                return
            yield line


def is_due(row: Notification, now: datetime) -> bool:
    """Whether its time has come, or comes in a moment. It has not while a worker has claimed it."""
    # Who has queued it may have had a clock that was ahead: the first attempt is due at once, whatever its time.
    return row.attempts == 0 or max(row.next_attempt_at, row.lease_until or row.next_attempt_at) <= now + EARLY


def is_delayed(row: Notification, now: datetime) -> bool:
    """Whether it has waited so long that the message says so."""
    return now - row.created_at >= DELAYED_AFTER


def _urgency(row: Notification) -> tuple[int, float]:
    """Critical first; newest first within a severity."""
    return row.content.severity.rank, -row.created_at.timestamp()


def _message(lines: Sequence[Line], digest_id: str | None, due: Sequence[Notification]) -> NextMessage:
    rows = [row for line in lines for row in line.rows]
    return NextMessage(
        lines=tuple(lines),
        digest_id=digest_id,
        due_at=max((row.next_attempt_at for row in rows if row.attempts), default=None),
        waiting=len(due) - len(rows),
    )
