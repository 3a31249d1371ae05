"""Sessions: signing in and out, passwords, and the user behind a cookie."""

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import NamedTuple

from chalicelib.domain.access import SIGN_IN, Actor, RequestContext
from chalicelib.domain.accounts.email import email_key
from chalicelib.domain.accounts.login_limits import LoginTry
from chalicelib.domain.accounts.sign_in_rules import PASSWORD, SignInRules
from chalicelib.domain.accounts.user import Session, User, UserStatus, shown_user_agent
from chalicelib.domain.audit.record import View
from chalicelib.errors import NotPermitted, Unauthenticated, WriteConflict
from chalicelib.kit.clock import Clock
from chalicelib.kit.ids import is_uuid, new_token
from chalicelib.kit.log import get_logger
from chalicelib.kit.masking import Secret
from chalicelib.kit.retry import at_once
from chalicelib.secrets.passwords import hash_password, needs_new_hash, verify_password
from chalicelib.secrets.tokens import token_hash
from chalicelib.services.accounts.login_throttle import LoginThrottle
from chalicelib.services.accounts.second_factor import Proof, SecondFactors
from chalicelib.services.accounts.users import require_strong
from chalicelib.services.audit.trail import AuditTrail
from chalicelib.stores.accounts.group import AccountStores
from chalicelib.stores.transaction import Transaction

_TOUCH_EVERY = timedelta(seconds=60)
"""A session's last use is written at most this often, so that not every request costs a write."""

_ATTEMPTS = 5
"""Of a login whose user is changed at the same moment."""


class UserSession(NamedTuple):
    """A session with its user. `token` is the value of the cookie, at login only. `lacks_second_factor`: it may do
    nothing but set one up.
    """

    user: User
    session: Session
    token: Secret | None = None
    lacks_second_factor: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionService:
    """Sessions of people. The cookie's value is `<user id>.<token>`, so that one call reads session and user."""

    stores: AccountStores
    rules: SignInRules
    throttle: LoginThrottle
    second_factors: SecondFactors
    audit: AuditTrail
    clock: Clock

    def login(
        self,
        context: RequestContext,
        email: str,
        password: Secret,
        code: Secret | None = None,
        *,
        replaces: str | None = None,
    ) -> UserSession:
        """A new session; the one of the cookie `replaces` ends. Raises Unauthenticated: INVALID_CREDENTIALS, or
        SECOND_FACTOR_REQUIRED after the right password.

        An unknown user, a wrong password and a disabled user are the same error, after the same work: the same reads,
        one hash. Where passwords are off nothing is hashed. Raises RateLimited before any hashing, or while too many
        passwords are being hashed; WriteConflict when the user changes all the time.
        """
        user = self.stores.users.by_email(email)
        present = self._present(replaces) if replaces else None
        own = present is not None and user is not None and present.user.id == user.id
        login = LoginTry(
            account=email_key(email),
            source_address=context.source_address,
            session_id=present.session.id if present and own else None,
        )
        admitted = self.throttle.admit(context, login, user.id if user else None)
        if not self.rules.takes_password(email):
            raise self._refused(context, user, "password_login_off")
        password_hash = user.password_hash if user else None
        verified = verify_password(password, password_hash)
        if not verified or user is None or user.status is not UserStatus.ACTIVE:
            reason = "wrong_password" if user and not verified else "not_active" if user else "unknown_user"
            raise self._refused(context, user, reason)
        proof = self.second_factors.prove(context, user, code, admitted)
        signed_in = self._begin(context, user, proof, replaces)
        self._hash_again(signed_in.user, password)
        return signed_in

    def _begin(self, context: RequestContext, user: User, proof: Proof, replaces: str | None) -> UserSession:
        """The session of a user whose password and code were right."""

        def begin(attempt: int) -> UserSession:
            current = self.stores.users.find_readable(user.id) if attempt else user
            # own-rule secrets-compared: both were stored
            unchanged = current is not None and current.password_hash == user.password_hash
            if not unchanged or current is None or current.status is not UserStatus.ACTIVE:
                raise self._refused(context, current, "not_active" if unchanged else "wrong_password")
            if not proof.holds_for(current):
                raise self.second_factors.refused(context, current, "wrong_code")
            transaction = Transaction()
            self.throttle.succeeded(transaction, proof.admitted)
            self.second_factors.use(transaction, proof)
            after = proof.user_after(current)
            try:
                more = self._seen(current, proof)
                return self.begin(
                    context, after, transaction, replaces=replaces, more=more, changed=after is not current
                )
            except WriteConflict as conflict:
                if conflict.label == "login_try.used":
                    raise self.second_factors.refused(context, current, "used_code") from None
                raise

        signed_in = at_once(_ATTEMPTS).run(begin, on=WriteConflict)
        if self.rules.is_way_back(user.email):
            get_logger().warning("the first Admin signed in with a password, which is off", extra={"user_id": user.id})
        return signed_in

    def _seen(self, user: User, proof: Proof) -> View:
        """What the record of a login says besides how it was proved."""
        seen: dict[str, str] = {"second_factor": proof.kind} if proof.kind else {}
        return {**seen, "password_login": "off"} if self.rules.is_way_back(user.email) else seen

    def _refused(self, context: RequestContext, user: User | None, reason: str) -> Unauthenticated:
        """The one error of a login that fails before its second factor. It is audited with the reason."""
        user_id = user.id if user else None
        self.audit.record_refusal(context, "session.login", user_id, reason=reason, meaningful=False)
        return Unauthenticated("Email or password is wrong.", code="INVALID_CREDENTIALS")

    def change_password(
        self, context: RequestContext, current: Secret, new: Secret, *, end_tokens: bool = False
    ) -> UserSession:
        """Set another password; all sessions of the user end, and one begins. With `end_tokens` all API tokens of the
        user end too.

        Raises Invalid for a common password, Unauthenticated (INVALID_CREDENTIALS for a wrong one), NotPermitted for a
        token, RateLimited, WriteConflict.
        """
        user, session_id = self.of(context).user, context.actor.credential_id or ""
        require_strong(new, user.email, field="new_password")
        account, address = email_key(user.email), context.source_address
        login = LoginTry(account=account, source_address=address, session_id=session_id)
        admitted = self.throttle.admit(context, login, user.id)
        if not verify_password(current, user.password_hash):
            self.audit.record_refusal(context, "user.change_password", user.id, reason="wrong_password")
            raise Unauthenticated("The current password is wrong.", code="INVALID_CREDENTIALS")
        after = replace(
            user,
            password_hash=hash_password(new),
            session_generation=user.session_generation + 1,
            token_generation=user.token_generation + end_tokens,
            version=user.version + 1,
            updated_at=self.clock(),
        )
        with Transaction() as transaction:
            stored = self.stores.users.change(transaction, user, after)
            self.stores.sessions.delete(transaction, session_id)
            self.throttle.succeeded(transaction, admitted)
            ended = {"tokens_ended": end_tokens}
            self.audit.record(transaction, context, "user.change_password", user.id, after=ended)
            session, token = self._put_session(transaction, context, stored, via=PASSWORD)
        if end_tokens:
            self.stores.api_tokens.remove_ended(stored)
        return UserSession(user=stored, session=session, token=token)

    def logout(self, context: RequestContext) -> None:
        """Delete the session. Raises NotPermitted for a token."""
        person(context)
        with Transaction() as transaction:
            self.stores.sessions.delete(transaction, context.actor.credential_id or "")
            self.audit.record(transaction, context, "session.logout", context.actor.id, meaningful=False)

    def signed_in(self, cookie: str, *, counts_as_use: bool = True) -> UserSession:
        """The session and user behind a cookie. Raises Unauthenticated.

        A request that a page makes by itself does not count as use: an open page would keep the session for hours.
        """
        present, now = self._present(cookie), self.clock()
        if present is None:
            raise _not_signed_in()
        if counts_as_use and now - present.session.last_seen_at >= _TOUCH_EVERY:
            present = present._replace(session=replace(present.session, last_seen_at=now))
            self.stores.sessions.touch(present.session)
        return present

    def of(self, context: RequestContext) -> UserSession:
        """The session of the request, read again. Raises NotPermitted for a token, Unauthenticated."""
        present = self._valid(context.actor.credential_id or "", person(context))
        if present is None:
            raise _not_signed_in()  # another request has ended it since this one came
        return present

    def begin(
        self,
        context: RequestContext,
        user: User,
        transaction: Transaction,
        *,
        replaces: str | None = None,
        via: str = PASSWORD,
        more: View | None = None,
        changed: bool = False,
    ) -> UserSession:
        """Add a new session to the transaction of a login; commits it. `via` is what proved who the user is, `more` is
        recorded besides, `changed`: the login has changed the user.

        Raises WriteConflict when the user has changed since it was read.
        """
        if replaces is not None:
            self.stores.sessions.delete(transaction, _session_id(replaces))
        now = self.clock()
        # Its condition is the user's revision: a user who is disabled at this moment is not signed in.
        self.stores.users.record_login(transaction, user, now, changed=changed)
        session, token = self._put_session(transaction, context, user, via=via)
        context = replace(context, actor=actor_of(user, session))
        seen = {"via": via, "source_address": context.source_address or None, **(more or {})}
        self.audit.record(transaction, context, "session.login", user.id, after=seen, meaningful=False)
        transaction.commit()
        return UserSession(user=replace(user, last_login_at=now), session=session, token=token)

    def _put_session(
        self, transaction: Transaction, context: RequestContext, user: User, *, via: str
    ) -> tuple[Session, Secret]:
        now, token = self.clock(), new_token()
        session = Session(
            id=token_hash(token),
            user_id=user.id,
            generation=user.session_generation,
            via=via,
            address=context.source_address,
            user_agent=shown_user_agent(context.user_agent),
            created_at=now,
            last_seen_at=now,
        )
        self.stores.sessions.put_new(transaction, session)
        return session, Secret(f"{user.id}.{token}")

    def _present(self, cookie: str) -> UserSession | None:
        """The session of a cookie, if it is valid."""
        user_id, _, token = cookie.partition(".")
        return self._valid(token_hash(token), user_id) if is_uuid(user_id) and token else None

    def _valid(self, session_id: str, user_id: str) -> UserSession | None:
        session, user = self.stores.sessions.find(session_id, user_id) or (None, None)
        if session is None or user is None or not session.valid(user, self.clock()):
            return None
        lacks_second_factor = self.rules.lacks_second_factor(user, session)
        return UserSession(user=user, session=session, lacks_second_factor=lacks_second_factor)

    def _hash_again(self, user: User, password: Secret) -> None:
        """Replace a hash that was made with other parameters than we use now, if nobody is faster."""
        if user.password_hash and needs_new_hash(user.password_hash):
            with suppress(WriteConflict):
                self.stores.users.save_alone(replace(user, password_hash=hash_password(password)))


def actor_of(user: User, session: Session) -> Actor:
    """The actor of requests that come with the user's cookie."""
    return Actor(
        id=user.id,
        email=user.email,
        role=user.role,
        via="session",
        credential_id=session.id,
        expires_at=session.ends_at,
        idle_expires_at=session.expires_at(),
    )


def person(context: RequestContext) -> str:
    """The id of the person who has signed in. Raises NotPermitted for a token."""
    if context.actor.via != "session" or context.actor.id is None:
        raise NotPermitted("This is for people with a session. A token ends by DELETE /api/v1/auth/tokens/{id}.")
    return context.actor.id


def _not_signed_in() -> Unauthenticated:
    return Unauthenticated(SIGN_IN)


def _session_id(cookie: str) -> str:
    return token_hash(cookie.partition(".")[2])
