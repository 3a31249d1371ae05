"""Users, the invites by which they join, and their sessions."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from chalicelib.domain.access import Role

IDLE = timedelta(minutes=30)
ABSOLUTE = timedelta(hours=8)
INVITED_FOR = timedelta(hours=72)


class UserStatus(StrEnum):
    """Only an active user can sign in. An invited one has no password yet."""

    ACTIVE = "ACTIVE"
    DISABLED = "DISABLED"
    INVITED = "INVITED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Invite:
    """The invite of a user who has not joined yet. `token_hash` is the SHA-256 of its token, in hex."""

    token_hash: str
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A user. `password_hash` is Argon2id in PHC form; None until an invite is accepted.

    `identity` names who signs in as this user through single sign-on (`sign_on.Person.identity`).
    A session belongs to the `session_generation` in which it began: raising the number ends all sessions for good. So
    does a token to its `token_generation`.
    """

    id: str
    email: str
    role: Role
    status: UserStatus = UserStatus.ACTIVE
    password_hash: str | None = None
    invite: Invite | None = None
    identity: str | None = None
    session_generation: int = 1
    token_generation: int = 1
    last_login_at: datetime | None = None
    version: int = 1
    revision: int = 1
    created_at: datetime
    updated_at: datetime

    @property
    def is_active_admin(self) -> bool:
        """Whether it is one of those of whom there must always be one."""
        return self.role is Role.ADMIN and self.status is UserStatus.ACTIVE

    def open_invite(self, now: datetime) -> Invite | None:
        open_ = self.status is UserStatus.INVITED and self.invite is not None and now < self.invite.expires_at
        return self.invite if open_ else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """The session of one browser. `id` is the SHA-256 of the token in its cookie."""

    id: str
    user_id: str
    generation: int = 1
    created_at: datetime
    last_seen_at: datetime

    @property
    def ends_at(self) -> datetime:
        """When it ends even if it is used."""
        return self.created_at + ABSOLUTE

    def expires_at(self) -> datetime:
        """When it ends if it is not used again."""
        return min(self.ends_at, self.last_seen_at + IDLE)

    def valid(self, user: User, now: datetime) -> bool:
        """Whether it is a session of this user, as the user is now."""
        of_user = self.user_id == user.id and self.generation == user.session_generation
        return of_user and user.status is UserStatus.ACTIVE and now < self.expires_at()
