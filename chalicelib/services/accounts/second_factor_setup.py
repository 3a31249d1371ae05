"""Setting up and removing second factors."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from chalicelib.domain.access import RequestContext
from chalicelib.domain.accounts.email import email_key
from chalicelib.domain.accounts.login_limits import LoginTry
from chalicelib.domain.accounts.user import SecondFactor, User
from chalicelib.errors import Conflict, NotFound, Unauthenticated, WriteConflict
from chalicelib.kit.clock import Clock
from chalicelib.kit.ids import new_id
from chalicelib.kit.masking import Secret
from chalicelib.secrets.passwords import verify_password
from chalicelib.secrets.second_factor import app_uri, new_app_secret, new_recovery_codes, recovery_hash
from chalicelib.services.accounts.login_throttle import LoginThrottle
from chalicelib.services.accounts.own_sessions import OwnSessions
from chalicelib.services.accounts.second_factor import APP_SECRET, SecondFactors
from chalicelib.services.accounts.sessions import SessionService
from chalicelib.services.audit.trail import AuditTrail
from chalicelib.services.credentials import CredentialVault
from chalicelib.stores.accounts.users import Users
from chalicelib.stores.transaction import Transaction

_RESOURCE = "second_factor"
_WITH, _WITHOUT = {"second_factor": True}, {"second_factor": False}


class NewSecondFactor(NamedTuple):
    """What an authenticator app has to know; both are shown once."""

    secret: Secret
    uri: Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondFactorSetup:
    """People set up and remove their own; an Admin removes that of somebody who has lost it."""

    users: Users
    sessions: SessionService
    own_sessions: OwnSessions
    throttle: LoginThrottle
    factors: SecondFactors
    vault: CredentialVault
    audit: AuditTrail
    clock: Clock

    def start(self, context: RequestContext) -> NewSecondFactor:
        """A secret that counts once it is confirmed; one that was not confirmed ends. Raises Conflict for who has a
        second factor, and for accounts without a password; NotPermitted for a token, WriteConflict.
        """
        user = self.sessions.of(context).user
        if user.has_second_factor:
            raise Conflict("You have a second factor. Remove it first: DELETE /api/v1/auth/totp.")
        if user.password_hash is None:
            raise Conflict("Your account has no password. Second factors are a matter of your identity provider.")
        factor_id, secret = new_id(), new_app_secret()
        with Transaction() as transaction:
            self._forget(transaction, user)
            credentials = self.vault.seal_new(transaction, _RESOURCE, factor_id, {APP_SECRET: secret})
            factor = SecondFactor(id=factor_id, credentials=credentials)
            self._change(transaction, user, replace(user, second_factor=factor))
            self.audit.record(transaction, context, "user.start_second_factor", user.id, meaningful=False)
        return NewSecondFactor(secret, app_uri(secret, user.email))

    def confirm(self, context: RequestContext, code: Secret) -> Sequence[Secret]:
        """The recovery codes, shown once; from now on a code is asked for, and all other sessions have ended.

        Raises Conflict when nothing was started, Unauthenticated for a wrong code, RateLimited, NotPermitted.
        """
        user = self.sessions.of(context).user
        factor = user.second_factor
        if factor is None or user.has_second_factor:
            raise Conflict("There is no second factor to confirm. Start with POST /api/v1/auth/totp.")
        admitted = self.throttle.admit(context, _login(context, user), user.id)
        proof = self.factors.check(context, user, factor, code, admitted)
        if proof is None:
            raise self._wrong(context, user, "user.add_second_factor", "wrong_code")
        codes = new_recovery_codes()
        hashes = tuple(map(recovery_hash, codes))
        confirmed = replace(factor, confirmed_at=self.clock(), recovery_hashes=hashes)
        with Transaction() as transaction:
            self.own_sessions.end_others_in(transaction, context, user, replace(user, second_factor=confirmed))
            self.throttle.succeeded(transaction, proof.admitted)
            self.factors.use(transaction, proof)
            self.audit.record(transaction, context, "user.add_second_factor", user.id, before=_WITHOUT, after=_WITH)
        return codes

    def remove(self, context: RequestContext, password: Secret, code: Secret) -> None:
        """Remove one's own; all other sessions end. Raises NotFound without one, Unauthenticated for a wrong password
        or code, RateLimited, NotPermitted for a token, WriteConflict.
        """
        user, action = self.sessions.of(context).user, "user.remove_second_factor"
        if user.second_factor is None or not user.has_second_factor:
            raise _none()
        admitted = self.throttle.admit(context, _login(context, user), user.id)
        if not verify_password(password, user.password_hash):
            raise self._wrong(context, user, action, "wrong_password")
        proof = self.factors.check(context, user, user.second_factor, code, admitted)
        if proof is None:
            raise self._wrong(context, user, action, "wrong_code")
        try:
            with Transaction() as transaction:
                self._forget(transaction, user)
                self.own_sessions.end_others_in(transaction, context, user, replace(user, second_factor=None))
                self.throttle.succeeded(transaction, proof.admitted)
                self.factors.use(transaction, proof)
                self._record_removal(transaction, context, user)
        except WriteConflict as conflict:
            if conflict.label == "login_try.used":
                raise self._wrong(context, user, action, "used_code") from None
            raise

    def remove_of(self, context: RequestContext, user_id: str) -> None:
        """Remove that of another user, whose sessions end. Raises NotFound, Conflict for one's own, WriteConflict."""
        user = self.users.get(user_id)
        if user.id == context.actor.id:
            raise Conflict("Your own second factor needs your password and a code: DELETE /api/v1/auth/totp.")
        context.expect_version(user.version)
        if user.second_factor is None:
            raise _none()
        with Transaction() as transaction:
            self._forget(transaction, user)
            generation = user.session_generation + 1
            self._change(transaction, user, replace(user, second_factor=None, session_generation=generation))
            self._record_removal(transaction, context, user)

    def _change(self, transaction: Transaction, before: User, after: User) -> None:
        changed = replace(after, version=before.version + 1, updated_at=self.clock())
        self.users.change(transaction, before, changed)

    def _forget(self, transaction: Transaction, user: User) -> None:
        if user.second_factor:
            self.vault.remove(transaction, user.second_factor.credentials)

    def _record_removal(self, transaction: Transaction, context: RequestContext, user: User) -> None:
        self.audit.record(transaction, context, "user.remove_second_factor", user.id, before=_WITH, after=_WITHOUT)

    def _wrong(self, context: RequestContext, user: User, action: str, reason: str) -> Unauthenticated:
        self.audit.record_refusal(context, action, user.id, reason=reason, meaningful=False)
        return Unauthenticated("The password or the code is wrong.", code="INVALID_CREDENTIALS")


def _login(context: RequestContext, user: User) -> LoginTry:
    session_id = context.actor.credential_id
    return LoginTry(account=email_key(user.email), source_address=context.source_address, session_id=session_id)


def _none() -> NotFound:
    return NotFound("There is no second factor.")
