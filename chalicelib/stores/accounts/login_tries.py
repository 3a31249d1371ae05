"""Counters of tried passwords and of refused requests, networks from which a user has signed in, used tickets."""

from collections.abc import Iterable
from datetime import datetime

from pynamodb.attributes import NumberAttribute, TTLAttribute, UnicodeAttribute, UTCDateTimeAttribute
from pynamodb.exceptions import UpdateError
from pynamodb.expressions.update import Action

from chalicelib.domain.accounts.login_limits import LoginLimit
from chalicelib.errors import StoreBusy
from chalicelib.kit.retry import Retry
from chalicelib.stores.rows import read_rows
from chalicelib.stores.tables import Table, is_condition_failure, meta, store_errors
from chalicelib.stores.transaction import Transaction

_RETRY = Retry(attempts=5)
"""A transaction that gives a try back may write the same counter at the same time."""


class LoginTryRow(Table):
    """A counter of one window, in `tries`; or, without `tries`, the record of a network, or of a used ticket or code.

    From `next_at` on a counter that has reached its limit counts one more, if its limit has a pause.
    """

    Meta = meta("login-tries")  # type: ignore[assignment]
    id = UnicodeAttribute(hash_key=True)
    tries = NumberAttribute(null=True)
    next_at = UTCDateTimeAttribute(null=True)
    expires_at = TTLAttribute()


class LoginTries:
    """Each try is counted by one conditional write, so that the numbers are exact also for tries at the same time."""

    def is_known(self, key: str, now: datetime) -> bool:
        """Whether there is a record that has not expired."""
        (row,) = read_rows((LoginTryRow, key))
        return row is not None and row.expires_at > now

    def count(self, limit: LoginLimit, now: datetime) -> bool:
        """Count one more. False when the limit is reached; then nothing is counted."""
        free = LoginTryRow.tries.does_not_exist() | (LoginTryRow.tries < limit.maximum)
        actions: list[Action] = [LoginTryRow.tries.add(1), LoginTryRow.expires_at.set(limit.ends_at)]
        if limit.pause:
            free |= LoginTryRow.next_at <= now
            actions.append(LoginTryRow.next_at.set(now + limit.pause))

        def add(_attempt: int) -> bool:
            with store_errors():
                try:
                    LoginTryRow(limit.key).update(actions, condition=free)
                except UpdateError as error:
                    if not is_condition_failure(error):
                        raise
                    return False
            return True

        return _RETRY.run(add, on=StoreBusy)

    def give_back(self, transaction: Transaction, limits: Iterable[LoginLimit]) -> None:
        """Count one less, because the password was right."""
        for limit in limits:
            actions = [LoginTryRow.tries.add(-1), LoginTryRow.expires_at.set(limit.ends_at)]
            transaction.update(LoginTryRow(limit.key), actions, condition=None, label="login_try.given_back")

    def remember(self, transaction: Transaction, key: str, until: datetime) -> None:
        transaction.put(LoginTryRow(key, expires_at=until), condition=None, label="login_try.remembered")

    def use_once(self, transaction: Transaction, key: str, until: datetime) -> None:
        """Record a use. Conflict label when the record exists: `login_try.used`."""
        unused = LoginTryRow.id.does_not_exist()
        transaction.put(LoginTryRow(key, expires_at=until), condition=unused, label="login_try.used")


class RefusalCounts:
    """Counters of refused requests, in the same table: the processes share the numbers."""

    def add(self, key: str, number: int, until: datetime) -> int:
        """Add to a counter, which expires at `until`, and return it."""
        row = LoginTryRow(f"refusals/{key}")
        with store_errors():
            row.update(_added(number, until))
        return int(row.tries or 0)

    def add_in(self, transaction: Transaction, key: str, until: datetime) -> None:
        """Add one to a counter in a transaction."""
        row = LoginTryRow(f"refusals/{key}")
        transaction.update(row, _added(1, until), condition=None, label="refusal.counted")


def _added(number: int, until: datetime) -> list[Action]:
    return [LoginTryRow.tries.add(number), LoginTryRow.expires_at.set(until)]
