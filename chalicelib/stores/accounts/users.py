"""Users, by id, by address and by identity."""

from dataclasses import replace
from datetime import datetime

from pynamodb.attributes import UTCDateTimeAttribute

from chalicelib.domain.accounts.user import User
from chalicelib.domain.names import unique_key
from chalicelib.stores.claims import Claims
from chalicelib.stores.counts import CountRow
from chalicelib.stores.documents import Documents
from chalicelib.stores.rows import read_rows
from chalicelib.stores.tables import Document, document_table
from chalicelib.stores.transaction import Transaction

_ADMINS = ("user", "active-admins")
_NOBODY = "nobody"


class UserRows(document_table("users")):  # type: ignore[misc]
    """The time of a user's last login is a column of its own, so that logins at the same time do not conflict."""

    last_login_at = UTCDateTimeAttribute(null=True)


class Users(Documents[User]):
    """Users by id. The claim of an address or identity has its user as holder; a row counts the active Admins."""

    table, entity, noun = UserRows, User, "user"

    def __init__(self, claims: Claims) -> None:
        self._claims = claims

    def by_email(self, email: str) -> User | None:
        """The user with this address. An unknown address costs two reads as well, so that the time does not show it."""
        return self.find(self._claims.find(_email_key(email)) or _NOBODY)

    def by_identity(self, identity: str) -> User | None:
        holder = self._claims.find(_identity_key(identity))
        return self.find(holder) if holder else None

    def put_new(self, transaction: Transaction, entity: User) -> User:
        """Store a new user and claim address and identity. Conflict labels of these: `user.email`, `user.identity`."""
        self._claims.take(transaction, _email_key(entity.email), entity.id, label="user.email")
        self._claim_identity(transaction, None, entity)
        count_admins(transaction, +1 if entity.is_active_admin else 0)
        return super().put_new(transaction, entity)

    def change(self, transaction: Transaction, before: User, after: User) -> User:
        """Replace a user. Conflict labels: those of `put_new`, and `user.last_admin` if no active Admin remained."""
        if _email_key(after.email) != _email_key(before.email):
            self._claims.release(transaction, _email_key(before.email), before.id)
            self._claims.take(transaction, _email_key(after.email), after.id, label="user.email")
        self._claim_identity(transaction, before.identity, after)
        count_admins(transaction, after.is_active_admin - before.is_active_admin)
        return self.save(transaction, after)

    def remove(self, transaction: Transaction, entity: User) -> None:
        """Delete a user and the claims. Conflict labels: `user.last_admin`, `user.removable`."""
        count_admins(transaction, -1 if entity.is_active_admin else 0)
        self._claims.release(transaction, _email_key(entity.email), entity.id)
        if entity.identity:
            self._claims.release(transaction, _identity_key(entity.identity), entity.id)
        super().remove(transaction, entity)

    def record_login(self, transaction: Transaction, user: User, at: datetime) -> None:
        """Write the time of a login, if the user was not written since it was read. Conflict label: `user.changed`."""
        actions = [UserRows.last_login_at.set(at), UserRows.write_id.set(transaction.write_id)]
        unchanged = UserRows.revision == user.revision
        transaction.update(UserRows(user.id), actions, condition=unchanged, label="user.changed")

    def active_admins(self) -> int:
        (row,) = read_rows((CountRow, *_ADMINS))
        return int(row.ADMINS) if row else 0

    def _claim_identity(self, transaction: Transaction, before: str | None, after: User) -> None:
        if after.identity and after.identity != before:
            self._claims.take(transaction, _identity_key(after.identity), after.id, label="user.identity")

    def from_row(self, row: Document) -> User:
        user = super().from_row(row)
        return replace(user, last_login_at=getattr(row, "last_login_at", None) or user.last_login_at)


def count_admins(transaction: Transaction, change: int) -> None:
    """Change the number of active Admins, which must not become 0."""
    if change:
        has_others = CountRow.ADMINS > 1 if change < 0 else None
        action = CountRow.ADMINS.add(change)
        transaction.update(CountRow(*_ADMINS), [action], condition=has_others, label="user.last_admin")


def _email_key(email: str) -> str:
    return f"email/{unique_key(email)}"


def _identity_key(identity: str) -> str:
    return f"identity/{identity}"
