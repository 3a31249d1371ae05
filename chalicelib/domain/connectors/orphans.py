"""Orphans: connectors with a name of ours that no pipeline or delivery of this cluster needs.

Other installations of Headgate on the same workers use the same kind of names, so the owner of an orphan has to be
looked up: the result is remembered, and costs nothing afterwards. Our own are stopped and deleted, slowly, and never
many of them without a person's confirmation: a mistake of ours (a store that was restored from an old backup, a lost
index) would look just like that.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from chalicelib.domain.cluster import PendingDeletions

QUARANTINE_AFTER = timedelta(seconds=90)
"""How long nothing is done about an orphan: longer than any lease, and than an index lags."""

DELETE_AFTER = timedelta(minutes=10)
"""How long after it was first seen it is deleted; until then it is stopped."""

JUDGED_PER_TICK = 250
"""Orphans whose owner is looked up in one tick."""

FOREIGN_FOR = timedelta(hours=6)
"""How long a connector counts as not ours until that is looked up again."""

MAX_FOREIGN = 10_000
"""Connectors of a cluster that are remembered as not ours."""

FEW = 3
"""So many orphans are removed without confirmation, however small the cluster is."""

SHOWN_NAMES = 20
CONFIRMED_FOR = timedelta(hours=1)
"""How long a confirmation counts: at 2 % in a tick, all connectors of a cluster can be deleted in nine minutes."""


class Verdict(StrEnum):
    """The owner of a connector. `DESIRED`: ours, and needed: what the tick took as desired is out of date."""

    OURS = "OURS"
    FOREIGN = "FOREIGN"
    DESIRED = "DESIRED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Orphan:
    """Since when it was seen; `ours` once it was found that this installation has created it."""

    since: datetime
    ours: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """An Admin has agreed that orphans first seen up to `newest` are removed. Counts until `until`."""

    newest: datetime
    until: datetime

    def covers(self, orphan: Orphan, now: datetime) -> bool:
        return now < self.until and orphan.since <= self.newest


@dataclass(frozen=True, slots=True, kw_only=True)
class Removals:
    """Which orphans may be stopped and deleted in this tick. `pending` are the deletions that wait for a person."""

    allowed: Set[str]
    pending: PendingDeletions | None = None


def is_due(orphan: Orphan, now: datetime) -> bool:
    """Whether it has been an orphan for so long that something is done about it."""
    return now - orphan.since >= QUARANTINE_AFTER


def is_deletable(orphan: Orphan, now: datetime) -> bool:
    return now - orphan.since >= DELETE_AFTER


def max_deletions(connectors: int) -> int:
    """How many of a cluster's connectors one tick may delete: 2 %, or one."""
    return max(1, connectors * 2 // 100)


def too_many(removed: int, connectors: int) -> bool:
    """Whether so many of a cluster's connectors are removed only when confirmed: more than 10 %, and than a few."""
    return removed > FEW and removed * 10 > connectors


def limit_removals(
    due: Mapping[str, Orphan],
    *,
    connectors: int,
    pending: PendingDeletions | None,
    confirmation: Confirmation | None,
    now: datetime,
) -> Removals:
    """Which of the orphans that are due may be removed. `connectors` is how many of ours the cluster has, orphans
    included; `pending` are the deletions that wait already.
    """
    confirmed = {name for name, orphan in due.items() if confirmation and confirmation.covers(orphan, now)}
    ours = {name: orphan for name, orphan in due.items() if orphan.ours and name not in confirmed}
    # Orphans whose owner is unknown may all be ours: they count for the limit, but are not shown to people.
    return Removals(
        allowed=confirmed if too_many(len(due) - len(confirmed), connectors) else due.keys(),
        pending=_pending(ours, pending, now) if too_many(len(ours), connectors) else None,
    )


def _pending(ours: Mapping[str, Orphan], before: PendingDeletions | None, now: datetime) -> PendingDeletions:
    return PendingDeletions(
        count=len(ours),
        since=before.since if before else now,
        names=tuple(sorted(ours)[:SHOWN_NAMES]),
        newest=max(orphan.since for orphan in ours.values()),
    )
