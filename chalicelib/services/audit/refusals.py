"""Bounds the records of refused requests: who is refused in a loop cannot fill the trail.

In ten minutes the first refusals of a caller have a record each. After them there is one each time that their number
has doubled, and it says the number.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from chalicelib.domain.access import RequestContext
from chalicelib.kit.bounded import Bounded
from chalicelib.kit.clock import Clock
from chalicelib.stores.accounts.refusals import RefusalCounts

WINDOW = timedelta(minutes=10)
OF_USER, OF_ADDRESS, OF_ALL_ADDRESSES = 1_000, 300, 1_000
"""How many refusals in ten minutes have a record each: of a user with their tokens; of callers whom nobody knows, by
the address that they come from, and of all of these."""

_FIRST_DOUBLING = 100
_AT_ONCE = 50
"""So many that have no record are counted with one write."""


@dataclass(slots=True, kw_only=True)
class RefusalBound:
    """Says which refusals are recorded."""

    counts: RefusalCounts
    clock: Clock
    _not_counted: Bounded[str, int] = field(default_factory=lambda: Bounded(1_000))

    def admit(
        self, context: RequestContext, action: str, resource_id: str | None, reason: str, *, once: bool
    ) -> Mapping[str, int] | None:
        """What its record says besides: nothing, or how many `refusals` there were, most of them without a record.

        None: this one gets no record. `once`: only the first one of this action, resource and reason has one. Raises
        StoreUnavailable.
        """
        number = each = 0
        same = "/".join(("once", action, resource_id or "", reason))
        for key, each in [(same, 1)] if once else _counters(context):
            counted = self._count(key, each)
            if counted is None:
                return None
            number = counted
        return {"refusals": number} if number > each else {}

    def _count(self, counter: str, each: int) -> int | None:
        """The number of this one, when it is one of the first `each` or passes a doubling."""
        start = _window(self.clock())
        key, more = f"{counter}/{int(start.timestamp())}", 1
        if key in self._not_counted:
            more = self._not_counted[key] + 1
            if more < _AT_ONCE:
                self._not_counted[key] = more
                return None
        total = self.counts.add(key, more, start + 2 * WINDOW)
        if total >= each:
            self._not_counted[key] = 0
        return total if total <= each or _doubled(total - more, total, each) else None


def _counters(context: RequestContext) -> list[tuple[str, int]]:
    if context.actor.id:
        return [(f"user/{context.actor.id}", OF_USER)]
    return [(f"address/{context.source_address}", OF_ADDRESS), ("addresses", OF_ALL_ADDRESSES)]


def _doubled(before: int, total: int, each: int) -> bool:
    """Whether the number has passed twice, four times, eight times ... as many as have a record each."""
    mark = 2 * max(each, _FIRST_DOUBLING)
    while mark <= before:
        mark *= 2
    return mark <= total


def _window(now: datetime) -> datetime:
    return now.replace(minute=now.minute - now.minute % 10, second=0, microsecond=0)
