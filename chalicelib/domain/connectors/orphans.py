"""Orphans: connectors with a name of ours that no pipeline or delivery of this cluster needs.

Other installations of Headgate on the same workers use the same kind of names, so the owner of an orphan has to be
looked up: the result is remembered, and costs nothing afterwards. Our own are stopped and deleted, slowly, and never
many of them without a person's confirmation (`confirmations.py`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from chalicelib.domain.cluster import PendingChanges
from chalicelib.domain.connectors.confirmations import Confirmation, LimitedChanges, limit_changes

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


def is_due(orphan: Orphan, now: datetime) -> bool:
    """Whether it has been an orphan for so long that something is done about it."""
    return now - orphan.since >= QUARANTINE_AFTER


def is_deletable(orphan: Orphan, now: datetime) -> bool:
    return now - orphan.since >= DELETE_AFTER


def max_deletions(connectors: int) -> int:
    """How many of a cluster's connectors one tick may delete: 2 %, or one."""
    return max(1, connectors * 2 // 100)


def limit_removals(
    due: Mapping[str, Orphan],
    *,
    connectors: int,
    pending: PendingChanges | None,
    confirmation: Confirmation | None,
    now: datetime,
) -> LimitedChanges:
    """Which of the orphans that are due may be removed. `connectors` is how many of ours the cluster has, orphans
    included; `pending` are the deletions that wait already.
    """
    # Orphans whose owner is unknown may all be ours: they count for the limit, but are not shown to people.
    return limit_changes(
        {name: orphan.since for name, orphan in due.items()},
        [name for name, orphan in due.items() if orphan.ours],
        connectors=connectors,
        pending=pending,
        confirmation=confirmation,
        now=now,
    )
