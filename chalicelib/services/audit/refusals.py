"""Bounds the records of refused requests: who is refused in a loop cannot fill the trail.

In ten minutes the first refusals of a caller have a record each. After them there is one each time that their number
has doubled, and it says the number. Others who are refused cannot use up the records of an account's failed sign-ins:
the first of these have a record in any case.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from chalicelib.domain.access import RequestContext
from chalicelib.kit.bounded import Bounded
from chalicelib.kit.clock import Clock
from chalicelib.stores.accounts.login_tries import RefusalCounts
from chalicelib.stores.transaction import Transaction

SIGN_IN = "session.login"
THROTTLED = "throttled"
"""The reason of a sign-in that was refused before its password was looked at."""

WINDOW = timedelta(minutes=10)
OF_USER, OF_ADDRESS, OF_ALL_ADDRESSES = 1_000, 300, 1_000
"""How many refusals in ten minutes have a record each: of a user with their tokens; of callers whom nobody knows, by
the address that they come from, and of all of these."""

OF_ACCOUNT = 10
"""Besides these: how many failed sign-ins of an account have a record each."""

_FIRST_DOUBLING = 100
_AT_ONCE = 50
"""So many that have no record are counted with one write."""


@dataclass(slots=True, kw_only=True)
class RefusalBound:
    counts: RefusalCounts
    clock: Clock
    _not_counted: Bounded[str, int] = field(default_factory=lambda: Bounded(1_000))

    def admit(
        self, context: RequestContext, action: str, resource_id: str | None, reason: str, *, once: bool
    ) -> Mapping[str, int] | None:
        """The additional fields of its record: none, or the number of `refusals`, most of which have no record.

        None: it gets no record. `once`: only the first refusal of this action, resource and reason has one. The
        resource of a sign-in is the account. Raises StoreUnavailable.
        """
        same = "/".join(("once", action, resource_id or "", reason))
        admitted = self._admit([(same, 1)] if once else _counters(context))
        if admitted is None and action == SIGN_IN and reason != THROTTLED:
            return {} if self._admit_sign_in(context, resource_id) else None
        return admitted

    def _admit(self, counters: Sequence[tuple[str, int]]) -> Mapping[str, int] | None:
        number = bound = 0
        for key, bound in counters:
            counted = self._count(key, bound)
            if counted is None:
                return None
            number = counted
        return {"refusals": number} if number > bound else {}

    def _admit_sign_in(self, context: RequestContext, account_id: str | None) -> bool:
        """Whether it is one of the first of the account. Where it is not, or there is no account, the transaction that
        would have written the record counts it: how long a sign-in takes does not tell which accounts exist.
        """
        start = _window(self.clock())
        end, window = start + 2 * WINDOW, int(start.timestamp())
        of_account = self.counts.add(f"account/{account_id or context.source_address}/{window}", 1, end)
        if account_id and of_account <= OF_ACCOUNT:
            return True
        with Transaction() as transaction:
            self.counts.add_in(transaction, f"sign-ins/{context.source_address}/{window}", end)
        return False

    def _count(self, counter: str, bound: int) -> int | None:
        """The number of this refusal, when it is one of the first `bound` or passes a doubling."""
        start = _window(self.clock())
        key, added = f"{counter}/{int(start.timestamp())}", 1
        if key in self._not_counted:
            added = self._not_counted[key] + 1
            if added < _AT_ONCE:
                self._not_counted[key] = added
                return None
        total = self.counts.add(key, added, start + 2 * WINDOW)
        if total >= bound:
            self._not_counted[key] = 0
        return total if total <= bound or _doubled(total - added, total, bound) else None


def _counters(context: RequestContext) -> list[tuple[str, int]]:
    if context.actor.id:
        return [(f"user/{context.actor.id}", OF_USER)]
    return [(f"address/{context.source_address}", OF_ADDRESS), ("addresses", OF_ALL_ADDRESSES)]


def _doubled(before: int, total: int, bound: int) -> bool:
    """Whether the number has passed twice, four times, eight times ... the bound."""
    mark = 2 * max(bound, _FIRST_DOUBLING)
    while mark <= before:
        mark *= 2
    return mark <= total


def _window(now: datetime) -> datetime:
    return now.replace(minute=now.minute - now.minute % 10, second=0, microsecond=0)
