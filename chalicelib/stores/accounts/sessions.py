"""Sessions, by the hash of their token and by their user."""

from collections.abc import Iterator
from datetime import datetime

from pynamodb.attributes import NumberAttribute, TTLAttribute, UnicodeAttribute, UTCDateTimeAttribute
from pynamodb.expressions.condition import Condition

from chalicelib.domain.accounts.user import ABSOLUTE, IDLE, Session, User
from chalicelib.kit.pages import Page, page_of
from chalicelib.stores.accounts.users import Users
from chalicelib.stores.rows import read_rows
from chalicelib.stores.tables import Table, index_on, meta, position, position_of, store_errors
from chalicelib.stores.transaction import Transaction, update_existing
from chalicelib.stores.unreadable import readable


class SessionRow(Table):
    """A session. `id` is the SHA-256 of its token, so that nobody can sign in with the content of the table."""

    Meta = meta("sessions")  # type: ignore[assignment]
    id = UnicodeAttribute(hash_key=True)
    user_id = UnicodeAttribute()
    position = UnicodeAttribute()
    by_user_id = index_on("user_id")
    generation = NumberAttribute(default=1)
    via = UnicodeAttribute(default="password")
    address = UnicodeAttribute(null=True)
    user_agent = UnicodeAttribute(null=True)
    write_id = UnicodeAttribute()
    created_at = UTCDateTimeAttribute()
    last_seen_at = UTCDateTimeAttribute()
    expires_at = TTLAttribute()


class Sessions:
    def __init__(self, users: Users) -> None:
        self._users = users

    def find(self, token_hash: str, user_id: str) -> tuple[Session, User] | None:
        """The session and its user, by one call; None when either does not exist, or the user cannot be read."""
        row, user_row = read_rows((SessionRow, token_hash), self._users.key(user_id))
        user = next(readable([user_row], self._users.decode), None)
        if row is None or user is None or row.user_id != user.id:
            return None
        return _session(row), user

    def list_of(self, user: User, now: datetime, *, limit: int, after: str | None) -> Page[Session]:
        """The valid sessions of a user, newest first. A new one may be missing for a second: the index lags behind."""
        keys = SessionRow.position < after if after else None
        with store_errors():
            # The present generation may be in few of many rows: a query reads all that it can at once.
            rows = SessionRow.by_user_id.query(user.id, keys, _valid(user, now), scan_index_forward=False)
            return page_of(rows, key=position_of, limit=limit).map(_session)

    def all_of(self, user: User, now: datetime) -> Iterator[Session]:
        """The valid sessions of a user, without a bound: who has them signed in within eight hours."""
        with store_errors():
            yield from map(_session, SessionRow.by_user_id.query(user.id, filter_condition=_valid(user, now)))

    def put_new(self, transaction: Transaction, session: Session) -> None:
        row = SessionRow(
            session.id,
            user_id=session.user_id,
            position=position(session.created_at, session.public_id),
            generation=session.generation,
            via=session.via,
            address=session.address or None,
            user_agent=session.user_agent or None,
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

    def keep(self, transaction: Transaction, session_id: str, generation: int) -> None:
        """Carry a session over to another generation, in which the others end. Conflict label: `session.gone`."""
        actions = [SessionRow.generation.set(generation), SessionRow.write_id.set(transaction.write_id)]
        exists = SessionRow.id.exists()
        transaction.update(SessionRow(session_id), actions, condition=exists, label="session.gone")

    def delete(self, transaction: Transaction, token_hash: str) -> None:
        transaction.delete(SessionRow(token_hash), condition=None, label="session.gone")


def _valid(user: User, now: datetime) -> Condition:
    used: Condition = (SessionRow.last_seen_at > now - IDLE) & (SessionRow.created_at > now - ABSOLUTE)
    valid: Condition = used & (SessionRow.generation == user.session_generation)
    return valid


def _session(row: SessionRow) -> Session:
    return Session(
        id=row.id,
        user_id=row.user_id,
        generation=int(row.generation),
        via=row.via,
        address=row.address or "",
        user_agent=row.user_agent or "",
        created_at=row.created_at,
        last_seen_at=row.last_seen_at,
    )
