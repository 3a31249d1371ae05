"""Sessions, by the hash of their token."""

from pynamodb.attributes import NumberAttribute, TTLAttribute, UnicodeAttribute, UTCDateTimeAttribute

from chalicelib.domain.accounts.user import Session, User
from chalicelib.stores.accounts.users import Users
from chalicelib.stores.rows import read_rows
from chalicelib.stores.tables import Table, meta
from chalicelib.stores.transaction import Transaction, update_existing


class SessionRow(Table):
    """A session. `id` is the SHA-256 of its token, so that nobody can sign in with the content of the table."""

    Meta = meta("sessions")  # type: ignore[assignment]
    id = UnicodeAttribute(hash_key=True)
    user_id = UnicodeAttribute()
    generation = NumberAttribute(default=1)
    write_id = UnicodeAttribute()
    created_at = UTCDateTimeAttribute()
    last_seen_at = UTCDateTimeAttribute()
    expires_at = TTLAttribute()


class Sessions:
    def __init__(self, users: Users) -> None:
        self._users = users

    def find(self, token_hash: str, user_id: str) -> tuple[Session, User] | None:
        """The session and its user, by one call; None when either does not exist."""
        row, user_row = read_rows((SessionRow, token_hash), self._users.key(user_id))
        user = self._users.decode(user_row)
        if row is None or user is None or row.user_id != user.id:
            return None
        session = Session(
            id=row.id,
            user_id=row.user_id,
            generation=int(row.generation),
            created_at=row.created_at,
            last_seen_at=row.last_seen_at,
        )
        return session, user

    def put_new(self, transaction: Transaction, session: Session) -> None:
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
        """Store the time of its last use, unless it was deleted. A failure is ignored: the next request stores it."""
        last_seen = SessionRow.last_seen_at.set(session.last_seen_at)
        update_existing(SessionRow(session.id), last_seen, label="session.gone")

    def delete(self, transaction: Transaction, token_hash: str) -> None:
        transaction.delete(SessionRow(token_hash), condition=None, label="session.gone")
