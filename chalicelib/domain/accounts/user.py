"""Users, the invites by which they join, and their sessions."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from chalicelib.domain.access import Role
from chalicelib.domain.credentials import Credentials
from chalicelib.kit.ids import id_from

IDLE = timedelta(minutes=30)
ABSOLUTE = timedelta(hours=8)
INVITED_FOR = timedelta(hours=72)
MAX_USER_AGENT = 200
"""Characters of a user agent that are kept."""


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
class SecondFactor:
    """An authenticator app. `credentials` hold the secret that it shares with us; each has an id of its own.

    It is asked for once it is confirmed. `recovery_hashes` are the SHA-256, in hex, of the codes that still can be used
    instead of the app, once each.
    """

    id: str
    credentials: Credentials
    confirmed_at: datetime | None = None
    recovery_hashes: Sequence[str] = ()


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
    second_factor: SecondFactor | None = None
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

    @property
    def has_second_factor(self) -> bool:
        """Whether a password alone does not sign in."""
        return self.second_factor is not None and self.second_factor.confirmed_at is not None

    def open_invite(self, now: datetime) -> Invite | None:
        open_ = self.status is UserStatus.INVITED and self.invite is not None and now < self.invite.expires_at
        return self.invite if open_ else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """The session of one browser. `id` is the SHA-256 of the token in its cookie.

    `via` is what proved who the user is: `password`, or `oidc` (single sign-on). `address` and `user_agent` are those
    of the login.
    """

    id: str
    user_id: str
    generation: int = 1
    via: str = "password"
    address: str = ""
    user_agent: str = ""
    created_at: datetime
    last_seen_at: datetime

    @property
    def public_id(self) -> str:
        """What the API calls it: a UUID that follows from the id, and from which the id does not follow."""
        return id_from("session", self.id)

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


def shown_user_agent(text: str) -> str:
    """A user agent as it is kept: what a client sends there is any text, so only what shows is kept of it, and cut."""
    return "".join(letter for letter in text if letter.isprintable())[:MAX_USER_AGENT]
