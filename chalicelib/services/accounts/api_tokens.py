"""API tokens: how programs sign in. A token is shown once, to the user who makes it, and stored as its hash."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from chalicelib.domain.access import ROLES, Actor, Permission, RequestContext, Role, token_grants
from chalicelib.domain.accounts.api_token import LIFETIME, MAX_LIFETIME, MAX_TOKENS, ApiToken
from chalicelib.domain.audit.record import View
from chalicelib.errors import Conflict, Invalid, NotFound, NotPermitted, Unauthenticated, fault
from chalicelib.kit.clock import Clock, rfc3339
from chalicelib.kit.masking import Secret
from chalicelib.kit.pages import Page
from chalicelib.secrets.tokens import has_hash, ids_in, token_hash, token_with_ids
from chalicelib.services.audit.trail import AuditTrail
from chalicelib.stores.accounts.api_tokens import ApiTokens
from chalicelib.stores.transaction import Transaction

PREFIX = "hg_"
_TOUCH_EVERY = timedelta(minutes=5)
"""A token's last use is written at most this often."""


class NewToken(NamedTuple):
    """A token's record, and its text, which is shown once."""

    token: ApiToken
    text: Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiTokenService:
    """Tokens contain the ids of their record and of their owner, so that one call reads both."""

    store: ApiTokens
    audit: AuditTrail
    clock: Clock

    def create(
        self,
        context: RequestContext,
        name: str,
        role: Role,
        expires_at: datetime | None = None,
        permissions: Sequence[Permission] | None = None,
    ) -> NewToken:
        """A token of the caller, for `LIFETIME` unless `expires_at` says otherwise, with all that a token of this role
        may have unless `permissions` say what of it.

        Raises NotPermitted for a role above the caller's, and for callers that are programs; Invalid.

        A repeated request with the same `Idempotency-Key`, whose answer was lost, exchanges the token that was made.
        """
        actor, now = context.actor, self.clock()
        if actor.id is None or actor.role is None or actor.via != "session":
            raise NotPermitted("Tokens are made by people: sign in with a password.")
        if ROLES.index(role) > ROLES.index(actor.role):
            raise NotPermitted(f"A token cannot have a higher role than its owner: yours is {actor.role}.")
        ends_at = now + LIFETIME if expires_at is None else _possible_end(expires_at, now)
        limited_to = None if permissions is None else _granted(permissions, role)
        token_id = context.fresh_id()
        earlier, owner = self.store.find_with_owner(token_id, actor.id)
        text = token_with_ids(PREFIX, token_id, actor.id)
        token = ApiToken(
            id=token_id,
            user_id=actor.id,
            name=name,
            role=role,
            token_hash=token_hash(text.reveal()),
            expires_at=ends_at,
            limited_to=limited_to,
            generation=owner.token_generation if owner else 1,
            created_at=now,
            updated_at=now,
        )
        with Transaction() as transaction:
            if earlier:
                token = self.store.save(transaction, replace(earlier, token_hash=token.token_hash))
            else:
                self._require_room(actor.id)
                token = self.store.put_new(transaction, token)
            action = "api_token.exchange" if earlier else "api_token.create"
            self.audit.record(transaction, context, action, token.id, after=_view(token))
        return NewToken(token=token, text=text)

    def get(self, context: RequestContext, token_id: str) -> ApiToken:
        """Raises NotFound, also for a token of somebody else if the caller may not manage users; UnreadableRow."""
        actor = context.actor
        # Of a token that cannot be read nobody knows the owner.
        token = (self.store.find if _manages_users(actor) else self.store.find_readable)(token_id)
        if token is None or not (_manages_users(actor) or token.user_id == actor.id):
            raise NotFound("There is no token with this id.")
        return token

    def list(self, context: RequestContext, *, limit: int, after: str | None) -> Page[ApiToken]:
        """The caller's own tokens, newest first; those of everybody for who may manage users."""
        actor = context.actor
        if _manages_users(actor):
            return self.store.list(limit=limit, after=after, by_size=True)
        return self.store.list_in("user_id", actor.id or "", limit=limit, after=after)

    def delete(self, context: RequestContext, token_id: str) -> None:
        """End a token at once. Raises NotFound like `get`, NotPermitted for another program's token, VersionMismatch.

        A token that somebody else has found should not be able to stop all other programs of its owner.
        """
        token, actor = self.get(context, token_id), context.actor
        if actor.via == "token" and token.id != actor.credential_id:
            raise NotPermitted("A token can end itself. Others are ended by their owner or by an Admin, who sign in.")
        context.expect_version(token.version)
        with Transaction() as transaction:
            self.store.remove(transaction, token)
            self.audit.record(transaction, context, "api_token.delete", token.id, before=_view(token))

    def authenticate(self, text: str) -> Actor:
        """The owner, with the role that the token has at this moment. Raises Unauthenticated."""
        ids = ids_in(PREFIX, text, count=2)
        # An unknown, an ended and a wrong token are one answer, so that nobody learns which ids exist.
        token, owner = self.store.find_with_owner(*ids) if ids else (None, None)
        now = self.clock()
        role = token.role_under(owner, now) if token and owner else None
        if not token or not owner or role is None or not has_hash(text, [token.token_hash]):
            raise Unauthenticated(
                "This token is not valid. It may have ended, or been deleted, or its owner "
                "disabled. Sign in and make another one: POST /api/v1/auth/tokens."
            )
        if token.last_used_at is None or now - token.last_used_at >= _TOUCH_EVERY:
            self.store.touch(token, now)
        return Actor(
            id=owner.id,
            email=owner.email,
            role=role,
            via="token",
            credential_id=token.id,
            expires_at=token.expires_at,
            limited_to=None if token.limited_to is None else frozenset(token.limited_to),
        )

    def _require_room(self, user_id: str) -> None:
        page = self.store.list_in("user_id", user_id, limit=MAX_TOKENS, after=None)
        if len(page.items) + len(page.unreadable) >= MAX_TOKENS:
            raise Conflict(f"You have {MAX_TOKENS} tokens, and no more are possible. Delete one that is not used.")


def _manages_users(actor: Actor) -> bool:
    return actor.may(Permission.MANAGE_USERS)


def _possible_end(expires_at: datetime, now: datetime) -> datetime:
    if expires_at <= now:
        raise Invalid.at(
            "body",
            "expires_at",
            type_="in_the_past",
            message="expires_at has to be a time in the future: this token would have ended already.",
        )
    if expires_at > now + MAX_LIFETIME:
        message = f"A token ends at most {MAX_LIFETIME.days} days from now. Make a new one before it does."
        raise Invalid.at("body", "expires_at", type_="too_late", message=message)
    return expires_at


def _granted(permissions: Sequence[Permission], role: Role) -> tuple[Permission, ...]:
    """Each once, in their order. Raises Invalid, with the position of each that a token of the role cannot have."""
    granted = token_grants(role)
    if refused := [at for at, permission in enumerate(permissions) if permission not in granted]:
        possible = [permission.value for permission in Permission if permission in granted]
        message = f"A token with the role {role} can have these permissions: {', '.join(possible)}. None manages users."
        raise Invalid.of(
            [fault("body", "permissions", at, type_="not_granted", message=message, allowed=possible) for at in refused]
        )
    return tuple(permission for permission in Permission if permission in permissions)


def _view(token: ApiToken) -> View:
    return {
        "name": token.name,
        "role": token.role,
        "permissions": list(token.permissions),
        "user_id": token.user_id,
        "expires_at": rfc3339(token.expires_at),
    }
