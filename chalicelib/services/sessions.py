"""Signing in and out, and knowing who asks."""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import NamedTuple

from chalicelib.domain.access import Actor, RequestContext, Role
from chalicelib.domain.audit import Outcome
from chalicelib.domain.user import Session, User, UserStatus
from chalicelib.errors import Unauthenticated, WriteConflict
from chalicelib.kit.clock import Clock
from chalicelib.kit.ids import id_from, is_uuid, new_id, new_token
from chalicelib.kit.masking import Secret
from chalicelib.secrets.passwords import hash_password, verify_password
from chalicelib.secrets.tokens import token_hash
from chalicelib.services.audit import AuditTrail
from chalicelib.stores.transaction import Transaction
from chalicelib.stores.users import Sessions, Users

_NOTE_USE_EVERY = timedelta(seconds=60)
"""A session's last use is written at most this often: reading must not cost a write each time."""


class SignedIn(NamedTuple):
    """A session with its user and, at login only, the token that goes into the cookie."""

    user: User
    session: Session
    token: Secret | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionService:
    """Sessions of people. The cookie's value is `<user id>.<token>`, so that one call reads session and user."""

    users: Users
    sessions: Sessions
    audit: AuditTrail
    clock: Clock

    def install_admin(self, email: str, password: Secret) -> None:
        """Make the first Admin if the address has no account. Never resets an existing one."""
        user_id = self._user_id(email)
        if self.users.find(user_id):
            return
        now = self.clock()
        user = User(
            id=user_id,
            email=email.strip(),
            role=Role.ADMIN,
            password_hash=hash_password(password),
            created_at=now,
            updated_at=now,
        )
        transaction = Transaction()
        self.users.put_new(transaction, user)
        self.audit.record(transaction, _installation(), "user.install", user.id, after={"role": user.role})
        try:
            transaction.commit()
        except WriteConflict:
            return

    def login(self, context: RequestContext, email: str, password: Secret) -> SignedIn:
        """A new session. One error, at one cost, for unknown user, wrong password and disabled user."""
        user = self.users.find(self._user_id(email))
        right = verify_password(password, user.password_hash if user else None)
        if not right or user is None or user.status is not UserStatus.ACTIVE:
            self.audit.record_alone(context, "session.login", user.id if user else None, outcome=Outcome.DENIED)
            raise Unauthenticated("Email or password is wrong.", code="INVALID_CREDENTIALS")
        now, token = self.clock(), new_token()
        session = Session(id=token_hash(token), user_id=user.id, created_at=now, last_seen_at=now)
        transaction = Transaction()
        self.sessions.put_new(transaction, session)
        seen = self.users.save(transaction, replace(user, last_login_at=now))
        acting = replace(context, actor=_actor(user))
        self.audit.record(transaction, acting, "session.login", user.id, meaningful=False)
        try:
            transaction.commit()
        except WriteConflict:
            return self.login(context, email, password)
        return SignedIn(user=seen, session=session, token=Secret(f"{user.id}.{token}"))

    def logout(self, context: RequestContext, cookie: str) -> None:
        """End the session for good."""
        transaction = Transaction()
        self.sessions.end(transaction, token_hash(cookie.partition(".")[2]))
        self.audit.record(transaction, context, "session.logout", context.actor.id, meaningful=False)
        transaction.commit()

    def signed_in(self, cookie: str) -> SignedIn:
        """Who holds the cookie. Raises Unauthenticated."""
        user_id, _, token = cookie.partition(".")
        found = self.sessions.find(token_hash(token), user_id) if is_uuid(user_id) and token else None
        now = self.clock()
        if found is None or not found[0].valid(now) or found[1].status is not UserStatus.ACTIVE:
            raise Unauthenticated("Sign in first: POST /api/v1/auth/login.")
        session, user = found
        if now - session.last_seen_at >= _NOTE_USE_EVERY:
            session = replace(session, last_seen_at=now)
            self.sessions.seen(session)
        return SignedIn(user=user, session=session)

    @staticmethod
    def _user_id(email: str) -> str:
        """An address's account, by the address alone: no look-up, no second account for the same address."""
        from chalicelib.domain.names import unique_key

        return id_from("user", unique_key(email))


def _actor(user: User) -> Actor:
    return Actor(id=user.id, email=user.email, role=user.role, via="session")


def actor_of(signed_in: SignedIn) -> Actor:
    """The actor that a signed-in person is."""
    return _actor(signed_in.user)


def _installation() -> RequestContext:
    return RequestContext(actor=Actor(id=None, email=None, role=None, via="system"), correlation_id=new_id())
