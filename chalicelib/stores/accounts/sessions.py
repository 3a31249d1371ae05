"""Sessions, by the hash of their token."""

from contextlib import suppress

from pynamodb.attributes import NumberAttribute, TTLAttribute, UnicodeAttribute, UTCDateTimeAttribute

from chalicelib.domain.accounts.user import Session, User
from chalicelib.errors import StoreUnavailable, WriteConflict
from chalicelib.stores.accounts.users import Users
from chalicelib.stores.documents import store_errors
from chalicelib.stores.rows import read_rows
from chalicelib.stores.tables import Table, meta
from chalicelib.stores.transaction import Transaction


class SessionRow(Table):
    """A session. `id` is the SHA-256 of its token: nobody can sign in with what the table holds."""

    Meta = meta("sessions")  # type: ignore[assignment]
    id = UnicodeAttribute(hash_key=True)
    user_id = UnicodeAttribute()
    generation = NumberAttribute(default=1)
    write_id = UnicodeAttribute()
    created_at = UTCDateTimeAttribute()
    last_seen_at = UTCDateTimeAttribute()
    expires_at = TTLAttribute()


class Sessions:
    """Sessions by the hash of their token."""

    def __init__(self, users: Users) -> None:
        self._users = users

    def find(self, token_hash: str, user_id: str) -> tuple[Session, User] | None:
        """The session and its user, by one call; None when either does not exist."""
        with store_errors():
            row, user = read_rows((SessionRow, token_hash), self._users.key(user_id))
        found = self._users.found(user)
        if row is None or found is None or row.user_id != found.id:
            return None
        session = Session(
            id=row.id,
            user_id=row.user_id,
            generation=int(row.generation),
            created_at=row.created_at,
            last_seen_at=row.last_seen_at,
        )
        return session, found

    def put_new(self, transaction: Transaction, session: Session) -> None:
        """Store a session that does not exist yet."""
        row = SessionRow(
            session.id,
            user_id=session.user_id,
            generation=session.generation,
            write_id=transaction.write_id,
            created_at=session.created_at,
            last_seen_at=session.last_seen_at,
            expires_at=session.ends_at,
        )
        transaction.put(row, condition=SessionRow.id.does_not_exist(), label="session.exists")

    def touch(self, session: Session) -> None:
        """Store when it was last used, unless it was deleted. It can wait: the next request stores it as well."""
        transaction, last_seen_at = Transaction(), SessionRow.last_seen_at.set(session.last_seen_at)
        transaction.update(
            SessionRow(session.id), [last_seen_at], condition=SessionRow.id.exists(), label="session.gone"
        )
        with suppress(WriteConflict, StoreUnavailable):
            transaction.commit()

    def delete(self, transaction: Transaction, token_hash: str) -> None:
        """Delete the session, if it exists."""
        transaction.delete(SessionRow(token_hash), condition=None, label="session.gone")
