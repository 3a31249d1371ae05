"""Tokens of programs: they act as their owner, with a role that is never above the owner's."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from chalicelib.domain.access import ROLES, Role
from chalicelib.domain.accounts.user import User, UserStatus

MAX_TOKENS = 50
"""Of one user: they are deleted together with the user, in one transaction."""

KEPT_AFTER_END = timedelta(days=30)
"""How long a token that has ended is still listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiToken:
    """A token of a user's program. `token_hash` is its SHA-256, in hex; without `expires_at` it does not end."""

    id: str
    user_id: str
    name: str
    role: Role
    token_hash: str
    expires_at: datetime | None = None
    last_used_at: datetime | None = None
    version: int = 1
    revision: int = 1
    created_at: datetime
    updated_at: datetime

    def role_under(self, owner: User, now: datetime) -> Role | None:
        """The role that it has at this moment: the lower one of its own and its owner's. None: it is not valid."""
        ended = self.expires_at is not None and now >= self.expires_at
        if ended or self.user_id != owner.id or owner.status is not UserStatus.ACTIVE:
            return None
        return min(self.role, owner.role, key=ROLES.index)
