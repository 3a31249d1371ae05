"""Counters of refused requests, in the table of `login_tries`."""

from datetime import datetime

from pynamodb.expressions.update import Action

from chalicelib.stores.accounts.login_tries import LoginTryRow
from chalicelib.stores.tables import store_errors


class RefusalCounts:
    """Counts in the store, because the processes share the numbers."""

    def add(self, key: str, more: int, until: datetime) -> int:
        """Add to a counter, which expires at `until`, and return it."""
        row = LoginTryRow(f"refusals/{key}")
        actions: list[Action] = [LoginTryRow.tries.add(more), LoginTryRow.expires_at.set(until)]
        with store_errors():
            row.update(actions)
        return int(row.tries or 0)
