"""What is remembered of a fingerprint from one episode to the next: the active alert, and what its rules have sent."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleLedger:
    """What one rule has done about a fingerprint.

    `anchor_at` is when its last firing message was queued and `anchor_rows` are that message's notifications: if all of
    them failed, nobody was reached and the cooldown does not count. `muted` episodes have been since.
    """

    anchor_at: datetime | None = None
    anchor_rows: tuple[str, ...] = ()
    muted: int = 0


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
