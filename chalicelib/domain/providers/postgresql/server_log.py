"""Whether a server's log still has what was captured from it: after a failover or a restore it may end earlier.

Facts: PostgreSQL documentation, 25.3.5 (timelines), 28.5 (WAL configuration), 54.4 (TIMELINE_HISTORY). A logical slot
that is read from a position beyond the end of the log gives no error: everything before that position is skipped
silently (measured with PostgreSQL 18.4 and Debezium 3.6).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from chalicelib.domain.monitoring.source_state import CapturedLog


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLog:
    """The log of the server that answers. Each part is null where the server does not tell.

    `end` is where it ends, in bytes: no position can be beyond it. It is null on a standby, which may get more.
    `timeline` is the number of the branch that is being written: each promotion and each restore to a point in time
    begins a new one. `switches` are the branches before it, each with the position where it was left. `started` is when
    the server was started, in seconds of its clock. `checkpoint` is the last one on this timeline: a server makes one
    when it stops, or before it serves again after a crash, so what it had before is not beyond that.
    """

    end: int | None = None
    timeline: int | None = None
    switches: Mapping[int, int] | None = None
    started: int | None = None
    checkpoint: int | None = None

    def lacks(self, position: int | None, known: CapturedLog) -> bool:
        """Whether this log does not have a position of the log that was `known`."""
        if position is None:
            return False
        return self.ends_before(position) or self._left_before(position, known) or self._began_before(position, known)

    def ends_before(self, position: int) -> bool:
        return self.end is not None and position > self.end

    def has_left(self, timeline: int | None) -> bool:
        """Whether another branch is written now."""
        return None not in (timeline, self.timeline) and timeline != self.timeline

    def _left_before(self, position: int, known: CapturedLog) -> bool:
        if known.timeline is None or self.switches is None or not self.has_left(known.timeline):
            return False
        # A branch that does not lead to this one: nothing says which part of it is here.
        return position > self.switches.get(known.timeline, 0)

    def _began_before(self, position: int, known: CapturedLog) -> bool:
        """Whether the server was started since then, with a log that ended before the position."""
        is_other_run = None not in (known.started, self.started) and known.started != self.started
        if self.checkpoint is None or not is_other_run or self.timeline != known.timeline:
            return False
        # One that has not moved is of a hosting provider with storage of its own, which makes none.
        return known.checkpoint not in (None, self.checkpoint) and position > self.checkpoint
