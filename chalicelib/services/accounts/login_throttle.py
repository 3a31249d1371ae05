"""Limits how often passwords are tried. The rules are in `domain.accounts.login_limits`."""

from collections.abc import Sequence
from dataclasses import dataclass

from chalicelib.domain.access import RequestContext
from chalicelib.domain.accounts.login_limits import KNOWN_FOR, LoginLimit, LoginTry, window_end
from chalicelib.errors import RateLimited
from chalicelib.kit.clock import Clock
from chalicelib.services.audit import AuditTrail
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
        for limit in limits:
            if not self.store.count(limit, end):
                self.audit.record_refusal(context, "session.login", user_id, reason="throttled")
                raise RateLimited(
                    "Too many passwords were tried. Wait as long as Retry-After says, then try again.",
                    retry_after_seconds=int((end - now).total_seconds()) + 1,
                )
        return AdmittedTry(login=login, known=known, limits=limits)

    def succeeded(self, transaction: Transaction, admitted: AdmittedTry) -> None:
        """Give the try back, and remember the network, in the transaction of the login."""
        now = self.clock()
        self.store.give_back(transaction, admitted.limits, window_end(now))
        if not admitted.known:
            self.store.remember(transaction, admitted.login.known_key, now + KNOWN_FOR)
