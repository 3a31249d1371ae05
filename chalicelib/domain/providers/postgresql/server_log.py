"""Whether a server's log still has what was captured from it: after a failover or a restore it may end earlier.

Facts: PostgreSQL documentation, 25.3.5 (timelines) and 54.4 (IDENTIFY_SYSTEM, TIMELINE_HISTORY). A logical slot that is
read from a position beyond the end of the log gives no error: everything before that position is skipped silently
(measured with PostgreSQL 18.4 and Debezium 3.6).
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLog:
    """The log of the server that answers. Each part is null where the server does not tell.

    `end` is where it ends, in bytes: no position can be beyond it. It is null on a standby, which may get more.
    `timeline` is the number of the branch that is being written: each promotion and each restore to a point in time
    begins a new one. `switches` are the branches before it, each with the position where it was left.
    """

    end: int | None = None
    timeline: int | None = None
    switches: Mapping[int, int] | None = None

    def lacks(self, position: int | None, timeline: int | None) -> bool:
        """Whether this log does not have what was captured up to the position, on this timeline (None: not known)."""
        if position is None:
            return False
        return self.ends_before(position) or self._left_before(position, timeline)

    def ends_before(self, position: int) -> bool:
        return self.end is not None and position > self.end

    def _left_before(self, position: int, timeline: int | None) -> bool:
        if timeline is None or not self.has_left(timeline) or self.switches is None:
            return False
        # A branch that does not lead to this one: nothing says which part of it is here.
        return position > self.switches.get(timeline, 0)

    def has_left(self, timeline: int | None) -> bool:
        """Whether another branch is written now."""
        return None not in (timeline, self.timeline) and timeline != self.timeline
