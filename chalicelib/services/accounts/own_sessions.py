"""The sessions of the caller: where they are signed in, and how they end."""

from dataclasses import dataclass, replace

from chalicelib.domain.access import SIGN_IN, RequestContext
from chalicelib.domain.accounts.user import Session, User
from chalicelib.errors import NotFound, Unauthenticated, WriteConflict
from chalicelib.kit.clock import Clock
from chalicelib.kit.pages import Page
from chalicelib.kit.retry import at_once
from chalicelib.services.accounts.sessions import SessionService, person
from chalicelib.services.audit.trail import AuditTrail
from chalicelib.stores.accounts.group import AccountStores
from chalicelib.stores.transaction import Transaction

_ATTEMPTS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnSessions:
    """Nobody sees or ends sessions of others here. A token shows the sessions of its owner, and ends none: who has
    found it should not sign its owner out.
    """

    stores: AccountStores
    sessions: SessionService
    audit: AuditTrail
    clock: Clock

    def list(self, context: RequestContext, *, limit: int, after: str | None) -> Page[Session]:
        """The valid sessions of the caller, newest first."""
        return self.stores.sessions.list_of(self._user(context), self.clock(), limit=limit, after=after)

    def end(self, context: RequestContext, public_id: str) -> None:
        """End one session, which may be the present one. Raises NotFound, also for one of somebody else; NotPermitted
        for a token.
        """
        person(context)
        user = self._user(context)
        found = (entry for entry in self.stores.sessions.all_of(user, self.clock()) if entry.public_id == public_id)
        if (session := next(found, None)) is None:
            raise NotFound("There is no session of yours with this id. It may have ended.")
        with Transaction() as transaction:
            self.stores.sessions.delete(transaction, session.id)
            self.audit.record(transaction, context, "session.end", user.id, before=_view(session), meaningful=False)

    def end_others(self, context: RequestContext) -> None:
        """End all sessions but the present one, at once and for good. Raises NotPermitted for a token, Unauthenticated
        when the present one has ended, WriteConflict.
        """

        def end(_attempt: int) -> None:
            present = self.sessions.of(context)
            with Transaction() as transaction:
                self.end_others_in(transaction, context, present.user, present.user)
                self.audit.record(transaction, context, "session.end_others", present.user.id, meaningful=False)

        at_once(_ATTEMPTS).run(end, on=WriteConflict)

    def end_others_in(self, transaction: Transaction, context: RequestContext, before: User, after: User) -> User:
        """Store the next version of a user, in which no session is valid but the present one. Returns it."""
        now, generation = self.clock(), before.session_generation + 1
        changed = replace(after, session_generation=generation, version=before.version + 1, updated_at=now)
        self.stores.sessions.keep(transaction, context.actor.credential_id or "", generation)
        return self.stores.users.change(transaction, before, changed)

    def _user(self, context: RequestContext) -> User:
        user = self.stores.users.find(context.actor.id or "")
        if user is None:
            raise Unauthenticated(SIGN_IN)
        return user


def _view(session: Session) -> dict[str, str]:
    return {"id": session.public_id, "address": session.address, "user_agent": session.user_agent}
