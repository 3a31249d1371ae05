"""Codes of second factors: asked for at sign-in, taken once, and counted before they are compared."""

from dataclasses import dataclass, replace
from typing import NamedTuple

from chalicelib.domain.access import RequestContext
from chalicelib.domain.accounts.user import SecondFactor, User
from chalicelib.errors import HeadgateError, Unauthenticated
from chalicelib.kit.clock import Clock
from chalicelib.kit.masking import Secret
from chalicelib.secrets.second_factor import CODE_LIFETIME, app_code_step, is_app_code, used_recovery_hash
from chalicelib.services.accounts.login_throttle import AdmittedTry, LoginThrottle
from chalicelib.services.audit.trail import AuditTrail
from chalicelib.services.credentials import CredentialVault
from chalicelib.stores.accounts.login_tries import LoginTries
from chalicelib.stores.transaction import Transaction

APP_SECRET = "app_secret"  # noqa: S105 - the name of a field


class Proof(NamedTuple):
    """What was accepted as the second factor `factor_id`: nothing, the code of a `step`, or the recovery code with
    `used_hash`. `admitted` is the try with all that it was counted for.
    """

    admitted: AdmittedTry
    factor_id: str | None = None
    step: int | None = None
    used_hash: str | None = None

    @property
    def kind(self) -> str | None:
        """How the audit trail names it; None without a second factor."""
        return "app" if self.step is not None else "recovery_code" if self.used_hash else None

    def holds_for(self, user: User) -> bool:
        """Whether it still proves who a user is that was read again."""
        factor = user.second_factor if user.has_second_factor else None
        if factor is None or factor.id != self.factor_id:
            return factor is None and self.factor_id is None
        return self.used_hash is None or self.used_hash in factor.recovery_hashes

    def user_after(self, user: User) -> User:
        """The user without the recovery code."""
        factor = user.second_factor
        if factor is None or self.used_hash is None:
            return user
        left = tuple(stored for stored in factor.recovery_hashes if stored != self.used_hash)
        return replace(user, second_factor=replace(factor, recovery_hashes=left))


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondFactors:
    tries: LoginTries
    vault: CredentialVault
    throttle: LoginThrottle
    audit: AuditTrail
    clock: Clock

    def prove(self, context: RequestContext, user: User, code: Secret | None, admitted: AdmittedTry) -> Proof:
        """Check the code of a user whose password was right; a user without a second factor needs none.

        Raises Unauthenticated SECOND_FACTOR_REQUIRED, which is audited; RateLimited.
        """
        factor = user.second_factor
        if factor is None or not user.has_second_factor:
            return Proof(admitted)
        if code is None:
            # Also the first step of a client that asks for one thing after the other. It is recorded: somebody who
            # knows the password and stops here must not go unseen.
            self._record(context, user, "code_missing")
            raise _code_required("Send the code of your authenticator app in `code`, or a recovery code.")
        if (proof := self.check(context, user, factor, code, admitted)) is None:
            raise self.refused(context, user, "wrong_code")
        return proof

    def check(
        self, context: RequestContext, user: User, factor: SecondFactor, code: Secret, admitted: AdmittedTry
    ) -> Proof | None:
        """The proof that a code is; None for a wrong one. Codes of apps are counted first. Raises RateLimited."""
        if not is_app_code(code):
            used_hash = used_recovery_hash(code, tuple(factor.recovery_hashes))
            return Proof(admitted, factor.id, used_hash=used_hash) if used_hash else None
        admitted = self.throttle.admit_code(context, admitted, user.id)
        step = app_code_step(self.vault.open(factor.credentials)[APP_SECRET], code, self.clock())
        return None if step is None else Proof(admitted, factor.id, step=step)

    def use(self, transaction: Transaction, proof: Proof) -> None:
        """Use up the code of an app. Conflict label when it was used before: `login_try.used`."""
        if proof.step is not None:
            key = f"code/{proof.factor_id}/{proof.step}"
            self.tries.use_once(transaction, key, self.clock() + 2 * CODE_LIFETIME)

    def refused(self, context: RequestContext, user: User, reason: str) -> HeadgateError:
        """The error of a code that is wrong or was used. It is audited as a sign-in that has failed."""
        self._record(context, user, reason)
        return _code_required("This code is wrong, or was used already. Wait for the next, or use a recovery code.")

    def _record(self, context: RequestContext, user: User, reason: str) -> None:
        self.audit.record_refusal(context, "session.login", user.id, reason=reason, meaningful=False)


def _code_required(message: str) -> Unauthenticated:
    return Unauthenticated(message, code="SECOND_FACTOR_REQUIRED")
