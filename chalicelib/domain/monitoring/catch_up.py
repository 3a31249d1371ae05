"""How long a delivery needs to catch up: what waits for it, at the rate at which it delivers now."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from chalicelib.domain.monitoring.condition import Severity
from chalicelib.domain.monitoring.source_state import Finding, FindingCode

TOO_LONG = timedelta(minutes=15)
ENDS_BELOW = timedelta(minutes=10)
"""Once reported it ends only below this: near one limit it would begin and end again and again."""

LASTS_FOR = timedelta(minutes=5)
"""A batch of changes at the source is no reason to report: it is worked off in less."""

SMOOTHED_OVER = timedelta(minutes=5)
"""Connect commits once a minute by default, so two measurements in a row may differ by everything."""

NEGLIGIBLE = 0.001
"""Records a second. The rate of a delivery that has nothing left to deliver would get smaller for hours otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CatchUp:
    """`rate` is in records a second, measured since `since`; `too_long_since` is when it began to need too long."""

    since: datetime
    rate: float
    too_long_since: datetime | None = None


def after_interval(
    before: CatchUp | None, began: datetime, now: datetime, *, delivered: int, lag: int, behind: bool
) -> CatchUp:
    """After so many records were `delivered` since `began` and `lag` are left. `behind`: they really wait."""
    since, seconds = before.since if before else began, (now - began).total_seconds()
    # The first interval counts as a whole, a later one by its share of the time over which the rate is smoothed.
    weight = seconds / min(SMOOTHED_OVER.total_seconds(), (now - since).total_seconds())
    rate = (before.rate if before else 0.0) * (1 - weight) + delivered / seconds * weight
    former = before.too_long_since if before else None
    after = CatchUp(since=since, rate=rate, too_long_since=former)
    needed = _needed(after, lag)
    if not behind:
        return replace(after, rate=rate if rate >= NEGLIGIBLE else 0.0, too_long_since=None)
    if needed is None:
        return after
    limit = ENDS_BELOW if former and now - former >= LASTS_FOR else TOO_LONG
    return replace(after, too_long_since=(former or now) if needed > limit else None)


def lag_finding(progress: CatchUp, lag: int, now: datetime) -> Finding | None:
    """What is reported; None when it catches up in time, has not been behind for long, or does not move at all."""
    since, needed = progress.too_long_since, _needed(progress, lag)
    if since is None or needed is None or now - since < LASTS_FOR:
        return None
    message = (
        f"About {_rounded(lag)} records wait to be delivered, and about {_rounded(progress.rate * 60)} a minute are: "
        f"to catch up takes about {_rounded(needed.total_seconds() / 60)} minutes, and longer while new ones come. "
        "Rows arrive late. Look at the load of the destination, and at locks and indexes of its tables."
    )
    return Finding(code=FindingCode.LAG_HIGH, message=message, severity=Severity.WARNING, certain=True, since=since)


def _needed(progress: CatchUp, lag: int) -> timedelta | None:
    """At most a year. None where nothing is delivered: that is a standstill, which is found otherwise."""
    return timedelta(seconds=min(lag / progress.rate, 31_536_000)) if progress.rate > 0 else None


def _rounded(number: float) -> str:
    """With two digits that mean something: the text stays the same for a while, and so does what is stored."""
    return f"{float(f'{number:.2g}'):,.0f}" if number >= 1 else "1"
