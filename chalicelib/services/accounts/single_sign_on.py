"""Single sign-on: people sign in at an OpenID provider, and their groups there give them a role here."""

import hashlib
import hmac
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from chalicelib.clients.http.openid import Attempt, OpenIdProvider
from chalicelib.domain.access import Actor, RequestContext, Role
from chalicelib.domain.accounts.email import email_key
from chalicelib.domain.accounts.login_limits import LoginLimit
from chalicelib.domain.accounts.sign_in_rules import SignInRules
from chalicelib.domain.accounts.sign_on import TICKET_LIFETIME, Person, Refusal, SignOnRefused, role_of
from chalicelib.domain.accounts.user import User, UserStatus
from chalicelib.domain.console_links import console_link
from chalicelib.errors import HeadgateError, NotPermitted, TimedOut, Unauthenticated, Unavailable, WriteConflict
from chalicelib.kit.clock import Clock
from chalicelib.kit.ids import new_id, new_token
from chalicelib.kit.pages import Signer
from chalicelib.kit.retry import at_once
from chalicelib.secrets.tokens import token_hash
from chalicelib.services.accounts.login_throttle import LoginThrottle
from chalicelib.services.accounts.sessions import SessionService, UserSession
from chalicelib.services.accounts.users import change_user, user_view
from chalicelib.services.audit.trail import AuditTrail
from chalicelib.stores.accounts.users import Users
from chalicelib.stores.transaction import Transaction

VIA = "oidc"
_ATTEMPTS = 5
"""Of a sign-in whose user is changed at the same moment."""
_AGAIN = "Nobody was signed in. Start again at /api/v1/auth/oidc/login."
_TEXTS: Mapping[Refusal, str] = {
    Refusal.NOT_STARTED_HERE: "This browser has not started to sign in, or more than ten minutes ago. Start again at "
    "/api/v1/auth/oidc/login, under the address at which Headgate is published, with cookies allowed.",
    Refusal.DECLINED: "The identity provider did not let you in, or you have stopped. Nobody was signed in.",
    Refusal.EMAIL_MISSING: "The identity provider gives no e-mail address that can be used for you. Ask who runs it.",
    Refusal.EMAIL_NOT_VERIFIED: "The identity provider has not verified your e-mail address. Verify it there first.",
    Refusal.EMAIL_IN_USE: "There is another account with your e-mail address here, and it is not the one of your "
    "identity. An Admin can delete that account, or the operator can allow that accounts are linked.",
    Refusal.LAST_ADMIN: "The account with your e-mail address here is the last active Admin, and your groups do not "
    "give that role. Give another account the role Admin first.",
    Refusal.NO_ROLE: "None of your groups has a role in Headgate. Ask an Admin which group you need.",
    Refusal.DISABLED: "Your account is disabled. Ask an Admin.",
}
"""Messages by reason; `_AGAIN` for the other reasons."""
_NOT_PERMITTED = frozenset(
    (
        *(Refusal.EMAIL_MISSING, Refusal.EMAIL_NOT_VERIFIED, Refusal.EMAIL_IN_USE),
        *(Refusal.LAST_ADMIN, Refusal.NO_ROLE, Refusal.DISABLED),
    )
)
"""Reasons that concern a person whom the provider has identified: signing in again does not help."""


class AuthorizationRequest(NamedTuple):
    """Where the browser signs in, and the ticket that it brings back in a cookie."""

    url: str
    ticket: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SignOnCallback:
    """The query with which the provider sends a browser back. An empty text is a field that was sent twice."""

    state: str | None
    code: str | None
    issuer: str | None
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleSignOn:
    """Issuer and subject say who somebody is, never the e-mail: that can change hands at the provider.

    A ticket is random, signed, and used once; state, nonce and the verifier of PKCE follow from it by the signing key
    of the installation. So starting stores nothing, and who reads the cookie does not know the verifier.
    """

    provider: OpenIdProvider
    roles: Mapping[str, Role]
    link_accounts: bool
    rules: SignInRules
    public_url: str
    users: Users
    sessions: SessionService
    throttle: LoginThrottle
    audit: AuditTrail
    signer: Callable[[], Signer]
    clock: Clock

    def start(self, context: RequestContext) -> AuthorizationRequest:
        """Send a browser to the provider. Raises Unavailable and TimedOut."""
        token, ends = new_token(), int((self.clock() + TICKET_LIFETIME).timestamp())
        url = self.provider.authorization_url(self._attempt(token), context.deadline)
        return AuthorizationRequest(url=url, ticket=f"{token}.{ends}.{self._derived('ticket', f'{token}.{ends}')}")

    def finish(
        self, context: RequestContext, callback: SignOnCallback, ticket: str | None, *, replaces: str | None = None
    ) -> UserSession:
        """A new session; the one of the cookie `replaces` ends. Every refusal is audited with its reason.

        Raises Unauthenticated and NotPermitted with the reason in the details, RateLimited, Unavailable, TimedOut.
        """
        context = replace(context, actor=Actor(id=None, email=None, role=None, via=VIA))
        try:
            token, code = self._checked(callback, ticket)
            limit = self.throttle.admit_sign_on(context)
            person = self.provider.person(self._attempt(token), code, callback.issuer, context.deadline)
            person.check_email()
            context = replace(context, actor=replace(context.actor, email=person.email))
            return self._signed_in(context, person, limit, token_hash(token), replaces)
        except SignOnRefused as refused:
            self.audit.record_refusal(context, "session.login", refused.about, reason=refused.reason, meaningful=False)
            raise _refused(refused.reason) from None
        except (Unavailable, TimedOut):
            self.audit.record_refusal(context, "session.login", None, reason="provider_unavailable", meaningful=False)
            raise

    @property
    def after_url(self) -> str:
        """Where a browser goes when somebody has signed in: always the same."""
        return console_link(self.public_url)

    def _checked(self, callback: SignOnCallback, ticket: str | None) -> tuple[str, str]:
        """The ticket's token and the code, when this very browser was sent to the provider. Raises SignOnRefused."""
        token, _, rest = (ticket or "").partition(".")
        ends, _, signature = rest.partition(".")
        signed = _same(signature, self._derived("ticket", f"{token}.{ends}"))
        # The signature comes first: only what was signed here is known to be a number.
        if not signed or int(ends) <= self.clock().timestamp():
            raise SignOnRefused(Refusal.NOT_STARTED_HERE)
        if not _same(callback.state or "", self._derived("state", token)):
            raise SignOnRefused(Refusal.NOT_STARTED_HERE)
        if callback.error == "access_denied":
            raise SignOnRefused(Refusal.DECLINED)
        if callback.error is not None or not callback.code:
            raise SignOnRefused(Refusal.PROVIDER_ERROR)
        return token, callback.code

    def _attempt(self, token: str) -> Attempt:
        verifier = self._derived("verifier", token)
        return Attempt(
            state=self._derived("state", token),
            nonce=self._derived("nonce", token),
            verifier=verifier,
            challenge=_text(hashlib.sha256(verifier.encode()).digest()),
            redirect_uri=f"{self.public_url}/api/v1/auth/oidc/callback",
        )

    def _derived(self, purpose: str, text: str) -> str:
        return _text(self.signer().digest(f"oidc-{purpose}", text.encode(errors="replace")))

    def _signed_in(
        self, context: RequestContext, person: Person, limit: LoginLimit, ticket: str, replaces: str | None
    ) -> UserSession:
        def begin(_attempt: int) -> UserSession:
            user, transaction = self._account(context, person), Transaction()
            self.throttle.sign_on_succeeded(transaction, limit, ticket)
            try:
                return self.sessions.begin(context, user, transaction, replaces=replaces, via=VIA)
            except WriteConflict as conflict:
                if conflict.label == "login_try.used":
                    raise SignOnRefused(Refusal.USED, person.identity) from None
                raise

        return at_once(_ATTEMPTS).run(begin, on=WriteConflict)

    def _account(self, context: RequestContext, person: Person) -> User:
        """The user of this person, with the role of their groups; made at the first time. Raises SignOnRefused."""
        known, role = self.users.by_identity(person.identity), role_of(person.groups, self.roles)
        about = known.id if known else person.identity
        if known and known.status is not UserStatus.ACTIVE:
            raise SignOnRefused(Refusal.DISABLED, about)
        if role is None:
            raise SignOnRefused(Refusal.NO_ROLE, about)
        if known:
            return self._updated(context, known, person, role)
        same_address = self.users.by_email(person.email)
        if same_address and same_address.identity == person.identity:
            raise WriteConflict("user.identity")  # another browser of this person was faster: begin again
        if same_address:
            return self._linked(context, same_address, person, role)
        return self._made(context, person, role)

    def _made(self, context: RequestContext, person: Person, role: Role) -> User:
        now, identity = self.clock(), person.identity
        user = User(id=new_id(), email=person.email, role=role, identity=identity, created_at=now, updated_at=now)
        with Transaction() as transaction:
            stored = self.users.put_new(transaction, user)
            self.audit.record(transaction, context, "user.create", user.id, after=user_view(user))
        return stored

    def _linked(self, context: RequestContext, user: User, person: Person, role: Role) -> User:
        """The account that has the person's address, where the operator allows that. Raises SignOnRefused."""
        # Where passwords are off, single sign-on is how somebody joins who was invited: there is nothing to take over.
        joins = user.status is UserStatus.INVITED and not self.rules.password_login
        if user.identity or not (self.link_accounts or joins):
            raise SignOnRefused(Refusal.EMAIL_IN_USE, user.id)
        if user.status is UserStatus.DISABLED:
            raise SignOnRefused(Refusal.DISABLED, user.id)
        if user.is_active_admin and role is not Role.ADMIN and self.users.active_admins() <= 1:
            # The last Admin stays one, and who links must not get more than their groups give: so they stay apart.
            raise SignOnRefused(Refusal.LAST_ADMIN, user.id)
        joined = replace(user, identity=person.identity, status=UserStatus.ACTIVE, invite=None, role=role)
        return self._changed(context, "user.link_identity", user, joined)

    def _updated(self, context: RequestContext, user: User, person: Person, role: Role) -> User:
        after = replace(
            user, role=self._possible_role(context, user, role), email=self._possible_email(context, user, person)
        )
        return user if after == user else self._changed(context, "user.update", user, after)

    def _possible_role(self, context: RequestContext, user: User, role: Role) -> Role:
        """The role; the last active Admin stays one, so that somebody can still change users."""
        if role is Role.ADMIN or not user.is_active_admin or self.users.active_admins() > 1:
            return role
        self.audit.record_refusal(context, "user.change_role", user.id, reason="last_admin")
        return user.role

    def _possible_email(self, context: RequestContext, user: User, person: Person) -> str:
        """The address that the provider gives now; the old one stays while somebody else here has that one."""
        if email_key(person.email) == email_key(user.email):
            return user.email
        if self.users.by_email(person.email) is None:
            return person.email
        self.audit.record_refusal(context, "user.change_email", user.id, reason=Refusal.EMAIL_IN_USE)
        return user.email

    def _changed(self, context: RequestContext, action: str, before: User, after: User) -> User:
        after = replace(after, updated_at=self.clock())
        return change_user(self.users, self.audit, context, action, before, after)


def _refused(reason: Refusal) -> HeadgateError:
    kind = NotPermitted if reason in _NOT_PERMITTED else Unauthenticated
    return kind(_TEXTS.get(reason, _AGAIN), details={"reason": reason.value})


def _same(presented: str, expected: str) -> bool:
    """Takes the same time whatever is presented."""
    return hmac.compare_digest(presented.encode(errors="replace"), expected.encode())


def _text(raw: bytes) -> str:
    return urlsafe_b64encode(raw).decode().rstrip("=")
