"""Users and invites (wire contract, section 2)."""

from typing import Literal, Self

from pydantic import AliasPath, Field

from chalicelib.api.contract.access import Email, NewPassword
from chalicelib.api.contract.common import Input, Output, Timestamp
from chalicelib.domain.access import Role
from chalicelib.domain.accounts.user import UserStatus
from chalicelib.domain.console_links import invite_link
from chalicelib.services.accounts.invites import Invitation


class UserOutput(Output):
    """A user. One who is `INVITED` has not joined yet."""

    id: str
    email: str
    role: Role
    status: UserStatus
    created_at: Timestamp
    last_login_at: Timestamp | None


class RoleBody(Input):
    """The role that a user gets."""

    role: Role


class InviteBody(Input):
    """Who is invited."""

    email: Email
    role: Role


class InvitedOutput(Output):
    """A new invite. Its token, also a part of its URL, is shown here and never again."""

    id: str
    email: str
    role: Role
    expires_at: Timestamp
    invite_url: str = Field(repr=False)
    token: str = Field(repr=False)

    @classmethod
    def under(cls, base_url: str, invited: Invitation) -> Self:
        """The invite with its URL under this base."""
        token = invited.token.reveal()
        url = invite_link(base_url, token)
        return cls._read(invited.user, expires_at=invited.invite.expires_at, invite_url=url, token=token)


class InviteOutput(Output):
    """An invite that can be accepted."""

    email: str = Field(validation_alias=AliasPath("user", "email"))
    role: Role = Field(validation_alias=AliasPath("user", "role"))
    valid: Literal[True] = True
    expires_at: Timestamp = Field(validation_alias=AliasPath("invite", "expires_at"))


class AcceptBody(Input):
    """The password of the new user."""

    password: NewPassword


class AcceptedOutput(Output):
    """The user who has joined, and can sign in now."""

    user: UserOutput
