"""People and their sessions."""

from pynamodb.attributes import TTLAttribute, UnicodeAttribute, UTCDateTimeAttribute

from chalicelib.domain.user import Session, User
from chalicelib.stores.documents import Documents, store_errors
from chalicelib.stores.rows import read_rows
from chalicelib.stores.tables import Table, document_table, meta
from chalicelib.stores.transaction import Transaction

UserRows = document_table("users")


class SessionRow(Table):
    """A session. `id` is the SHA-256 of its token, so that the table signs nobody in."""

    Meta = meta("sessions")  # type: ignore[assignment]
    id = UnicodeAttribute(hash_key=True)
    user_id = UnicodeAttribute()
    write_id = UnicodeAttribute()
    created_at = UTCDateTimeAttribute()
    last_seen_at = UTCDateTimeAttribute()
    expires_at = TTLAttribute()


class Users(Documents[User]):
    """Users by id."""

    def __init__(self) -> None:
        super().__init__(UserRows, User, "user")


class Sessions:
    """Sessions by the hash of their token."""

    def __init__(self, users: Users) -> None:
        self._users = users

    def find(self, token_hash: str, user_id: str) -> tuple[Session, User] | None:
        """The session and its user as both are now, in one call; None when either is gone."""
        with store_errors():
            row, user = read_rows((SessionRow, token_hash), self._users.key(user_id))
        person = self._users.found(user)
        if row is None or person is None:
            return None
        found = Session(id=row.id, user_id=row.user_id, created_at=row.created_at, last_seen_at=row.last_seen_at)
        return (found, person) if found.user_id == person.id else None

    def put_new(self, transaction: Transaction, session: Session) -> None:
        """Store a session that does not exist yet."""
        row = SessionRow(
            session.id,
            user_id=session.user_id,
            write_id=transaction.write_id,
            created_at=session.created_at,
            last_seen_at=session.last_seen_at,
            expires_at=session.ends_at,
        )
        transaction.put(row, condition=SessionRow.id.does_not_exist(), label="session.exists")

    def seen(self, session: Session) -> None:
        """Remember that it was used. One that has ended meanwhile stays ended."""
        with store_errors():
            try:
                SessionRow(session.id).update(
                    [SessionRow.last_seen_at.set(session.last_seen_at)], condition=SessionRow.id.exists()
                )
            except SessionRow.DoesNotExist:
                return

    def end(self, transaction: Transaction, token_hash: str) -> None:
        """Delete the session, if it is there."""
        transaction.delete(SessionRow(token_hash), condition=None, label="session.gone")
