"""Limits how often passwords and codes are tried. The rules are in `domain.accounts.login_limits`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

from chalicelib.domain.access import RequestContext
from chalicelib.domain.accounts.login_limits import KNOWN_FOR, LoginLimit, LoginTry, sign_on_limit
from chalicelib.domain.accounts.sign_on import TICKET_LIFETIME
from chalicelib.errors import RateLimited
from chalicelib.kit.clock import Clock
from chalicelib.services.audit.trail import AuditTrail
from chalicelib.stores.accounts.login_tries import LoginTries
from chalicelib.stores.transaction import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmittedTry:
    """A try that was counted for these limits."""

    login: LoginTry
    known: bool
    limits: Sequence[LoginLimit]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginThrottle:
    """Counts in the store, so that every process and every restart knows the same numbers."""

    store: LoginTries
    audit: AuditTrail
    clock: Clock

    def admit(self, context: RequestContext, login: LoginTry, user_id: str | None) -> AdmittedTry:
        """Count a try, before anything is hashed. Raises RateLimited, which is audited."""
        now = self.clock()
        known = self.store.is_known(login.known_key, now)
        # Counted now and given back later: of many tries at the same time none may pass uncounted.
        counted = [self._count(context, limit, user_id, tried="passwords") for limit in login.limits(now, known=known)]
        return AdmittedTry(login=login, known=known, limits=counted)

    def admit_code(self, context: RequestContext, admitted: AdmittedTry, user_id: str) -> AdmittedTry:
        """Count a code of the second factor, once the password was right. Raises RateLimited, which is audited."""
        limit = admitted.login.code_limit(self.clock(), known=admitted.known)
        counted = self._count(context, limit, user_id, tried="codes")
        return replace(admitted, limits=(*admitted.limits, counted))

    def admit_sign_on(self, context: RequestContext) -> LoginLimit:
        """Count a return from the provider of single sign-on, before it is asked. Raises RateLimited, audited."""
        return self._count(context, sign_on_limit(context.source_address, self.clock()), None, tried="sign-ins")

    def sign_on_succeeded(self, transaction: Transaction, limit: LoginLimit, ticket: str) -> None:
        """Give it back, and use the ticket up. Conflict label when it was used before: `login_try.used`."""
        self.store.give_back(transaction, [limit])
        self.store.use_once(transaction, f"ticket/{ticket}", self.clock() + TICKET_LIFETIME)

    def succeeded(self, transaction: Transaction, admitted: AdmittedTry) -> None:
        """Give the try back, and remember the network, in the transaction of the login."""
        self.store.give_back(transaction, admitted.limits)
        if not admitted.known:
            self.store.remember(transaction, admitted.login.known_key, self.clock() + KNOWN_FOR)

    def _count(self, context: RequestContext, limit: LoginLimit, user_id: str | None, *, tried: str) -> LoginLimit:
        """The limit that counted the try: this one, or the one that follows it."""
        now = self.clock()
        while not self.store.count(limit, now):
            if limit.then is None:
                self._refuse(context, limit, user_id, tried)
            else:
                limit = limit.then
        return limit

    def _refuse(self, context: RequestContext, limit: LoginLimit, user_id: str | None, tried: str) -> NoReturn:
        self.audit.record_refusal(context, "session.login", user_id, reason="throttled", meaningful=False)
        raise RateLimited(
            f"Too many {tried} were tried.",
            retry_after_seconds=int(limit.wait(self.clock()).total_seconds()) + 1,
        )
