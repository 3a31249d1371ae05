"""Tokens of programs: they act as their owner, with a role that is never above the owner's."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from chalicelib.domain.access import ROLES, Permission, Role, token_grants
from chalicelib.domain.accounts.user import User, UserStatus

MAX_TOKENS = 50
"""Of one user: they are deleted together with the user, in one transaction."""

LIFETIME = timedelta(days=90)
"""Of a token that was made without an end."""

MAX_LIFETIME = timedelta(days=365)

KEPT_AFTER_END = timedelta(days=30)
"""How long a token that has ended is still listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiToken:
    """A token of a user's program. `token_hash` is its SHA-256, in hex.

    `limited_to` are the only permissions of its role that it has; None: all that a token may have. It belongs to the
    owner's `token_generation` in which it was made: raising that number ends all tokens for good.
    """

    id: str
    user_id: str
    name: str
    role: Role
    token_hash: str
    expires_at: datetime
    limited_to: tuple[Permission, ...] | None = None
    generation: int = 1
    last_used_at: datetime | None = None
    version: int = 1
    revision: int = 1
    created_at: datetime
    updated_at: datetime

    def role_under(self, owner: User, now: datetime) -> Role | None:
        """The role that it has at this moment: the lower one of its own and its owner's. None: it is not valid."""
        ended = now >= self.expires_at or self.generation != owner.token_generation
        if ended or self.user_id != owner.id or owner.status is not UserStatus.ACTIVE:
            return None
        return min(self.role, owner.role, key=ROLES.index)

    @property
    def permissions(self) -> tuple[Permission, ...]:
        """What it may do as long as its owner's role is not below its own."""
        granted = token_grants(self.role)
        return tuple(one for one in Permission if one in granted and one in (self.limited_to or granted))
