"""Claims of accounts: who has an address or an identity, how many Admins there are, and that there was one.

They are apart from the other claims, because they decide who signs in: no worker may read or write this table.
"""

from pynamodb.attributes import NumberAttribute, UnicodeAttribute

from chalicelib.stores.claims import Claims
from chalicelib.stores.rows import read_rows
from chalicelib.stores.tables import Table, meta
from chalicelib.stores.transaction import Transaction

_ADMINS, _FIRST_ADMIN = "active-admins", "first-admin"


class AccountClaimRow(Table):
    """The claim of one `holder`; or, as `active-admins`, a number; or the note `first-admin`."""

    Meta = meta("account-claims")  # type: ignore[assignment]
    id = UnicodeAttribute(hash_key=True)
    holder = UnicodeAttribute(null=True)
    admins = NumberAttribute(null=True)
    write_id = UnicodeAttribute()


class AccountClaims(Claims):
    """Claims on addresses (`email/...`) and identities (`identity/...`), and what is known about Admins."""

    row = AccountClaimRow

    def active_admins(self) -> int:
        (row,) = read_rows((AccountClaimRow, _ADMINS))
        return int(row.admins) if row else 0

    def had_admin(self) -> bool:
        """Whether the installation has ever had an active Admin. Nothing that Headgate does makes that false again."""
        (row,) = read_rows((AccountClaimRow, _FIRST_ADMIN))
        return row is not None

    def count_admins(self, transaction: Transaction, change: int) -> None:
        """Change the number of active Admins, which must not become 0. Conflict label: `user.last_admin`."""
        if not change:
            return
        has_others = AccountClaimRow.admins > 1 if change < 0 else None
        actions = [AccountClaimRow.admins.add(change), AccountClaimRow.write_id.set(transaction.write_id)]
        transaction.update(AccountClaimRow(_ADMINS), actions, condition=has_others, label="user.last_admin")

    def note_admin(self, transaction: Transaction, *, first: bool = False) -> None:
        """Note that there is an Admin. `first`: if there has never been one. Conflict label: `user.first_admin`."""
        never = AccountClaimRow.id.does_not_exist() if first else None
        noted = AccountClaimRow.write_id.set(transaction.write_id)
        transaction.update(AccountClaimRow(_FIRST_ADMIN), [noted], condition=never, label="user.first_admin")
