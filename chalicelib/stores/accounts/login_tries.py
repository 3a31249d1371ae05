"""Counters of tried passwords, and the networks from which an account was signed in to."""

import itertools
from collections.abc import Iterable
from datetime import datetime

from pynamodb.attributes import NumberAttribute, TTLAttribute, UnicodeAttribute
from pynamodb.exceptions import UpdateError
from pynamodb.expressions.update import Action

from chalicelib.domain.accounts.login_limits import LoginLimit
from chalicelib.errors import StoreUnavailable
from chalicelib.stores.documents import store_errors
from chalicelib.stores.rows import read_rows
from chalicelib.stores.tables import Table, meta
from chalicelib.stores.transaction import Transaction

_ATTEMPTS = 5
"""A login that gives a try back in its transaction may write the same counter at this moment."""


class LoginTryRow(Table):
    """A counter of one window (`tries`), or the record that a network is known or a ticket used (without it)."""

    Meta = meta("login-tries")  # type: ignore[assignment]
    id = UnicodeAttribute(hash_key=True)
    tries = NumberAttribute(null=True)
    expires_at = TTLAttribute()


class LoginTries:
    """Counts with one write each, so that the numbers are exact however many try at the same time."""

    def is_known(self, key: str, now: datetime) -> bool:
        """Whether the record exists."""
        with store_errors():
            (row,) = read_rows((LoginTryRow, key))
        return row is not None and row.expires_at > now

    def count(self, limit: LoginLimit, until: datetime) -> bool:
        """Count one more. False when the limit is reached; then nothing is counted."""
        free = LoginTryRow.tries.does_not_exist() | (LoginTryRow.tries < limit.most)
        actions: list[Action] = [LoginTryRow.tries.add(1), LoginTryRow.expires_at.set(until)]
        for attempt in itertools.count(1):
            try:
                LoginTryRow(limit.key).update(actions, condition=free)
            except UpdateError as error:
                if error.cause_response_code == "ConditionalCheckFailedException":
                    return False
                if error.cause_response_code != "TransactionConflictException" or attempt == _ATTEMPTS:
                    raise StoreUnavailable("The store did not answer.") from error
            else:
                break
        return True

    def give_back(self, transaction: Transaction, limits: Iterable[LoginLimit], until: datetime) -> None:
        """Count one less: the try was a login."""
        for limit in limits:
            actions = [LoginTryRow.tries.add(-1), LoginTryRow.expires_at.set(until)]
            transaction.update(LoginTryRow(limit.key), actions, condition=None, label="login_try.given_back")

    def remember(self, transaction: Transaction, key: str, until: datetime) -> None:
        """Record that the network is known."""
        transaction.put(LoginTryRow(key, expires_at=until), condition=None, label="login_try.remembered")

    def use_once(self, transaction: Transaction, key: str, until: datetime) -> None:
        """Record that something was used. Conflict label when it was before: `login_try.used`."""
        unused = LoginTryRow.id.does_not_exist()
        transaction.put(LoginTryRow(key, expires_at=until), condition=unused, label="login_try.used")
