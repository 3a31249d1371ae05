"""Users and their sessions."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from chalicelib.domain.access import Role

IDLE = timedelta(minutes=30)
ABSOLUTE = timedelta(hours=8)


class UserStatus(StrEnum):
    """Only an active user can sign in."""

    ACTIVE = "ACTIVE"
    DISABLED = "DISABLED"
    INVITED = "INVITED"


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A user. `password_hash` is Argon2id in PHC form; None until an invite is accepted."""

    id: str
    email: str
    role: Role
    status: UserStatus = UserStatus.ACTIVE
    password_hash: str | None = None
    last_login_at: datetime | None = None
    version: int = 1
    revision: int = 1
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """The session of one browser. `id` is the SHA-256 of the token in its cookie."""

    id: str
    user_id: str
    created_at: datetime
    last_seen_at: datetime

    @property
    def ends_at(self) -> datetime:
        """When it ends even if it is used."""
        return self.created_at + ABSOLUTE

    def expires_at(self) -> datetime:
        """When it ends if it is not used again."""
        return min(self.ends_at, self.last_seen_at + IDLE)

    def valid(self, now: datetime) -> bool:
        return now < self.expires_at()
