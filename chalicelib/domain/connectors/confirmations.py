"""The brake of ticks: changes in unusual number wait until an Admin confirms them.

So many orphans, or so many missing connectors, look like a mistake rather than like what people want: a store that was
restored from an old backup, a lost index, other workers behind the same address.
"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from datetime import datetime, timedelta

from chalicelib.domain.cluster import PendingChanges

FEW = 3
"""So many are changed without confirmation, however small the cluster is."""

SHOWN_NAMES = 20
CONFIRMED_FOR = timedelta(hours=1)
"""How long a confirmation counts: at 2 % in a tick, all connectors of a cluster can be deleted in nine minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """An Admin has agreed to what was first seen up to `newest`. Counts until `until`."""

    newest: datetime
    until: datetime

    def covers(self, since: datetime, now: datetime) -> bool:
        return now < self.until and since <= self.newest


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitedChanges:
    """Which connectors may be changed in this tick. `pending` are the changes that wait for a person."""

    allowed: Set[str]
    pending: PendingChanges | None = None


def too_many(changed: int, connectors: int) -> bool:
    """Whether so many of a cluster's connectors are changed only when confirmed: more than 10 %, and than a few."""
    return changed > FEW and changed * 10 > connectors


def limit_changes(
    due: Mapping[str, datetime],
    certain: Iterable[str],
    *,
    connectors: int,
    pending: PendingChanges | None,
    confirmation: Confirmation | None,
    now: datetime,
) -> LimitedChanges:
    """Which of the connectors that are `due` (name -> first seen so) may be changed. `connectors` is how many of ours
    the cluster has; `pending` are the changes that wait already.

    All that are due count for the limit. Only those that are `certain` are shown to people.
    """
    confirmed = {name for name, since in due.items() if confirmation and confirmation.covers(since, now)}
    shown = {name: due[name] for name in certain if name not in confirmed}
    return LimitedChanges(
        allowed=confirmed if too_many(len(due) - len(confirmed), connectors) else due.keys(),
        pending=_pending(shown, pending, now) if too_many(len(shown), connectors) else None,
    )


def _pending(shown: Mapping[str, datetime], before: PendingChanges | None, now: datetime) -> PendingChanges:
    return PendingChanges(
        count=len(shown),
        since=before.since if before else now,
        names=tuple(sorted(shown)[:SHOWN_NAMES]),
        newest=max(shown.values()),
    )
