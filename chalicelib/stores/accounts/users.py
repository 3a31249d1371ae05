"""Users, by id, by address and by identity."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from pynamodb.attributes import UTCDateTimeAttribute

from chalicelib.domain.accounts.email import email_key
from chalicelib.domain.accounts.user import User
from chalicelib.kit.log import get_logger
from chalicelib.stores.accounts.claims import AccountClaims
from chalicelib.stores.documents import Documents
from chalicelib.stores.tables import Document, document_table
from chalicelib.stores.transaction import Transaction

_NOBODY = "nobody"


class UserRows(document_table("users")):  # type: ignore[misc]
    """The time of a user's last login is a column of its own, so that logins at the same time do not conflict."""

    last_login_at = UTCDateTimeAttribute(null=True)


class Users(Documents[User]):
    """Users by id. The claim of an address or identity has its user as holder; a row counts the active Admins.

    A claim says where to look. Who somebody is, is what the user's own row says.
    """

    table, entity, noun = UserRows, User, "user"

    def __init__(self, claims: AccountClaims) -> None:
        self._claims = claims
        self.active_admins, self.had_admin = claims.active_admins, claims.had_admin

    def by_email(self, email: str) -> User | None:
        """The user with this address; None also for one that cannot be read: nobody signs in with what is unknown.

        An unknown address costs two reads as well, so that the time does not show it.
        """
        return self._holder(_email_key(email), lambda user: email_key(user.email) == email_key(email))

    def by_identity(self, identity: str) -> User | None:
        """The user who signs in with this identity of single sign-on; None also for one that cannot be read."""
        return self._holder(_identity_key(identity), lambda user: user.identity == identity)

    def put_new(self, transaction: Transaction, entity: User) -> User:
        """Store a new user and claim address and identity. Conflict labels of these: `user.email`, `user.identity`."""
        if entity.is_active_admin:
            self._claims.note_admin(transaction)
        return self._put(transaction, entity)

    def put_first_admin(self, transaction: Transaction, admin: User) -> User:
        """`put_new`, if there has never been an Admin. Conflict label: `user.first_admin`."""
        self._claims.note_admin(transaction, first=True)
        return self._put(transaction, admin)

    def change(self, transaction: Transaction, before: User, after: User) -> User:
        """Replace a user. Conflict labels: those of `put_new`, and `user.last_admin` if no active Admin remained."""
        if _email_key(after.email) != _email_key(before.email):
            self._claims.release(transaction, _email_key(before.email), before.id)
            self._claims.take(transaction, _email_key(after.email), after.id, label="user.email")
        self._claim_identity(transaction, before.identity, after)
        self._claims.count_admins(transaction, after.is_active_admin - before.is_active_admin)
        if after.is_active_admin and not before.is_active_admin:
            self._claims.note_admin(transaction)
        return self.save(transaction, after)

    def remove(self, transaction: Transaction, entity: User) -> None:
        """Delete a user and the claims. Conflict labels: `user.last_admin`, `user.removable`."""
        self._claims.count_admins(transaction, -1 if entity.is_active_admin else 0)
        self._claims.release(transaction, _email_key(entity.email), entity.id)
        if entity.identity:
            self._claims.release(transaction, _identity_key(entity.identity), entity.id)
        super().remove(transaction, entity)

    def record_login(self, transaction: Transaction, user: User, at: datetime, *, changed: bool = False) -> None:
        """Write the time of a login, if the user was not written since it was read. Conflict label: `user.changed`.

        With `changed` the login has changed other fields of the user than those that are columns, and they are stored.
        """
        actions = [UserRows.last_login_at.set(at), UserRows.write_id.set(transaction.write_id)]
        if changed:
            row = self._row(replace(user, revision=user.revision + 1), transaction.write_id)
            actions += [UserRows.body.set(row.body), UserRows.revision.set(row.revision)]
        unchanged = UserRows.revision == user.revision
        transaction.update(UserRows(user.id), actions, condition=unchanged, label="user.changed")

    def _put(self, transaction: Transaction, entity: User) -> User:
        self._claims.take(transaction, _email_key(entity.email), entity.id, label="user.email")
        self._claim_identity(transaction, None, entity)
        self._claims.count_admins(transaction, +1 if entity.is_active_admin else 0)
        return super().put_new(transaction, entity)

    def _holder(self, key: str, has: Callable[[User], bool]) -> User | None:
        """The holder of a claim, if the user's own row agrees. A free key costs two reads, too."""
        holder = self._claims.find(key)
        user = self.find_readable(holder or _NOBODY)
        if holder is None or (user is not None and has(user)):
            return user
        if user is not None:
            # Two reads, so the user may have changed between them; a claim that stays so was written by others.
            get_logger().error("a claim of an account names a user who does not have it", extra={"user_id": user.id})
        return None

    def _claim_identity(self, transaction: Transaction, before: str | None, after: User) -> None:
        if after.identity and after.identity != before:
            self._claims.take(transaction, _identity_key(after.identity), after.id, label="user.identity")

    def from_row(self, row: Document) -> User:
        user = super().from_row(row)
        return replace(user, last_login_at=getattr(row, "last_login_at", None) or user.last_login_at)


def _email_key(email: str) -> str:
    return f"email/{email_key(email)}"


def _identity_key(identity: str) -> str:
    return f"identity/{identity}"
