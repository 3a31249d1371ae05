"""Invites: how new users join. A token is shown once, to the Admin who invites, and stored as its hash."""

from dataclasses import dataclass, replace
from typing import NamedTuple

from chalicelib.domain.access import RequestContext, Role
from chalicelib.domain.accounts.sign_in_rules import SignInRules
from chalicelib.domain.accounts.user import INVITED_FOR, Invite, User, UserStatus
from chalicelib.errors import Conflict, NotFound, WriteConflict
from chalicelib.kit.clock import Clock
from chalicelib.kit.masking import Secret
from chalicelib.kit.retry import at_once
from chalicelib.secrets.passwords import hash_password
from chalicelib.secrets.tokens import has_hash, ids_in, token_hash, token_with_ids
from chalicelib.services.accounts.users import change_user, require_strong, user_view
from chalicelib.services.audit.trail import AuditTrail
from chalicelib.stores.accounts.users import Users
from chalicelib.stores.transaction import Transaction

_ATTEMPTS = 4


class Invitation(NamedTuple):
    """An invited user; `token` is shown once."""

    user: User
    invite: Invite
    token: Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class InviteService:
    """Invites are part of their user: a user has one at most, and a new one replaces it."""

    store: Users
    rules: SignInRules
    audit: AuditTrail
    clock: Clock

    def invite(self, context: RequestContext, email: str, role: Role) -> Invitation:
        """Invite somebody; somebody who was invited and has not joined is invited again, and the old token ends.

        Raises Conflict NAME_CONFLICT when the address belongs to somebody who has joined.
        """
        known = self.store.by_email(email)
        if known and known.status is not UserStatus.INVITED:
            raise Conflict("There is a user with this e-mail address.", code="NAME_CONFLICT")
        now = self.clock()
        user = known or User(id=context.fresh_id(), email=email, role=role, created_at=now, updated_at=now)
        token = token_with_ids("", user.id)
        invite = Invite(token_hash=token_hash(token.reveal()), expires_at=now + INVITED_FOR)
        after = replace(user, role=role, status=UserStatus.INVITED, invite=invite, updated_at=now)
        before = user_view(known) if known else None
        try:
            with Transaction() as transaction:
                if known:
                    after = self.store.change(transaction, known, replace(after, version=known.version + 1))
                else:
                    after = self.store.put_new(transaction, after)
                self.audit.record(transaction, context, "user.invite", user.id, before=before, after=user_view(after))
        except WriteConflict as conflict:
            if conflict.label != "user.email":
                raise
            raise Conflict("There is a user with this e-mail address.", code="NAME_CONFLICT") from None
        return Invitation(user=after, invite=invite, token=token)

    def find(self, token: str) -> Invitation:
        """The user whom this token invites. Raises the same NotFound for a wrong, a used and an expired one."""
        ids = ids_in("", token, count=1)
        user = self.store.find_readable(ids[0]) if ids else None
        invite = user.open_invite(self.clock()) if user else None
        if user is None or invite is None or not has_hash(token, [invite.token_hash]):
            raise NotFound(
                "There is no such invite. It may have been used, or it has expired. Ask an Admin for a new one."
            )
        return Invitation(user=user, invite=invite, token=Secret(token))

    def accept(self, context: RequestContext, token: str, password: Secret) -> User:
        """Set the password: the user can sign in. Raises NotFound like `find`, Invalid for a common password, Conflict
        where passwords are off, WriteConflict.
        """
        user = self.find(token).user
        if not self.rules.takes_password(user.email):
            raise Conflict("Passwords are off here. Join by single sign-on: /api/v1/auth/oidc/login")
        require_strong(password, user.email, field="password")
        password_hash = hash_password(password)

        def join(attempt: int) -> User:
            # After a conflict it was accepted or taken back at the same moment, or has another role.
            invited = self.find(token).user if attempt else user
            joined = replace(
                invited, status=UserStatus.ACTIVE, invite=None, password_hash=password_hash, updated_at=self.clock()
            )
            return change_user(self.store, self.audit, context, "user.accept_invite", invited, joined)

        return at_once(_ATTEMPTS).run(join, on=WriteConflict)
