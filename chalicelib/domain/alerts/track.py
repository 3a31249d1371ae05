"""What is remembered of a fingerprint from one episode to the next: the active alert, and what its rules have sent."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

FORGOTTEN_AFTER = timedelta(days=30)
"""Without an episode. The first occurrence after that is the first again."""

FLAPPING_CHANGES = 6
FLAPPING_WITHIN = timedelta(minutes=30)
"""An alert that begins or ends so often in that time is flapping."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleLedger:
    """What one rule has done about a fingerprint.

    `anchor_at` is when its last firing message was queued and `anchor_rows` are that message's notifications: if all of
    them failed, nobody was reached and the cooldown does not count. `muted` episodes have been since, the last of them
    was `muted_episode`.
    """

    anchor_at: datetime | None = None
    anchor_rows: tuple[str, ...] = ()
    muted: int = 0
    muted_episode: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """One row for each fingerprint (`id`). `alert_id` is the active alert, None when there is none.

    `ended_at` is the last observation that was applied when the last episode ended: an older one comes too late.
    `changes` are the newest times at which it began or ended: many of them in half an hour are flapping.
    """

    id: str
    alert_id: str | None = None
    episode: int = 0
    ended_at: datetime | None = None
    changes: tuple[datetime, ...] = ()
    rules: Mapping[str, RuleLedger] = field(default_factory=dict)
    revision: int = 1
    created_at: datetime

    @property
    def flapping(self) -> bool:
        """Whether it has begun or ended too often, seen from the newest change."""
        return len(self.changes) >= FLAPPING_CHANGES

    def began(self, alert_id: str, at: datetime) -> "Track":
        """The track in a new episode. What the rules have done is forgotten after a long time."""
        forgotten = self.ended_at is not None and at - self.ended_at >= FORGOTTEN_AFTER
        return replace(
            self._changed(at),
            alert_id=alert_id,
            episode=self.episode + 1,
            rules={} if forgotten else self.rules,
        )

    def ended(self, at: datetime) -> "Track":
        """The track after the episode."""
        return replace(self._changed(at), alert_id=None, ended_at=at)

    def _changed(self, at: datetime) -> "Track":
        recent = tuple(change for change in self.changes if abs(at - change) <= FLAPPING_WITHIN)
        return replace(self, changes=(*recent, at)[-FLAPPING_CHANGES:])
