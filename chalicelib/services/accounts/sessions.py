"""Sessions: signing in and out, and the user behind a cookie."""

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import NamedTuple

from chalicelib.domain.access import SYSTEM, Actor, RequestContext, Role
from chalicelib.domain.accounts.user import Session, User, UserStatus
from chalicelib.domain.audit import Outcome
from chalicelib.domain.names import unique_key
from chalicelib.errors import Unauthenticated, WriteConflict
from chalicelib.kit.clock import Clock
from chalicelib.kit.ids import id_from, is_uuid, new_id, new_token
from chalicelib.kit.masking import Secret
from chalicelib.secrets.passwords import hash_password, is_password_hash, verify_password
from chalicelib.secrets.tokens import token_hash
from chalicelib.services.audit import AuditTrail
from chalicelib.stores.accounts.users import Sessions, Users
from chalicelib.stores.transaction import Transaction

_TOUCH_EVERY = timedelta(seconds=60)
"""A session's last use is written at most this often, so that not every request costs a write."""


_ATTEMPTS = 10
"""Of a login whose user is changed at the same moment, as by other logins of the same user."""


class SignedIn(NamedTuple):
    """A session with its user. `token` is the value of the cookie, at login only."""

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
        """Create the first Admin, unless the address has an account: an existing one is never reset.

        The password may be given as its hash, so that an environment that is shown to others does not hold it.
        """
        user_id = _user_id(email)
        if self.users.find(user_id):
            return
        now = self.clock()
        user = User(
            id=user_id,
            email=email.strip(),
            role=Role.ADMIN,
            password_hash=password.reveal() if is_password_hash(password) else hash_password(password),
            created_at=now,
            updated_at=now,
        )
        transaction = Transaction()
        self.users.put_new(transaction, user)
        context = RequestContext(actor=SYSTEM, correlation_id=new_id())
        self.audit.record(transaction, context, "user.install", user.id, after={"role": user.role})
        with suppress(WriteConflict):  # another process was faster
            transaction.commit()

    def login(self, context: RequestContext, email: str, password: Secret, *, replaces: str | None = None) -> SignedIn:
        """A new session; the one of the cookie `replaces` ends. Raises Unauthenticated INVALID_CREDENTIALS.

        An unknown user, a wrong password and a disabled user are the same error, after the same work: one hash.
        Raises RateLimited while too many passwords are being hashed, and WriteConflict when the user changes all the
        time.
        """
        user = self.users.find(_user_id(email))
        verified = verify_password(password, user.password_hash if user else None)
        for _ in range(_ATTEMPTS):
            if not verified or user is None or user.status is not UserStatus.ACTIVE:
                self.audit.record_alone(context, "session.login", user.id if user else None, outcome=Outcome.DENIED)
                raise Unauthenticated("Email or password is wrong.", code="INVALID_CREDENTIALS")
            with suppress(WriteConflict):
                return self._begin(context, user, replaces)
            before, user = user, self.users.find(user.id)
            # own-rule secrets-compared: both were stored
            verified = user is not None and user.password_hash == before.password_hash
        raise WriteConflict("user.changed")

    def _begin(self, context: RequestContext, user: User, replaces: str | None) -> SignedIn:
        """The session of a user whose password was right. Raises WriteConflict when the user has changed since."""
        now, token = self.clock(), new_token()
        session = Session(id=token_hash(token), user_id=user.id, created_at=now, last_seen_at=now)
        transaction = Transaction()
        self.sessions.put_new(transaction, session)
        if replaces is not None:
            self.sessions.delete(transaction, _session_id(replaces))
        stored = self.users.save(transaction, replace(user, last_login_at=now))
        context = replace(context, actor=actor_of(user))
        self.audit.record(transaction, context, "session.login", user.id, meaningful=False)
        transaction.commit()
        return SignedIn(user=stored, session=session, token=Secret(f"{user.id}.{token}"))

    def logout(self, context: RequestContext, cookie: str) -> None:
        """Delete the session."""
        transaction = Transaction()
        self.sessions.delete(transaction, _session_id(cookie))
        self.audit.record(transaction, context, "session.logout", context.actor.id, meaningful=False)
        transaction.commit()

    def signed_in(self, cookie: str) -> SignedIn:
        """The session and user behind a cookie. Raises Unauthenticated."""
        user_id, _, token = cookie.partition(".")
        found = self.sessions.find(token_hash(token), user_id) if is_uuid(user_id) and token else None
        now = self.clock()
        if found is None or not found[0].valid(now) or found[1].status is not UserStatus.ACTIVE:
            raise Unauthenticated("Sign in first: POST /api/v1/auth/login.")
        session, user = found
        if now - session.last_seen_at >= _TOUCH_EVERY:
            session = replace(session, last_seen_at=now)
            self.sessions.touch(session)
        return SignedIn(user=user, session=session)


def actor_of(user: User) -> Actor:
    """The actor of requests that come with the user's cookie."""
    return Actor(id=user.id, email=user.email, role=user.role, via="session")


def _session_id(cookie: str) -> str:
    return token_hash(cookie.partition(".")[2])


def _user_id(email: str) -> str:
    """The id is a function of the address: there is no second account for the same address, and no look-up."""
    return id_from("user", unique_key(email))
