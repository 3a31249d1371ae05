"""Limits how often passwords are tried. The rules are in `domain.accounts.login_limits`."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from chalicelib.domain.access import RequestContext
from chalicelib.domain.accounts.login_limits import KNOWN_FOR, LoginLimit, LoginTry, sign_on_limit, window_end
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
        limits, end = login.limits(now, known=known), window_end(now)
        # Counted now and given back later: of many tries at the same time none may pass uncounted.
        for limit in limits:
            self._count(context, limit, end, user_id, tried="passwords")
        return AdmittedTry(login=login, known=known, limits=limits)

    def admit_sign_on(self, context: RequestContext) -> LoginLimit:
        """Count a return from the provider of single sign-on, before it is asked. Raises RateLimited, audited."""
        now = self.clock()
        limit = sign_on_limit(context.source_address, now)
        self._count(context, limit, window_end(now), None, tried="sign-ins")
        return limit

    def sign_on_succeeded(self, transaction: Transaction, limit: LoginLimit, ticket: str) -> None:
        """Give it back, and use the ticket up. Conflict label when it was used before: `login_try.used`."""
        now = self.clock()
        self.store.give_back(transaction, [limit], window_end(now))
        self.store.use_once(transaction, f"ticket/{ticket}", now + TICKET_LIFETIME)

    def succeeded(self, transaction: Transaction, admitted: AdmittedTry) -> None:
        """Give the try back, and remember the network, in the transaction of the login."""
        now = self.clock()
        self.store.give_back(transaction, admitted.limits, window_end(now))
        if not admitted.known:
            self.store.remember(transaction, admitted.login.known_key, now + KNOWN_FOR)

    def _count(
        self, context: RequestContext, limit: LoginLimit, end: datetime, user_id: str | None, *, tried: str
    ) -> None:
        if self.store.count(limit, end):
            return
        self.audit.record_refusal(context, "session.login", user_id, reason="throttled", meaningful=False)
        raise RateLimited(
            f"Too many {tried} were tried. Wait as long as Retry-After says, then try again.",
            retry_after_seconds=int((end - self.clock()).total_seconds()) + 1,
        )
